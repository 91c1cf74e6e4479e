import { describe, expect, test } from 'vitest'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function stage(settings: Readonly<Record<string, unknown>> = {}) {
  const bench = await openBench(world, ana, settings)
  await addMember(world, bench.project.id, ben.id, 30)
  return { bench, at: `/projects/${bench.project.id}` }
}

/** Opens a merge request from a new branch. */
async function open(bench: Bench, branch: string, more: object = {}, who = ana) {
  bench.commit(branch, { [`${branch}.txt`]: `${branch}\n` })
  const reply = await bench.open(branch, { ...more }, who)
  expect(reply.status).toBe(200)
  return reply.body
}

const iidsOf = (body: readonly { iid: number }[]) => body.map((one) => one.iid)

async function notes(path: string): Promise<string[]> {
  const { body } = await ana.get(`${path}/notes?sort=asc&per_page=100`)
  return body.map((note: { body: string }) => note.body)
}

describe('a merge request', () => {
  test('takes everything that creation may say', async () => {
    const { bench, at } = await stage()
    const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'Next' })
    const made = await open(bench, 'full', {
      title: ' Draft: all of it ',
      description: '- [x] one\n- [ ] two',
      labels: 'a,b',
      milestone_id: milestone.id,
      assignee_ids: [ben.id],
      reviewer_ids: [ben.id, 123_456],
      remove_source_branch: true,
      squash: true,
      merge_after: '2026-06-01T00:00:00Z',
    })
    expect(made).toMatchObject({
      title: 'Draft: all of it',
      draft: true,
      work_in_progress: true,
      state: 'opened',
      labels: ['a', 'b'],
      milestone: { title: 'Next' },
      assignee: { username: 'ben' },
      assignees: [{ username: 'ben' }],
      reviewers: [{ username: 'ben' }],
      force_remove_source_branch: true,
      should_remove_source_branch: null,
      squash: true,
      squash_on_merge: true,
      merge_after: '2026-06-01T00:00:00.000Z',
      detailed_merge_status: 'merge_time',
      task_completion_status: { count: 2, completed_count: 1 },
      source_branch: 'full',
      target_branch: 'main',
      project_id: bench.project.id,
      source_project_id: bench.project.id,
      changes_count: '1',
      user: { can_merge: true },
      merged_by: null,
      merge_user: null,
      references: { short: '!1', relative: '!1', full: `${bench.project.fullPath}!1` },
    })
    const html = await ana.get(`${bench.api}/1?render_html=true`)
    expect(html.body.title_html).toBe('Draft: all of it')
    expect(html.body.description_html).toContain('checkbox')
  })

  test('changes what an update names, with a note of each', async () => {
    const { bench, at } = await stage()
    const { iid } = await open(bench, 'topic')
    bench.commit('other', { 'o.txt': 'o' })
    const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'Next' })
    const one = `${bench.api}/${iid}`
    const wanted: [object, object][] = [
      [{ title: 'New' }, { title: 'New' }],
      [{ description: 'words' }, { description: 'words' }],
      [{ labels: 'a,b' }, { labels: ['a', 'b'] }],
      [{ add_labels: 'c', remove_labels: 'a' }, { labels: ['b', 'c'] }],
      [{ labels: '' }, { labels: [] }],
      [{ milestone_id: milestone.id }, { milestone: { title: 'Next' } }],
      [{ milestone_id: 0 }, { milestone: null }],
      [{ assignee_id: ben.id }, { assignees: [{ username: 'ben' }] }],
      [{ assignee_ids: [] }, { assignees: [] }],
      [{ reviewer_ids: [ben.id] }, { reviewers: [{ username: 'ben' }] }],
      [{ reviewer_ids: [] }, { reviewers: [] }],
      [{ target_branch: 'other' }, { target_branch: 'other' }],
      [{ remove_source_branch: true }, { force_remove_source_branch: true }],
      [{ squash: true }, { squash: true, squash_on_merge: true }],
      [{ discussion_locked: false }, { discussion_locked: false }],
      [{ discussion_locked: true }, { discussion_locked: true }],
      [{ merge_after: '2026-06-01T00:00:00Z' }, { merge_after: '2026-06-01T00:00:00.000Z' }],
      [{ merge_after: null }, { merge_after: null }],
      [{ description: null }, { description: null }],
      [{ state_event: 'close' }, { state: 'closed', closed_by: { username: 'ana' } }],
      [{ state_event: 'reopen' }, { state: 'opened', closed_by: null, closed_at: null }],
    ]
    for (const [change, result] of wanted) {
      const reply = await ana.put(one, change)
      expect([change, reply.status]).toEqual([change, 200])
      expect(reply.body).toMatchObject(result)
      expect((await ana.get(one)).body).toMatchObject(result)
    }
    expect(await notes(one)).toEqual([
      'changed title from **{-Take topic-}** to **{+New+}**',
      'changed the description',
      'assigned to @ben',
      'unassigned @ben',
      'requested review from @ben',
      'removed review request for @ben',
      'changed target branch from `main` to `other`',
      'locked this merge request',
      'changed the description',
      'closed',
      'reopened',
    ])
  })

  test('is not changed by what does not fit', async () => {
    const { bench } = await stage()
    const { iid } = await open(bench, 'firm')
    const one = `${bench.api}/${iid}`
    const before = (await ana.get(one)).body
    const refusals: [object, number, object][] = [
      [{ title: ' ' }, 400, { message: ["Title can't be blank"] }],
      [
        { title: 'x'.repeat(256) },
        400,
        { message: ['Title is too long (maximum is 255 characters)'] },
      ],
      [{ state_event: 'merge' }, 400, { error: 'state_event does not have a valid value' }],
      [{ target_branch: 'nowhere' }, 400, { message: ['target_branch "nowhere" does not exist'] }],
      [{ squash: 'maybe' }, 400, { error: 'squash is invalid' }],
      [{ reviewer_ids: ['ben'] }, 400, { error: 'reviewer_ids is invalid' }],
      [{ merge_after: 'later' }, 400, { error: 'merge_after is invalid' }],
      [{ milestone_id: 123_456 }, 400, { message: '400 Bad request - milestone_id is invalid' }],
    ]
    for (const [change, status, answer] of refusals) {
      const reply = await ana.put(one, change)
      expect([change, reply.status, reply.body]).toEqual([change, status, answer])
    }
    expect((await ana.get(one)).body).toEqual(before)
  })

  test('is opened again only while its branch is there and no other took its place', async () => {
    const { bench, at } = await stage()
    const { iid } = await open(bench, 'again')
    await ana.put(`${bench.api}/${iid}`, { state_event: 'close' })
    const second = await bench.open('again')
    const taken = await ana.put(`${bench.api}/${iid}`, { state_event: 'reopen' })
    const said = 'Another open merge request already exists for this source branch: !2'
    expect([taken.status, taken.body]).toEqual([409, { message: [said] }])
    await ana.put(`${bench.api}/${second.body.iid}`, { state_event: 'close' })
    expect((await ana.delete(`${at}/repository/branches/again`)).status).toBe(204)
    const gone = await ana.put(`${bench.api}/${iid}`, { state_event: 'reopen' })
    expect([gone.status, gone.body]).toEqual([
      400,
      { message: ['source_branch "again" does not exist'] },
    ])
  })

  test('brings what was pushed while it was closed', async () => {
    const { bench, at } = await stage()
    const { iid } = await open(bench, 'slept')
    const one = `${bench.api}/${iid}`
    expect((await ben.post(`${one}/approve`)).status).toBe(201)
    await ana.put(one, { state_event: 'close' })
    const file = { branch: 'slept', commit_message: 'more', content: 'more' }
    expect((await ana.post(`${at}/repository/files/more`, file)).status).toBe(201)
    const { body: branch } = await ana.get(`${at}/repository/branches/slept`)
    await ana.put(one, { state_event: 'reopen' })
    const { body } = await bench.read(iid)
    expect(body).toMatchObject({ sha: branch.commit.id, detailed_merge_status: 'mergeable' })
    expect((await ana.get(`${one}/approvals`)).body.approved_by).toEqual([])
    expect((await ana.put(`${one}/merge`, { sha: branch.commit.id })).body.state).toBe('merged')
  })

  test('is deleted with all that hung on it', async () => {
    const { bench, at } = await stage()
    const { iid } = await open(bench, 'doomed', { assignee_ids: [ben.id] })
    const one = `${bench.api}/${iid}`
    const { body: issue } = await ana.post(`${at}/issues`, { title: 'x' })
    await ana.put(one, { description: `Closes #${issue.iid}` })
    expect(iidsOf((await ana.get(`${at}/issues/${issue.iid}/closed_by`)).body)).toEqual([iid])
    expect(iidsOf((await ana.get(`${one}/closes_issues`)).body)).toEqual([issue.iid])
    expect((await ana.get(`${at}/issues/${issue.iid}`)).body.merge_requests_count).toBe(1)
    const since = { 'If-Unmodified-Since': 'Mon, 04 May 2020 10:00:00 GMT' }
    expect((await ana.delete(one, undefined, { headers: since })).status).toBe(412)
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(one)).body).toEqual({ message: '404 Not found' })
    expect((await ana.get(`${at}/issues/${issue.iid}/closed_by`)).body).toEqual([])
    expect((await ana.get(`${at}/issues/${issue.iid}`)).body.merge_requests_count).toBe(0)
    const { body: todos } = await ben.get(`/todos?project_id=${bench.project.id}`)
    expect(todos).toEqual([])
    // The branch is kept, and takes a new merge request with a number of its own.
    expect((await bench.open('doomed')).body.iid).toBe(iid + 1)
  })

  test('in a locked discussion is for members to talk about', async () => {
    const { bench, at } = await stage()
    await ana.put(at, { visibility: 'public' })
    const { iid } = await open(bench, 'locked')
    const one = `${bench.api}/${iid}`
    const passer = await world.user('passer')
    expect((await passer.post(`${one}/notes`, { body: 'hi' })).status).toBe(201)
    expect((await passer.put(one, { discussion_locked: true })).status).toBe(403)
    await ana.put(one, { discussion_locked: true })
    expect((await passer.post(`${one}/notes`, { body: 'hi' })).status).toBe(403)
    expect((await passer.post(`${one}/discussions`, { body: 'hi' })).status).toBe(403)
    expect((await ben.post(`${one}/notes`, { body: 'hi' })).status).toBe(201)
  })
})

describe('the pipeline of a head', () => {
  test('is shown in full, with the times of its build', async () => {
    const { bench, at } = await stage()
    const [file = ''] = world.ctx.config.vendor.ciFiles
    const { body: commit } = await ana.post(`${at}/repository/commits`, {
      branch: 'built',
      start_branch: 'main',
      commit_message: 'Build',
      actions: [{ action: 'create', file_path: file, content: 'build: {script: make}\n' }],
    })
    await world.runTasks()
    const { body: request } = await bench.open('built')
    expect(request).toMatchObject({
      pipeline: { sha: commit.id, status: 'pending' },
      head_pipeline: {
        sha: commit.id,
        status: 'pending',
        user: { username: 'ana' },
        coverage: null,
        detailed_status: { text: 'Pending', group: 'pending' },
      },
      latest_build_started_at: null,
      latest_build_finished_at: null,
    })
    const { id } = request.head_pipeline
    const { body: jobs } = await ana.get(`${at}/pipelines/${id}/jobs`)
    for (const job of jobs) {
      await endJob(world.ctx, { id: job.id, pipeline_id: id }, { status: 'success' })
    }
    await world.runTasks()
    const { body: built } = await bench.read(request.iid)
    const { body: pipeline } = await ana.get(`${at}/pipelines/${id}`)
    expect(built.head_pipeline).toEqual(pipeline)
    expect(pipeline.finished_at).not.toBeNull()
    expect(built.latest_build_started_at).toBe(pipeline.started_at)
    expect(built.latest_build_finished_at).toBe(pipeline.finished_at)
  })
})

describe('lists of merge requests', () => {
  test('narrow and order by everything that they know', async () => {
    const { bench, at } = await stage()
    const label = (name: string, priority: number) =>
      ana.post(`${at}/labels`, { name, color: 'red', priority })
    await label('low', 9)
    await label('high', 1)
    const due = async (title: string, due_date: string) =>
      (await ana.post(`${at}/milestones`, { title, due_date })).body.id
    world.setNow('2026-05-01T10:00:00.000Z')
    await open(bench, 'b-one', {
      title: 'c',
      labels: 'low',
      milestone_id: await due('late', '2026-07-01'),
    })
    world.setNow('2026-05-02T10:00:00.000Z')
    const second = { title: 'b', labels: 'high', assignee_ids: [ben.id] }
    await open(bench, 'two', { ...second, milestone_id: await due('soon', '2026-06-01') }, ben)
    world.setNow('2026-05-03T10:00:00.000Z')
    await open(bench, 'three', { title: 'Draft: a', description: 'needle' })
    await ana.post(`${bench.api}/2/award_emoji`, { name: 'thumbsup' })
    await ana.post(`${bench.api}/2/approve`)
    world.setNow('2026-05-05T10:00:00.000Z')
    expect((await ana.put(`${bench.api}/1/merge`)).status).toBe(200)
    await ana.put(`${bench.api}/3`, { state_event: 'close' })
    await world.runTasks()
    const expected: [string, number[]][] = [
      ['', [3, 2, 1]],
      ['state=opened', [2]],
      ['state=closed', [3]],
      ['state=merged', [1]],
      ['state=all&sort=asc', [1, 2, 3]],
      ['created_after=2026-05-02T00:00:00Z', [3, 2]],
      ['created_before=2026-05-02T00:00:00Z', [1]],
      ['updated_after=2026-05-04T00:00:00Z', [3, 1]],
      ['merged_after=2026-05-04T00:00:00Z', [1]],
      ['merged_before=2026-05-04T00:00:00Z', []],
      ['milestone=soon', [2]],
      ['milestone=Any', [2, 1]],
      ['not[milestone]=soon', [3, 1]],
      ['labels=low,high', []],
      ['labels=Any', [2, 1]],
      ['labels=None', [3]],
      [`author_id=${ben.id}`, [2]],
      [`not[author_id]=${ben.id}`, [3, 1]],
      ['assignee_id=Any', [2]],
      ['assignee_username=ben', [2]],
      [`not[assignee_id]=${ben.id}`, [3, 1]],
      ['reviewer_id=Any', []],
      ['reviewer_id=None', [3, 2, 1]],
      ['my_reaction_emoji=thumbsup', [2]],
      ['my_reaction_emoji=None', [3, 1]],
      ['not[my_reaction_emoji]=thumbsup', [3, 1]],
      ['source_branch=two', [2]],
      ['not[source_branch]=two', [3, 1]],
      ['target_branch=main', [3, 2, 1]],
      ['not[target_branch]=main', []],
      [`source_project_id=${bench.project.id}`, [3, 2, 1]],
      ['search=needle', [3]],
      ['search=needle&in=title', []],
      ['draft=true', [3]],
      ['wip=no', [2, 1]],
      ['approved=yes', [2]],
      ['approved=no', [3, 1]],
      ['approved_by_usernames=ana', [2]],
      [`approved_by_ids=${ana.id}`, [2]],
      ['approved_by_ids=None', [3, 1]],
      [`merge_user_id=${ana.id}`, [1]],
      ['merge_user_username=ben', []],
      ['iids[]=1&iids[]=3', [3, 1]],
      ['order_by=title&sort=asc', [3, 2, 1]],
      ['order_by=popularity', [2, 3, 1]],
      ['order_by=merged_at', [1, 3, 2]],
      ['order_by=label_priority&sort=asc', [2, 1, 3]],
      ['order_by=milestone_due&sort=asc', [2, 1, 3]],
      ['order_by=priority&sort=asc', [2, 1, 3]],
      ['order_by=updated_at&sort=asc', [2, 1, 3]],
      ['per_page=2&page=2', [1]],
    ]
    for (const [query, iids] of expected) {
      const reply = await ana.get(`${bench.api}?${query}`)
      expect([query, reply.status, iidsOf(reply.body)]).toEqual([query, 200, iids])
    }
    const details = await ana.get(`${bench.api}?labels=high&with_labels_details=true`)
    expect(details.body[0].labels).toMatchObject([{ name: 'high', color: '#FF0000' }])
    const { body: simple } = await ana.get(`${bench.api}?view=simple&iids[]=2`)
    expect(simple).toMatchObject([{ iid: 2, title: 'b', state: 'opened' }])
    expect(simple[0]).not.toHaveProperty('labels')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('of a group reach below it, named as from there, past what is archived', async () => {
    const top = await createGroup(ana, 'wide')
    const inner = await createGroup(ana, 'sub', { parent_id: top.id })
    for (const [name, namespace_id] of [
      ['inside', inner.id],
      ['archived', top.id],
    ] as const) {
      const { id } = await createProject(ana, name, { namespace_id, initialize_with_readme: true })
      const at = `/projects/${id}`
      await ana.post(`${at}/repository/branches`, { branch: 'work', ref: 'main' })
      const request = { source_branch: 'work', target_branch: 'main', title: name }
      await ana.post(`${at}/merge_requests`, request)
      if (name === 'archived') await ana.post(`${at}/archive`)
    }
    const list = async (query = '') =>
      (await ana.get(`/groups/${top.id}/merge_requests?sort=asc&${query}`)).body.map(
        (one: { references: { relative: string } }) => one.references.relative,
      )
    expect(await list()).toEqual(['sub/inside!1'])
    expect(await list('non_archived=false')).toEqual(['sub/inside!1', 'archived!1'])
    expect((await ben.get(`/groups/${top.id}/merge_requests`)).status).toBe(404)
  })
})

describe('what its author wants to happen at the merge', () => {
  test('removes the branch and makes one commit', async () => {
    const { bench, at } = await stage()
    bench.commit('many', { 'x.txt': '1' })
    bench.commit('many', { 'x.txt': '2' })
    const wish = { squash: true, remove_source_branch: true }
    const { body: request } = await bench.open('many', wish)
    const merged = await ana.put(`${bench.api}/${request.iid}/merge`)
    expect(merged.body).toMatchObject({ state: 'merged', merged_by: { username: 'ana' } })
    expect(merged.body.squash_commit_sha).toMatch(/^[0-9a-f]{40}$/)
    await world.runTasks()
    expect((await ana.get(`${at}/repository/branches/many`)).status).toBe(404)
    const { body: commit } = await ana.get(
      `${at}/repository/commits/${merged.body.squash_commit_sha}`,
    )
    expect([commit.title, commit.parent_ids.length]).toEqual(['Take many', 1])
    // What is merged stays as it is.
    const closed = await ana.put(`${bench.api}/${request.iid}`, { state_event: 'close' })
    expect(closed.body.state).toBe('merged')
    const retargeted = await ana.put(`${bench.api}/${request.iid}`, { target_branch: 'other' })
    expect([retargeted.status, retargeted.body]).toEqual([
      400,
      { message: ['The target branch of this merge request cannot be changed'] },
    ])
    expect((await ana.put(`${bench.api}/${request.iid}/merge`)).status).toBe(405)
  })
})
