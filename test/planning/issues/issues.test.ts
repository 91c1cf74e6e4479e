import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const stranger = useCaller(world, 'stranger')
let project: TestProject
let issues: string

beforeAll(async () => {
  project = await addProject(world, ana, 'empty', { visibility: 'public' })
  await addMember(world, project.id, ben.id, 20)
  issues = `/projects/${project.id}/issues`
})

const iidsOf = (body: readonly { iid: number }[]) => body.map((issue) => issue.iid)

describe('issues', () => {
  test('are created with labels, people and a milestone, and keep what changed', async () => {
    const milestone = await ana.post(`/projects/${project.id}/milestones`, { title: 'm1' })
    const made = await ana.post(issues, {
      title: 'First',
      description: '- [x] done\n- [ ] open\n```\n- [ ] code\n```',
      labels: 'bug, a::one',
      assignee_ids: [ben.id],
      milestone_id: milestone.body.id,
      due_date: '2026-06-01',
      weight: 3,
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      state: 'opened',
      labels: ['a::one', 'bug'],
      assignee: { username: 'ben' },
      milestone: { title: 'm1' },
      task_completion_status: { count: 2, completed_count: 1 },
      references: { short: `#${made.body.iid}`, full: `ana/empty#${made.body.iid}` },
      subscribed: true,
    })
    const one = `${issues}/${made.body.iid}`
    const changed = await ana.put(one, {
      add_labels: ['a::two'],
      title: 'First thing',
      weight: 5,
      state_event: 'close',
    })
    expect(changed.body).toMatchObject({
      labels: ['a::two', 'bug'],
      state: 'closed',
      closed_by: { username: 'ana' },
    })
    const labelled = await ana.get(`${one}/resource_label_events`)
    expect(labelled.body.map((event: { action: string }) => event.action)).toEqual([
      'add',
      'add',
      'add',
      'remove',
    ])
    expect(
      (await ana.get(`${one}/resource_weight_events`)).body.map(
        (e: { weight: number }) => e.weight,
      ),
    ).toEqual([3, 5])
    expect((await ana.get(`${one}/resource_milestone_events`)).body).toHaveLength(1)
    expect((await ana.get(`${one}/resource_state_events`)).body[0].state).toBe('closed')
    const notes = await ana.get(`${one}/notes?sort=asc`)
    expect(notes.body.map((note: { body: string }) => note.body)).toEqual([
      'changed title from **First** to **First{+ thing+}**',
      'closed',
    ])
    expect((await ben.get('/todos')).body[0]).toMatchObject({
      action_name: 'assigned',
      target: { iid: made.body.iid },
    })
  })

  test('clear what null or an empty text names', async () => {
    const { body } = await ana.post(issues, {
      title: 'x',
      labels: ['a'],
      assignee_id: ben.id,
      due_date: '2026-01-01',
    })
    const cleared = await ana.put(`${issues}/${body.iid}`, {
      labels: '',
      assignee_ids: [],
      due_date: null,
      milestone_id: 0,
    })
    expect(cleared.body).toMatchObject({
      labels: [],
      assignees: [],
      due_date: null,
      milestone: null,
    })
  })

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: ['a'] }, { error: 'title is invalid' }],
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x', issue_type: 'bug' }, { error: 'issue_type does not have a valid value' }],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
  ])('%j is refused', async (body, answer) => {
    const reply = await ana.post(issues, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('an update of nothing is refused', async () => {
    const { body } = await ana.post(issues, { title: 'x' })
    const reply = await ana.put(`${issues}/${body.iid}`, { unknown: 1 })
    expect(reply.status).toBe(400)
    expect(reply.body.error).toMatch(/at least one parameter must be provided$/)
  })

  test('confidential ones exist for Planners, authors and assignees only', async () => {
    const { body } = await stranger.post(issues, { title: 'secret', confidential: true })
    const one = `${issues}/${body.iid}`
    const other = await world.user('other')
    expect((await stranger.get(one)).status).toBe(200)
    expect((await ben.get(one)).status).toBe(200)
    for (const caller of [other, world.nobody]) {
      expect((await caller.get(one)).status).toBe(404)
      const listed = await caller.get(`${issues}?iids[]=${body.iid}`)
      expect(listed.body).toEqual([])
    }
  })

  test('of strangers are theirs to change, but not to sort', async () => {
    const { body } = await stranger.post(issues, { title: 'mine', labels: ['bug'] })
    expect(body.labels).toEqual([])
    const one = `${issues}/${body.iid}`
    expect((await stranger.put(one, { title: 'mine now' })).body.title).toBe('mine now')
    expect((await stranger.put(one, { labels: ['bug'] })).status).toBe(403)
    const other = await world.user('meddler')
    expect((await other.put(one, { title: 'no' })).status).toBe(403)
    expect((await stranger.delete(one)).status).toBe(403)
    expect((await ana.delete(one)).status).toBe(204)
  })

  test('number themselves without gaps under fifty writers at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ana.post(issues, { title: `race ${n}` })),
    )
    const iids = replies.map((reply) => reply.body.iid).sort((a, b) => a - b)
    expect(new Set(iids).size).toBe(50)
    expect((iids.at(-1) ?? 0) - (iids[0] ?? 0)).toBe(49)
  })
})

describe('lists of issues', () => {
  let listed: string
  beforeAll(async () => {
    const other = await addProject(world, ana, 'empty', { path: 'lists', visibility: 'private' })
    listed = `/projects/${other.id}/issues`
    await ana.post(`/projects/${other.id}/milestones`, { title: 'm2', due_date: '2026-12-01' })
    const milestones = await ana.get(`/projects/${other.id}/milestones`)
    const milestone_id = milestones.body[0].id
    await ana.post(listed, {
      title: 'alpha',
      labels: ['x', 'y'],
      weight: 1,
      due_date: '2026-05-04',
    })
    await ana.post(listed, {
      title: 'beta',
      labels: ['x'],
      milestone_id,
      due_date: '2026-05-01',
      assignee_ids: [ana.id],
    })
    await ana.post(listed, { title: 'gamma needle', description: 'hay', issue_type: 'incident' })
    await ana.put(`${listed}/3`, { state_event: 'close' })
  })

  test.each([
    ['labels=x', [2, 1]],
    ['labels=x,y', [1]],
    ['labels[]=None', [3]],
    ['labels=Any', [2, 1]],
    ['not[labels]=y', [3, 2]],
    ['milestone=m2', [2]],
    ['milestone_id=None', [3, 1]],
    ['milestone_id=Upcoming', [2]],
    ['state=closed', [3]],
    ['state=opened', [2, 1]],
    ['assignee_id=None', [3, 1]],
    ['assignee_id=Any', [2]],
    ['assignee_username[]=ana', [2]],
    ['search=needle', [3]],
    ['search=hay&in=title', []],
    ['issue_type=incident', [3]],
    ['weight=1', [1]],
    ['weight=None', [3, 2]],
    ['due_date=overdue', [2]],
    ['due_date=today', [1]],
    ['due_date=0', [3]],
    ['iids[]=1&iids[]=3', [3, 1]],
    ['author_username=ana&sort=asc', [1, 2, 3]],
    ['order_by=title&sort=asc', [1, 2, 3]],
    ['scope=assigned_to_me', [2]],
    ['simple=true&pagination=legacy', [3, 2, 1]],
  ])('%s', async (query, expected) => {
    const reply = await ana.get(`${listed}?${query}`)
    expect([reply.status, iidsOf(reply.body)]).toEqual([200, expected])
  })

  test('by keyset yield each once, in both directions', async () => {
    for (const sort of ['asc', 'desc']) {
      let next: string | undefined =
        `${listed}?pagination=keyset&per_page=1&order_by=created_at&sort=${sort}`
      const found: number[] = []
      while (next) {
        const reply = await ana.get(next)
        found.push(...iidsOf(reply.body))
        expect(reply.headers.get('x-total')).toBeNull()
        next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
      }
      expect([...found].sort()).toEqual([1, 2, 3])
    }
  })

  test('by keyset agree with pages by number in every order, those without a value last', async () => {
    const { path_with_namespace } = await createProject(ana, 'sorted')
    const sorted = `/projects/${encodeURIComponent(path_with_namespace)}/issues`
    const given = [
      { weight: 3, due_date: '2026-08-02' },
      {},
      { weight: 1, due_date: '2026-08-03' },
      { weight: 3, due_date: '2026-08-02' },
      {},
      { weight: 0, due_date: '2026-08-01' },
    ]
    for (const [index, one] of given.entries())
      await ana.post(sorted, { title: `t${index}`, ...one })
    const { body: third } = await ana.get(`${sorted}/3`)
    await ana.put(`${sorted}/6/reorder`, { move_before_id: third.id })
    const walk = async (query: string) => {
      const found: number[] = []
      let next: string | undefined = `${sorted}?pagination=keyset&per_page=1&${query}`
      while (next) {
        const reply = await ana.get(next)
        expect([next, reply.status]).toEqual([next, 200])
        found.push(...iidsOf(reply.body))
        next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
      }
      return found
    }
    for (const order of ['weight', 'due_date', 'relative_position', 'title']) {
      for (const sort of ['asc', 'desc']) {
        const query = `order_by=${order}&sort=${sort}`
        const paged = iidsOf((await ana.get(`${sorted}?${query}`)).body)
        expect([query, await walk(query)]).toEqual([query, paged])
      }
    }
    expect(await walk('order_by=weight&sort=asc')).toEqual([6, 3, 1, 4, 2, 5])
    expect(await walk('order_by=weight&sort=desc')).toEqual([4, 1, 3, 6, 5, 2])
  })

  test('everywhere are the own ones, and need a user', async () => {
    expect((await world.nobody.get('/issues')).status).toBe(401)
    const mine = await ben.get('/issues')
    expect(mine.body).toEqual([])
    const all = await ben.get('/issues?scope=all&per_page=100')
    expect(all.body.every((issue: { project_id: number }) => issue.project_id === project.id)).toBe(
      true,
    )
    const counted = await ana.get(`${listed.replace('/issues', '/issues_statistics')}`)
    expect(counted.body).toEqual({ statistics: { counts: { all: 3, closed: 1, opened: 2 } } })
  })

  test('by labels answer the label itself when asked for details', async () => {
    const reply = await ana.get(`${listed}?labels=y&with_labels_details=true`)
    expect(reply.body[0].labels[0]).toMatchObject({ name: 'x', color: expect.stringMatching(/^#/) })
  })
})

describe('beside an issue', () => {
  test('time is estimated, spent, and shown as text', async () => {
    const { body } = await ana.post(issues, { title: 'time' })
    const one = `${issues}/${body.iid}`
    expect((await ana.post(`${one}/time_estimate?duration=3h30m`)).body.human_time_estimate).toBe(
      '3h 30m',
    )
    const spent = await ana.post(`${one}/add_spent_time`, { duration: '1w 1d' })
    expect([spent.status, spent.body.total_time_spent]).toEqual([201, 48 * 3600])
    expect((await ana.post(`${one}/add_spent_time`, { duration: '-2w' })).status).toBe(400)
    expect((await ana.post(`${one}/add_spent_time`, { duration: 'long' })).status).toBe(400)
    expect((await ana.post(`${one}/reset_spent_time`)).body.total_time_spent).toBe(0)
    expect((await ana.post(`${one}/reset_time_estimate`)).body.time_estimate).toBe(0)
  })

  test('links read from both ends', async () => {
    const a = (await ana.post(issues, { title: 'a' })).body
    const b = (await ana.post(issues, { title: 'b' })).body
    const made = await ana.post(`${issues}/${a.iid}/links`, {
      target_project_id: project.id,
      target_issue_iid: b.iid,
      link_type: 'blocks',
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      link_type: 'blocks',
      source_issue: { iid: a.iid },
      target_issue: { iid: b.iid },
    })
    const back = await ana.get(`${issues}/${b.iid}/links`)
    expect(back.body[0]).toMatchObject({ iid: a.iid, link_type: 'is_blocked_by' })
    expect((await ana.get(`${issues}/${a.iid}`)).body.blocking_issues_count).toBe(1)
    const removed = await ana.delete(`${issues}/${b.iid}/links/${back.body[0].issue_link_id}`)
    expect([removed.status, removed.body.link_type]).toEqual([200, 'is_blocked_by'])
  })

  test('to-dos and following answer 304 the second time', async () => {
    const { body } = await ana.post(issues, { title: 'follow' })
    const one = `${issues}/${body.iid}`
    expect((await ben.post(`${one}/todo`)).status).toBe(201)
    expect((await ben.post(`${one}/todo`)).status).toBe(304)
    expect((await ben.post(`${one}/subscribe`)).status).toBe(201)
    expect((await ben.post(`${one}/subscribe`)).status).toBe(304)
    expect((await ben.post('/todos/mark_as_done')).status).toBe(204)
    expect((await ben.get('/todos')).body).toEqual([])
  })

  test('a move leaves the old one closed and pointing to the new one, notes with it', async () => {
    const target = await addProject(world, ana, 'empty', { path: 'target' })
    const { body } = await ana.post(issues, { title: 'moving' })
    await ana.post(`${issues}/${body.iid}/notes`, { body: 'stays with it' })
    const moved = await ana.post(`${issues}/${body.iid}/move`, { to_project_id: target.id })
    expect(moved.body).toMatchObject({ project_id: target.id, title: 'moving' })
    expect((await ana.get(`${issues}/${body.iid}`)).body).toMatchObject({
      state: 'closed',
      moved_to_id: moved.body.id,
    })
    const notes = await ana.get(
      `/projects/${target.id}/issues/${moved.body.iid}/notes?activity_filter=only_comments`,
    )
    expect(notes.body.map((note: { body: string }) => note.body)).toEqual(['stays with it'])
  })

  test('reactions count as votes, once for each user, also on notes', async () => {
    const { body } = await ana.post(issues, { title: 'vote' })
    const one = `${issues}/${body.iid}`
    const made = await ben.post(`${one}/award_emoji`, { name: ':thumbsup:' })
    expect([made.status, made.body.name]).toEqual([201, 'thumbsup'])
    expect((await ben.post(`${one}/award_emoji`, { name: 'thumbsup' })).status).toBe(404)
    expect((await ana.get(one)).body.upvotes).toBe(1)
    expect((await stranger.delete(`${one}/award_emoji/${made.body.id}`)).status).toBe(403)
    expect((await ben.delete(`${one}/award_emoji/${made.body.id}`)).status).toBe(204)
    const note = await ana.post(`${one}/notes`, { body: 'hm' })
    const tractor = await ben.post(`${one}/notes/${note.body.id}/award_emoji`, { name: 'tractor' })
    expect(tractor.body).toMatchObject({ awardable_type: 'Note', awardable_id: note.body.id })
    expect((await ana.get(`${one}/notes/${note.body.id}/award_emoji`)).body).toHaveLength(1)
  })
})
