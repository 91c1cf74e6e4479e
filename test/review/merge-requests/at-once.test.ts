import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function stage() {
  const bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('work', { 'work.txt': 'w\n' })
  return { bench, at: `/projects/${bench.project.id}`, one: `${bench.api}/1` }
}

const statuses = (replies: readonly { status: number }[]) =>
  replies.map((reply) => reply.status).sort()
const bodiesOf = (notes: readonly { body: string }[]) => notes.map((note) => note.body)

describe('at once', () => {
  test('the same merge request is opened once, and the other answers name it', async () => {
    const { bench } = await stage()
    const body = { source_branch: 'work', target_branch: 'main', title: 'x' }
    const replies = await Promise.all([1, 2, 3, 4].map(() => ana.post(bench.api, body)))
    expect(statuses(replies)).toEqual([201, 409, 409, 409])
    for (const reply of replies.filter(({ status }) => status === 409)) {
      expect(reply.body).toEqual({
        message: ['Another open merge request already exists for this source branch: !1'],
      })
    }
    expect((await ana.get(bench.api)).body).toHaveLength(1)
  })

  test('many are opened with numbers of their own, without a gap', async () => {
    const { bench } = await stage()
    const branches = ['a', 'b', 'c', 'd', 'e']
    for (const branch of branches) bench.commit(branch, { [branch]: 'x\n' })
    const replies = await Promise.all(
      branches.map((source_branch) =>
        ana.post(bench.api, { source_branch, target_branch: 'main', title: source_branch }),
      ),
    )
    expect(replies.map((reply) => reply.body.iid).sort()).toEqual([1, 2, 3, 4, 5])
  })

  test('it is closed once, with one note', async () => {
    const { bench, one } = await stage()
    await bench.open('work')
    const close = { state_event: 'close' }
    const replies = await Promise.all([ana, ben, ana].map((who) => who.put(one, close)))
    expect(statuses(replies)).toEqual([200, 200, 200])
    expect(bodiesOf((await ana.get(`${one}/notes`)).body)).toEqual(['closed'])
  })

  test('every label that is added stays', async () => {
    const { bench, one } = await stage()
    await bench.open('work')
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => ana.put(one, { add_labels: name })))
    expect((await ana.get(one)).body.labels).toEqual(names)
  })

  test('comments all find their place in a thread', async () => {
    const { bench, one } = await stage()
    await bench.open('work')
    await ana.post(`${one}/notes`, { body: 'single' })
    const [{ id }] = (await ana.get(`${one}/discussions`)).body
    const replies = await Promise.all(
      [1, 2, 3, 4].map((n) => ben.post(`${one}/discussions/${id}/notes`, { body: `${n}` })),
    )
    expect(statuses(replies)).toEqual([201, 201, 201, 201])
    const { body: thread } = await ana.get(`${one}/discussions/${id}`)
    expect(thread.individual_note).toBe(false)
    expect(bodiesOf(thread.notes).sort()).toEqual(['1', '2', '3', '4', 'single'])
    expect(thread.notes.every((note: { type: string }) => note.type === 'DiscussionNote')).toBe(
      true,
    )
  })

  test('rules that are added to one merge request all stay, beside one copy of the project’s', async () => {
    const { bench, at, one } = await stage()
    await ana.post(`${at}/approval_rules`, { name: 'General', approvals_required: 1 })
    await bench.open('work')
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        ana.post(`${one}/approval_rules`, { name, approvals_required: 0 }),
      ),
    )
    expect(statuses(replies)).toEqual([201, 201, 201])
    const { body: rules } = await ana.get(`${one}/approval_rules`)
    expect(rules.map((rule: { name: string }) => rule.name).sort()).toEqual([
      'General',
      'a',
      'b',
      'c',
    ])
  })

  test('a push and an approval leave no approval of what nobody saw', async () => {
    const { bench, at, one } = await stage()
    const { body } = await bench.open('work')
    const file = { branch: 'work', commit_message: 'x', content: 'x' }
    const [approved] = await Promise.all([
      ben.post(`${one}/approve`, { sha: body.sha }),
      ana.post(`${at}/repository/files/more.txt`, file),
    ])
    expect([201, 409]).toContain(approved.status)
    await bench.read(1)
    expect((await ana.get(`${one}/approvals`)).body.approved_by).toEqual([])
  })
})

describe('what is asked for twice', () => {
  test('changes nothing and is not noted again', async () => {
    const { bench, one } = await stage()
    await bench.open('work')
    const { body: before } = await ana.put(one, { title: 'Same', description: 'words' })
    const count = async () => (await ana.get(`${one}/notes`)).body.length
    const notes = await count()
    const again = await ana.put(one, { title: 'Same', description: 'words', add_labels: '' })
    expect([again.status, again.body.title]).toEqual([200, before.title])
    await ana.put(one, { assignee_id: ben.id, reviewer_ids: [ben.id] })
    const people = await count()
    await ana.put(one, { assignee_id: ben.id, reviewer_ids: [ben.id] })
    expect([await count(), people]).toEqual([people, notes + 2])
    expect((await ana.put(one, { state_event: 'reopen' })).body.state).toBe('opened')
    expect(await count()).toBe(people)
  })

  test('leaves everything that it does not name', async () => {
    const { bench, at, one } = await stage()
    const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'Next' })
    await bench.open('work', {
      description: 'words',
      labels: 'a',
      milestone_id: milestone.id,
      assignee_id: ben.id,
      reviewer_ids: [ben.id],
      squash: true,
      remove_source_branch: true,
      merge_after: '2026-06-01T00:00:00Z',
    })
    const { body: before } = await ana.get(one)
    world.setNow('2026-05-04T11:00:00.000Z')
    const { body: after } = await ana.put(one, { title: 'Other' })
    world.setNow('2026-05-04T10:00:00.000Z')
    expect(after).toEqual({
      ...before,
      title: 'Other',
      updated_at: '2026-05-04T11:00:00.000Z',
    })
  })

  test('takes people away by 0, null or nothing', async () => {
    const { bench, one } = await stage()
    await bench.open('work')
    const set = { assignee_id: ben.id, reviewer_ids: [ben.id] }
    for (const clear of [
      { assignee_id: 0, reviewer_ids: [0] },
      { assignee_id: null, reviewer_ids: '' },
      { assignee_ids: [0], reviewer_ids: [] },
      { assignee_ids: '', reviewer_ids: 0 },
    ]) {
      await ana.put(one, set)
      const { status, body } = await ana.put(one, clear)
      expect([clear, status]).toEqual([clear, 200])
      expect(body).toMatchObject({ assignee: null, assignees: [], reviewers: [] })
    }
  })
})
