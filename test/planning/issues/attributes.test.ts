import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
const guest = useCaller(world, 'guest')
let project: TestProject
let issues: string

beforeAll(async () => {
  project = await addProject(world, ana, 'empty', { visibility: 'public' })
  await addMember(world, project.id, bea.id, 30)
  await addMember(world, project.id, guest.id, 10)
  issues = `/projects/${project.id}/issues`
})

async function issue(body: object = {}, who = ana) {
  const made = await who.post(issues, { title: 'x', ...body })
  expect(made.status).toBe(201)
  return made.body
}

const iidsOf = (body: readonly { iid: number }[]) => body.map((one) => one.iid)

async function notes(iid: number): Promise<string[]> {
  const { body } = await ana.get(`${issues}/${iid}/notes?sort=asc`)
  return body.map((note: { body: string }) => note.body)
}

describe('an issue', () => {
  test('is shown in full, the same when made, read, listed and found by its number in the instance', async () => {
    const made = await issue({
      title: ' whole ',
      description: '- [x] a\n- [ ] b',
      weight: 2,
    })
    const web = `${world.app.config.externalUrl}/ana/empty/-/issues/${made.iid}`
    const api = `${world.app.config.externalUrl}/api/v4/projects/${project.id}`
    expect(made).toEqual({
      id: made.id,
      iid: made.iid,
      project_id: project.id,
      title: 'whole',
      description: '- [x] a\n- [ ] b',
      state: 'opened',
      created_at: '2026-05-04T10:00:00.000Z',
      updated_at: '2026-05-04T10:00:00.000Z',
      closed_at: null,
      closed_by: null,
      labels: [],
      milestone: null,
      assignees: [],
      assignee: null,
      author: expect.objectContaining({
        username: 'ana',
        state: 'active',
        locked: false,
      }),
      type: 'ISSUE',
      user_notes_count: 0,
      merge_requests_count: 0,
      upvotes: 0,
      downvotes: 0,
      start_date: null,
      due_date: null,
      confidential: false,
      discussion_locked: null,
      issue_type: 'issue',
      web_url: web,
      time_stats: {
        time_estimate: 0,
        total_time_spent: 0,
        human_time_estimate: null,
        human_total_time_spent: null,
      },
      task_completion_status: { count: 2, completed_count: 1 },
      has_tasks: true,
      task_status: '1 of 2 checklist items completed',
      weight: 2,
      blocking_issues_count: 0,
      _links: {
        self: `${api}/issues/${made.iid}`,
        notes: `${api}/issues/${made.iid}/notes`,
        award_emoji: `${api}/issues/${made.iid}/award_emoji`,
        project: api,
        closed_as_duplicate_of: null,
      },
      references: {
        short: `#${made.iid}`,
        relative: `#${made.iid}`,
        full: `ana/empty#${made.iid}`,
      },
      severity: 'UNKNOWN',
      subscribed: true,
      moved_to_id: null,
      imported: false,
      imported_from: 'none',
      service_desk_reply_to: null,
      epic: null,
      epic_iid: null,
      iteration: null,
      health_status: null,
    })
    expect((await ana.get(`${issues}/${made.iid}`)).body).toEqual(made)
    const { subscribed: _, ...listed } = made
    expect((await ana.get(`${issues}?iids[]=${made.iid}`)).body).toEqual([listed])
    const found = await world.root.get(`/issues/${made.id}`)
    expect(found.body).toEqual({ ...made, subscribed: false })
    expect((await ana.get(`/issues/${made.id}`)).status).toBe(403)
    expect((await world.root.get('/issues/123456')).body).toEqual({
      message: '404 Not found',
    })
  })

  test('changes every attribute that an update names, and nothing else', async () => {
    const { body: milestone } = await ana.post(`/projects/${project.id}/milestones`, {
      title: 'Next',
    })
    const { iid } = await issue({ description: 'before', labels: 'old' })
    const one = `${issues}/${iid}`
    const wanted: [object, object][] = [
      [{ title: 'New title' }, { title: 'New title' }],
      [{ description: 'after' }, { description: 'after' }],
      [{ labels: 'a,b' }, { labels: ['a', 'b'] }],
      [{ add_labels: 'c', remove_labels: 'a' }, { labels: ['b', 'c'] }],
      [{ milestone_id: milestone.id }, { milestone: { title: 'Next' } }],
      [{ assignee_ids: [bea.id, ana.id] }, { assignees: [{ id: ana.id }, { id: bea.id }] }],
      [{ assignee_id: ana.id }, { assignees: [{ id: ana.id }] }],
      [{ assignee_id: 0 }, { assignees: [] }],
      [{ due_date: '2026-06-01' }, { due_date: '2026-06-01' }],
      [{ start_date: '2026-05-20' }, { start_date: '2026-05-20' }],
      [{ confidential: true }, { confidential: true }],
      [{ discussion_locked: true }, { discussion_locked: true }],
      [{ weight: 0 }, { weight: 0 }],
      [{ weight: null }, { weight: null }],
      [{ issue_type: 'task' }, { issue_type: 'task', type: 'TASK' }],
      [{ milestone_id: null }, { milestone: null }],
      [{ description: null }, { description: null }],
      [{ state_event: 'close' }, { state: 'closed', closed_by: { id: ana.id } }],
      [{ state_event: 'reopen' }, { state: 'opened', closed_by: null, closed_at: null }],
    ]
    let before = (await ana.get(one)).body
    for (const [change, result] of wanted) {
      const reply = await ana.put(one, change)
      expect([change, reply.status]).toEqual([change, 200])
      expect(reply.body).toMatchObject(result)
      const now = (await ana.get(one)).body
      expect(now).toMatchObject({ ...before, ...result, user_notes_count: 0 })
      before = { ...now }
      for (const name of ['assignee', 'closed_at', 'updated_at', 'task_status']) delete before[name]
    }
    expect(await notes(iid)).toEqual([
      'changed title from **{-x-}** to **{+New title+}**',
      'changed the description',
      'changed milestone to %Next',
      'assigned to @bea, @ana',
      'unassigned @bea',
      'unassigned @ana',
      'changed due date to 2026-06-01',
      'changed start date to 2026-05-20',
      'made the issue confidential',
      'locked this issue',
      'changed type from issue to task',
      'removed milestone',
      'changed the description',
      'closed',
      'reopened',
    ])
  })

  test('that an update leaves as it is, gets no note', async () => {
    const { iid } = await issue({
      labels: 'a',
      due_date: '2026-06-01',
      description: 'd',
    })
    await ana.put(`${issues}/${iid}`, {
      title: 'x',
      description: 'd',
      labels: 'a',
      due_date: '2026-06-01',
      confidential: false,
      discussion_locked: false,
      state_event: 'reopen',
      assignee_ids: [],
    })
    expect(await notes(iid)).toEqual([])
  })

  test('counts its people, votes and comments', async () => {
    const { iid } = await issue({ assignee_ids: [bea.id] })
    const one = `${issues}/${iid}`
    await bea.post(`${one}/award_emoji`, { name: 'thumbsup' })
    await guest.post(`${one}/award_emoji`, { name: 'thumbsdown' })
    await guest.post(`${one}/notes`, { body: 'hello' })
    expect((await ana.get(one)).body).toMatchObject({
      upvotes: 1,
      downvotes: 1,
      user_notes_count: 1,
    })
    const people = await ana.get(`${one}/participants`)
    expect(people.body.map((user: { username: string }) => user.username)).toEqual([
      'ana',
      'bea',
      'guest',
    ])
  })

  test('takes number and day of owners alone', async () => {
    const given = { iid: 900, created_at: '2020-01-02T03:04:05Z' }
    const owned = await issue(given)
    expect([owned.iid, owned.created_at]).toEqual([900, '2020-01-02T03:04:05.000Z'])
    const plain = await issue(given, bea)
    expect([plain.iid, plain.created_at]).toEqual([901, '2026-05-04T10:00:00.000Z'])
    const twice = await ana.post(issues, { title: 'x', ...given })
    expect([twice.status, twice.body]).toEqual([409, { message: 'Duplicated issue' }])
    const moved = await world.root.put(`${issues}/900`, {
      title: 'y',
      updated_at: '2021-01-01T00:00:00Z',
    })
    expect(moved.body.updated_at).toBe('2021-01-01T00:00:00.000Z')
    const kept = await ana.put(`${issues}/900`, {
      title: 'z',
      updated_at: '2021-01-01T00:00:00Z',
    })
    expect(kept.body.updated_at).toBe('2026-05-04T10:00:00.000Z')
  })

  test.each([
    [
      { title: 'x'.repeat(256) },
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    [{ title: '' }, { message: { title: ["can't be blank"] } }],
    [{ weight: -1 }, { error: 'weight does not have a valid value' }],
    [{ weight: 'much' }, { error: 'weight is invalid' }],
    [{ due_date: '2026-02-30' }, { error: 'due_date is invalid' }],
    [{ state_event: 'shut' }, { error: 'state_event does not have a valid value' }],
    [{ confidential: 'maybe' }, { error: 'confidential is invalid' }],
    [{ assignee_ids: ['bea'] }, { error: 'assignee_ids is invalid' }],
    [{ issue_type: 'story' }, { error: 'issue_type does not have a valid value' }],
  ])('is not changed by %j', async (body, answer) => {
    const { iid } = await issue()
    const before = (await ana.get(`${issues}/${iid}`)).body
    const reply = await ana.put(`${issues}/${iid}`, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect((await ana.get(`${issues}/${iid}`)).body).toEqual(before)
  })

  test('is deleted with all that hung on it', async () => {
    const { iid, id } = await issue({ labels: 'a' })
    const other = await issue()
    const one = `${issues}/${iid}`
    await bea.post(`${one}/todo`)
    await ana.post(`${one}/links`, {
      target_project_id: project.id,
      target_issue_iid: other.iid,
    })
    const later = await ana.delete(one, undefined, {
      headers: { 'If-Unmodified-Since': 'Mon, 04 May 2020 10:00:00 GMT' },
    })
    expect([later.status, later.body]).toEqual([412, { message: '412 Precondition Failed' }])
    expect((await bea.delete(one)).status).toBe(403)
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(one)).body).toEqual({ message: '404 Not found' })
    expect((await ana.get(`${one}/notes`)).status).toBe(404)
    const { body: todos } = await bea.get('/todos')
    expect(todos.map((todo: { target: { iid: number } }) => todo.target.iid)).not.toContain(iid)
    expect((await ana.get(`${issues}/${other.iid}/links`)).body).toEqual([])
    expect((await world.root.get(`/issues/${id}`)).status).toBe(404)
    // Its number is not given again.
    expect((await issue()).iid).toBe(other.iid + 1)
  })
})

test('incidents are made by Reporters and above, not by whoever may report', async () => {
  const made = { title: 'x', issue_type: 'incident' }
  for (const who of [guest, await world.user('passer-by')]) {
    const reply = await who.post(issues, made)
    expect([reply.status, reply.body]).toEqual([403, { message: '403 Forbidden' }])
  }
  const planner = await world.user('issue-planner')
  await addMember(world, project.id, planner.id, 15)
  const { iid } = await issue({}, planner)
  expect((await planner.put(`${issues}/${iid}`, { issue_type: 'incident' })).status).toBe(403)
  const reply = await bea.put(`${issues}/${iid}`, { issue_type: 'incident' })
  expect(reply.body).toMatchObject({
    issue_type: 'incident',
    type: 'INCIDENT',
  })
  // What is an incident already, planners may change otherwise.
  expect((await planner.put(`${issues}/${iid}`, { title: 'y' })).body.title).toBe('y')
})

test('incidents are deleted by Owners alone, other issues by their authors too', async () => {
  const planner = await world.user('issue-author')
  await addMember(world, project.id, planner.id, 15)
  const { iid } = await issue({}, planner)
  await bea.put(`${issues}/${iid}`, { issue_type: 'incident' })
  const refused = await planner.delete(`${issues}/${iid}`)
  expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
  expect((await ana.delete(`${issues}/${iid}`)).status).toBe(204)
  const plain = await issue({}, planner)
  expect((await planner.delete(`${issues}/${plain.iid}`)).status).toBe(204)
})

describe('an issue that is moved', () => {
  test('stays its author’s, with its votes, time, severity and links', async () => {
    const target = await addProject(world, ana, 'empty', {
      path: 'target',
      visibility: 'public',
    })
    const made = await issue({ title: 'mine' }, guest)
    const other = await issue({ title: 'related' })
    const one = `${issues}/${made.iid}`
    await bea.post(`${one}/award_emoji`, { name: 'thumbsup' })
    await ana.post(`${one}/time_estimate`, { duration: '2h' })
    await ana.post(`${one}/add_spent_time`, { duration: '1h' })
    await ana.put(one, { issue_type: 'incident' })
    await ana.put(`${one}/incident`, { severity: 'high' })
    await ana.post(`${one}/links`, {
      target_project_id: project.id,
      target_issue_iid: other.iid,
    })
    const moved = await ana.post(`${one}/move`, { to_project_id: target.id })
    expect(moved.status).toBe(201)
    expect(moved.body).toMatchObject({
      project_id: target.id,
      author: { username: 'guest' },
      severity: 'HIGH',
      upvotes: 1,
      time_stats: { time_estimate: 7200, total_time_spent: 3600 },
    })
    const links = await ana.get(`/projects/${target.id}/issues/${moved.body.iid}/links`)
    expect(links.body).toMatchObject([{ title: 'related', link_type: 'relates_to' }])
    const again = await ana.post(`${one}/move`, { to_project_id: target.id })
    expect([again.status, again.body]).toEqual([
      400,
      {
        message: '400 Bad request - Cannot move issue due to insufficient permissions!',
      },
    ])
    const same = await ana.post(`${issues}/${other.iid}/move`, {
      to_project_id: project.id,
    })
    expect(same.body).toEqual({
      message: '400 Bad request - Cannot move issue to project it originates from!',
    })
  })
})

describe('lists of issues', () => {
  test('narrow by votes, days, people and confidentiality', async () => {
    const place = await addProject(world, ana, 'empty', { path: 'narrow' })
    await addMember(world, place.id, bea.id, 30)
    const at = `/projects/${place.id}/issues`
    world.setNow('2026-05-01T10:00:00.000Z')
    await ana.post(at, {
      title: 'old',
      confidential: true,
      assignee_ids: [bea.id, ana.id],
    })
    world.setNow('2026-05-02T10:00:00.000Z')
    await bea.post(at, { title: 'new', assignee_ids: [bea.id], weight: 3 })
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.put(`${at}/1`, { due_date: '2026-05-10' })
    const expected: [string, number[]][] = [
      ['confidential=true', [1]],
      ['confidential=false', [2]],
      ['created_after=2026-05-02T00:00:00Z', [2]],
      ['created_before=2026-05-02T00:00:00Z', [1]],
      ['updated_after=2026-05-03T00:00:00Z', [1]],
      ['updated_before=2026-05-03T00:00:00Z', [2]],
      [`author_id=${bea.id}`, [2]],
      [`assignee_id=${ana.id}`, [1]],
      ['assignee_username[]=bea&assignee_username[]=ana', [1]],
      ['assignee_username=bea', [2, 1]],
      ['scope=created-by-me', [1]],
      ['not[author_username]=ana', [2]],
      [`not[author_id]=${ana.id}`, [2]],
      [`not[assignee_id]=${ana.id}`, [2]],
      ['not[assignee_username][]=ana', [2]],
      ['not[iids][]=1', [2]],
      ['not[weight]=3', [1]],
      ['weight=Any', [2]],
      ['due_date=any', [1]],
      ['due_date=tomorrow', []],
      ['due_date=week', [1]],
      ['due_date=month', [1]],
      ['due_date=next_month_and_previous_two_weeks', [1]],
      ['order_by=updated_at', [1, 2]],
      ['order_by=due_date&sort=asc', [1, 2]],
      ['order_by=weight&sort=asc', [2, 1]],
      ['search=OLD', [1]],
      ['search=o%25d', []],
    ]
    for (const [query, iids] of expected) {
      const reply = await ana.get(`${at}?${query}`)
      expect([query, reply.status, iidsOf(reply.body)]).toEqual([query, 200, iids])
      const { body } = await ana.get(`/projects/${place.id}/issues_statistics?${query}`)
      if (!query.startsWith('due_date'))
        expect([query, body.statistics.counts.all]).toEqual([query, iids.length])
    }
  })

  test('order by votes, labels and milestones, what has none at the end', async () => {
    const place = await addProject(world, ana, 'empty', { path: 'ordering' })
    const api = `/projects/${place.id}`
    await ana.post(`${api}/labels`, {
      name: 'first',
      color: 'red',
      priority: 1,
    })
    await ana.post(`${api}/labels`, {
      name: 'second',
      color: 'red',
      priority: 2,
    })
    const due = async (title: string, due_date: string) =>
      (await ana.post(`${api}/milestones`, { title, due_date })).body.id
    const at = `${api}/issues`
    await ana.post(at, {
      title: 'b',
      labels: 'second',
      milestone_id: await due('m', '2026-06-02'),
    })
    await ana.post(at, {
      title: 'c',
      labels: 'first',
      milestone_id: await due('n', '2026-06-01'),
    })
    await ana.post(at, { title: 'a' })
    await ana.post(`${at}/2/award_emoji`, { name: 'thumbsup' })
    const expected: [string, number[]][] = [
      ['order_by=popularity', [2, 3, 1]],
      ['order_by=label_priority&sort=asc', [2, 1, 3]],
      ['order_by=label_priority&sort=desc', [1, 2, 3]],
      ['order_by=milestone_due&sort=asc', [2, 1, 3]],
      ['order_by=milestone_due&sort=desc', [1, 2, 3]],
      ['order_by=title&sort=asc', [3, 1, 2]],
      ['order_by=created_at&sort=asc', [1, 2, 3]],
    ]
    for (const [query, iids] of expected) {
      expect([query, iidsOf((await ana.get(`${at}?${query}`)).body)]).toEqual([query, iids])
    }
    const wrong = await ana.get(`${at}?order_by=mood`)
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { error: 'order_by does not have a valid value' },
    ])
  })

  test('of a group reach into its subgroups, past what is archived or hidden', async () => {
    const top = await createGroup(ana, 'wide')
    const inner = await createGroup(ana, 'sub', { parent_id: top.id })
    const titles = ['of-group', 'of-subgroup', 'archived']
    for (const name of titles) {
      const namespace_id = name === 'of-subgroup' ? inner.id : top.id
      const { id } = await createProject(ana, name, { namespace_id })
      await ana.post(`/projects/${id}/issues`, { title: name })
      if (name === 'archived') await ana.post(`/projects/${id}/archive`)
    }
    const list = async (query: string) =>
      (await ana.get(`/groups/${top.id}/issues?sort=asc&${query}`)).body.map(
        (one: { title: string; references: { relative: string } }) => one.title,
      )
    expect(await list('')).toEqual(['of-group', 'of-subgroup'])
    expect(await list('non_archived=false')).toEqual(titles)
    const counted = await ana.get(`/groups/${top.id}/issues_statistics`)
    expect(counted.body.statistics.counts).toEqual({
      all: 2,
      closed: 0,
      opened: 2,
    })
    expect((await guest.get(`/groups/${top.id}/issues`)).status).toBe(404)
  })

  test('everywhere and their counts agree on whose issues are meant', async () => {
    const count = async (query: string) =>
      (await bea.get(`/issues_statistics?${query}`)).body.statistics.counts.all
    const listed = async (query: string) =>
      Number((await bea.get(`/issues?per_page=1&${query}`)).headers.get('x-total'))
    for (const query of ['', 'scope=all', 'author_username=ana', `author_id=${guest.id}`]) {
      expect([query, await count(query)]).toEqual([query, await listed(query)])
    }
    expect(await listed('author_username=ana')).toBeGreaterThan(0)
  })
})
