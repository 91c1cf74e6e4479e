import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const guest = useCaller(world, 'guest')

async function stage() {
  const bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  await addMember(world, bench.project.id, guest.id, 10)
  const api = `/projects/${bench.project.id}`
  for (const name of ['bug', 'needs work', 'done']) {
    await ana.post(`${api}/labels`, { name, color: '#123456' })
  }
  await ana.post(`${api}/milestones`, { title: 'First one' })
  return { bench, api }
}

async function issueOf(api: string, more: object = {}) {
  const { body } = await ana.post(`${api}/issues`, { title: 'Broken', ...more })
  const at = `${api}/issues/${body.iid}`
  return { at, say: (text: string, caller = ana) => caller.post(`${at}/notes`, { body: text }) }
}

describe('quick actions on issues', () => {
  test('sort, plan and assign, all in one note that keeps its text', async () => {
    const { api } = await stage()
    const { at, say } = await issueOf(api)
    const reply = await say(
      'So be it\n/label ~bug ~"needs work" ~unheard\n/assign @ben me\n/milestone %"First one"\n/due 2026-06-01\n/weight 3\n/title Really broken',
    )
    expect([reply.status, reply.body.body]).toEqual([201, 'So be it'])
    expect(reply.body.commands_changes).toMatchObject({
      due_date: '2026-06-01',
      weight: 3,
      title: 'Really broken',
    })
    expect(reply.body.commands_changes.add_label_ids).toHaveLength(2)
    const { body } = await ana.get(at)
    expect(body).toMatchObject({
      title: 'Really broken',
      labels: ['bug', 'needs work'],
      due_date: '2026-06-01',
      weight: 3,
    })
    expect(body.milestone.title).toBe('First one')
    expect(body.assignees.map((user: { username: string }) => user.username).sort()).toEqual([
      'ana',
      'ben',
    ])
    await say('/unassign @ben\n/relabel ~done\n/remove_milestone\n/remove_due_date\n/clear_weight')
    expect((await ana.get(at)).body).toMatchObject({
      labels: ['done'],
      due_date: null,
      weight: null,
      milestone: null,
    })
    expect((await ana.get(at)).body.assignees).toHaveLength(1)
  })

  test('alone make no note: 202 says what they did, 400 that they did nothing', async () => {
    const { api } = await stage()
    const { at, say } = await issueOf(api)
    const before = (await ana.get(`${at}/notes?activity_filter=only_comments`)).body.length
    const closed = await say('/close\n/label ~bug')
    expect([closed.status, closed.body.summary]).toEqual([
      202,
      ['Closed this issue. Added ~bug label.'],
    ])
    expect(closed.body.commands_changes).toMatchObject({ state_event: 'close' })
    const again = await say('/close')
    expect([again.status, again.body.message]).toEqual([
      400,
      '400 Bad request - Failed to apply commands.',
    ])
    expect((await say('/reopen')).status).toBe(202)
    expect((await ana.get(at)).body.state).toBe('opened')
    const { body } = await ana.get(`${at}/notes?activity_filter=only_comments`)
    expect(body).toHaveLength(before)
  })

  test('count time, follow, remember, react, hide and lock', async () => {
    const { api } = await stage()
    const { at, say } = await issueOf(api)
    await say('/estimate 1d\n/spend 3h 2026-05-01\n/todo\n/unsubscribe\n/award :rocket:\n/lock')
    await say('/confidential\n/spend -1h\n/todo')
    const { body } = await ana.get(at)
    expect(body).toMatchObject({ confidential: true, discussion_locked: true, subscribed: false })
    expect(body.time_stats).toMatchObject({
      human_time_estimate: '1d',
      human_total_time_spent: '2h',
    })
    expect((await ana.get(`${at}/award_emoji`)).body[0].name).toBe('rocket')
    for (const day of ['2026-02-30', '2025-13-01', '2999-01-01']) {
      expect([day, (await say(`/spend 1h ${day}`)).status]).toEqual([day, 400])
    }
    const todos = async () =>
      (await ana.get('/todos')).body.filter(
        (one: { action_name: string }) => one.action_name === 'marked',
      ).length
    expect(await todos()).toBe(1)
    await say('/done\n/unlock\n/react rocket\n/remove_estimate\n/remove_time_spent')
    expect(await todos()).toBe(0)
    expect((await ana.get(at)).body).toMatchObject({ discussion_locked: false })
    expect((await ana.get(`${at}/award_emoji`)).body).toEqual([])
  })

  test('relate, move and mark duplicates', async () => {
    const { api } = await stage()
    const other = await stage()
    const first = await issueOf(api)
    const second = await issueOf(api)
    const path = (await ana.get(other.api)).body.path_with_namespace
    expect((await first.say('/relate #2')).status).toBe(202)
    expect((await ana.get(`${first.at}/links`)).body[0].iid).toBe(2)
    const done = await second.say('/duplicate #1')
    expect(done.body.summary[0]).toContain('duplicate of, #1')
    expect((await ana.get(second.at)).body).toMatchObject({ state: 'closed' })
    expect((await first.say(`/move ${path}`)).status).toBe(202)
    expect((await ana.get(`${other.api}/issues/1`)).body.title).toBe('Broken')
    expect((await ana.get(first.at)).body.moved_to_id).toBeGreaterThan(0)
  })

  test('do nothing for whoever may not', async () => {
    const { api } = await stage()
    const { at, say } = await issueOf(api)
    expect((await say('/close\n/label ~bug\n/assign me', guest)).status).toBe(400)
    const mixed = await say('Please\n/close', guest)
    expect([mixed.status, mixed.body.body, mixed.body.commands_changes]).toEqual([
      201,
      'Please',
      {},
    ])
    expect((await ana.get(at)).body).toMatchObject({ state: 'opened', labels: [] })
    const stranger = await world.user('stranger')
    expect((await say('/todo', stranger)).status).toBe(404)
  })

  test('work in descriptions, and in notes that are changed', async () => {
    const { api } = await stage()
    const { at, say } = await issueOf(api, { description: 'It is.\n/label ~bug\n/weight 5' })
    expect((await ana.get(at)).body).toMatchObject({
      description: 'It is.',
      labels: ['bug'],
      weight: 5,
    })
    await ana.put(at, { description: 'It was.\n/unlabel ~bug' })
    expect((await ana.get(at)).body).toMatchObject({ description: 'It was.', labels: [] })
    const { body } = await say('Hm')
    const changed = await ana.put(`${at}/notes/${body.id}`, { body: 'Hm!\n/close' })
    expect([changed.body.body, (await ana.get(at)).body.state]).toEqual(['Hm!', 'closed'])
    expect((await ana.put(`${at}/notes/${body.id}`, { body: '/reopen' })).status).toBe(202)
    expect((await ana.get(`${at}/notes/${body.id}`)).status).toBe(404)
  })
})

describe('quick actions on merge requests', () => {
  test('draft, retarget, ask for reviews and approve', async () => {
    const { bench } = await stage()
    bench.commit('topic', { 'a.txt': 'a\n' })
    bench.commit('next', { 'b.txt': 'b\n' })
    const { body: made } = await bench.open('topic', {
      description: 'Take it\n/assign_reviewer @ben\n/label ~bug',
    })
    expect(made).toMatchObject({ description: 'Take it', labels: ['bug'] })
    expect(made.reviewers[0].username).toBe('ben')
    const at = `${bench.api}/1`
    const say = (text: string, caller = ana) => caller.post(`${at}/notes`, { body: text })
    expect((await say('/draft\n/target_branch next')).status).toBe(202)
    expect((await ana.get(at)).body).toMatchObject({
      title: 'Draft: Take topic',
      draft: true,
      target_branch: 'next',
    })
    expect((await say('/ready\n/target_branch nowhere')).body.summary).toEqual([
      'Marked this merge request as ready.',
    ])
    expect((await say('/approve', ben)).status).toBe(202)
    expect((await ana.get(`${at}/approvals`)).body.approved_by[0].user.username).toBe('ben')
    expect((await say('/approve', ben)).status).toBe(400)
    expect((await say('/unapprove\n/request_changes', ben)).status).toBe(202)
    expect((await ana.get(`${at}/reviewers`)).body[0].state).toBe('requested_changes')
  })

  test('merge only the head that the caller saw', async () => {
    const { bench } = await stage()
    const head = bench.commit('topic', { 'a.txt': 'a\n' })
    await bench.open('topic')
    const at = `${bench.api}/1`
    const say = (more: object) => ana.post(`${at}/notes`, { body: '/merge', ...more })
    expect((await say({})).status).toBe(400)
    expect((await say({ merge_request_diff_head_sha: '0'.repeat(40) })).status).toBe(400)
    const done = await say({ merge_request_diff_head_sha: head })
    expect([done.status, done.body.summary]).toEqual([202, ['Merged this merge request.']])
    expect((await ana.get(at)).body.state).toBe('merged')
  })

  test('work in reviews that are published', async () => {
    const { bench } = await stage()
    bench.commit('topic', { 'a.txt': 'a\n' })
    await bench.open('topic')
    const at = `${bench.api}/1`
    await ana.post(`${at}/draft_notes`, { note: 'Good\n/label ~bug' })
    await ana.post(`${at}/draft_notes`, { note: '/draft' })
    expect((await ana.post(`${at}/draft_notes/bulk_publish`)).status).toBe(204)
    expect((await ana.get(at)).body).toMatchObject({ labels: ['bug'], draft: true })
    const { body } = await ana.get(`${at}/notes?activity_filter=only_comments`)
    expect(body.map((note: { body: string }) => note.body)).toEqual(['Good'])
    expect((await ana.get(`${at}/draft_notes`)).body).toEqual([])
  })

  test('rebase the source branch', async () => {
    const { bench } = await stage()
    bench.commit('topic', { 'a.txt': 'a\n' })
    bench.commit('main', { 'b.txt': 'b\n' })
    await bench.open('topic')
    const done = await ana.post(`${bench.api}/1/notes`, { body: '/rebase' })
    expect(done.body.summary).toEqual(['Scheduled a rebase of branch topic.'])
    await world.runTasks()
    const { body } = await ana.get(`${bench.api}/1?include_diverged_commits_count=true`)
    expect([body.diverged_commits_count, body.merge_error]).toEqual([0, null])
  })
})

test('a comment on a commit tags it', async () => {
  const { bench, api } = await stage()
  const head = bench.commit('topic', { 'a.txt': 'a\n' })
  const at = `${api}/repository/commits/${head}/discussions`
  const done = await ana.post(at, { body: '/tag v1.0 The first' })
  expect([done.status, done.body.summary]).toEqual([
    202,
    ['Tagged this commit to v1.0 with "The first".'],
  ])
  expect((await ana.get(`${api}/repository/tags/v1.0`)).body.commit.id).toBe(head)
  expect((await ana.post(at, { body: '/tag v1.0' })).status).toBe(400)
  expect((await guest.post(at, { body: '/tag v2' })).status).not.toBe(202)
})
