import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let milestones: string

beforeAll(async () => {
  const project = await addProject(world, ana, 'empty')
  milestones = `/projects/${project.id}/milestones`
})

const titlesOf = (body: readonly { title: string }[]) => body.map((one) => one.title)
const taken = { message: { title: ['has already been taken'] } }

async function newGroup(path: string, more: object = {}) {
  return (await createGroup(ana, path, more)).id
}

async function newProject(name: string, more: object = {}) {
  return (await createProject(ana, name, more)).id
}

describe('milestones of a project', () => {
  test('have numbers of their own, take datetimes as days, and close', async () => {
    const { status, body } = await ana.post(milestones, {
      title: 'one',
      due_date: '2026-05-01T12:00:00Z',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      iid: 1,
      title: 'one',
      state: 'active',
      due_date: '2026-05-01',
      expired: true,
    })
    expect(body.web_url).toBe(`${world.app.config.externalUrl}/ana/empty/-/milestones/1`)
    const closed = await ana.put(`${milestones}/${body.id}`, {
      state_event: 'close',
      due_date: null,
    })
    expect(closed.body).toMatchObject({ state: 'closed', due_date: null, expired: false })
    const listed = await ana.get(`${milestones}?state=closed&title=one&iids[]=1`)
    expect(listed.body).toEqual([closed.body])
    expect((await ana.delete(`${milestones}/${body.id}`)).status).toBe(204)
  })

  test('have a title once', async () => {
    await ana.post(milestones, { title: 'twin' })
    const reply = await ana.post(milestones, { title: 'twin' })
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: { title: ['has already been taken'] } },
    ])
  })

  test('do not end before they start', async () => {
    const reply = await ana.post(milestones, {
      title: 'x',
      start_date: '2026-05-02',
      due_date: '2026-05-01',
    })
    expect(reply.body).toEqual({ message: { due_date: ['must be greater than start date'] } })
  })

  test('of a private project are not found by strangers', async () => {
    const stranger = await world.user('stranger')
    expect((await stranger.get(milestones)).body).toEqual({ message: '404 Project Not Found' })
  })
})

describe.each(['projects', 'groups'] as const)('milestones of %s', (kind) => {
  test('have lists of their issues, merge requests and burndown events', async () => {
    const group = await createGroup(ana, `g-${kind}`)
    const project = await createProject(ana, 'in', { namespace_id: group.id })
    const owner = kind === 'groups' ? `/groups/${group.id}` : `/projects/${project.id}`
    const { body: milestone } = await ana.post(`${owner}/milestones`, { title: 'soon' })
    const issues = `/projects/${project.id}/issues`
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.post(issues, { title: 'one', milestone_id: milestone.id, weight: 2 })
    await ana.post(issues, { title: 'other' })
    world.setNow('2026-05-04T11:00:00.000Z')
    await ana.put(`${issues}/1`, { state_event: 'close' })
    const one = `${owner}/milestones/${milestone.id}`
    const listed = await ana.get(`${one}/issues`)
    expect(listed.body.map((issue: { title: string }) => issue.title)).toEqual(['one'])
    expect((await ana.get(`${one}/burndown_events`)).body).toEqual([
      { created_at: '2026-05-04T10:00:00.000Z', weight: 2, action: 'created' },
      { created_at: '2026-05-04T11:00:00.000Z', weight: 2, action: 'closed' },
    ])
    const work = { branch: 'work', commit_message: 'x' }
    const actions = [{ action: 'create', file_path: 'a', content: 'x' }]
    const commits = `/projects/${project.id}/repository/commits`
    await ana.post(commits, { ...work, branch: 'main', actions })
    const more = [{ action: 'create', file_path: 'b', content: 'x' }]
    await ana.post(commits, { ...work, start_branch: 'main', actions: more })
    const request = await ana.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'work',
      target_branch: 'main',
      title: 'Take',
      milestone_id: milestone.id,
    })
    expect(request.status).toBe(201)
    const requests = await ana.get(`${one}/merge_requests`)
    expect(requests.body.map((one: { title: string }) => one.title)).toEqual(['Take'])
    expect((await ana.get(`${owner}/milestones/123456/issues`)).status).toBe(404)
    const outsider = await world.user(`outsider-${kind}`)
    expect((await outsider.get(`${one}/issues`)).status).toBe(404)
  })
})

describe.each(['projects', 'groups'] as const)('milestones of %s', (kind) => {
  let milestones: string
  let at: string

  beforeAll(async () => {
    const id = kind === 'groups' ? await newGroup('planned') : await newProject('planned-one')
    at = `/${kind}/${id}`
    milestones = `${at}/milestones`
  })

  test('keep every attribute that they are made with, and each that is changed', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const made = await ana.post(milestones, {
      title: '  Version 1 ',
      description: 'First',
      start_date: '2026-05-01',
      due_date: '2026-05-31',
    })
    const owner = Number(at.split('/')[2])
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        iid: 1,
        ...(kind === 'groups' ? { group_id: owner } : { project_id: owner }),
        title: 'Version 1',
        description: 'First',
        state: 'active',
        created_at: '2026-05-04T10:00:00.000Z',
        updated_at: '2026-05-04T10:00:00.000Z',
        due_date: '2026-05-31',
        start_date: '2026-05-01',
        expired: false,
        web_url: made.body.web_url,
      },
    ])
    world.setNow('2026-06-01T10:00:00.000Z')
    const one = `${milestones}/${made.body.id}`
    expect((await ana.get(one)).body.expired).toBe(true)
    const changed = await ana.put(one, {
      title: 'Version 2',
      description: null,
      start_date: null,
      due_date: '2026-07-01T08:00:00Z',
      state_event: 'close',
    })
    expect(changed.body).toMatchObject({
      title: 'Version 2',
      description: null,
      start_date: null,
      due_date: '2026-07-01',
      state: 'closed',
      expired: false,
      updated_at: '2026-06-01T10:00:00.000Z',
    })
    expect((await ana.put(one, { state_event: 'activate' })).body.state).toBe('active')
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(one)).body).toEqual({
      message: '404 Milestone Not Found',
    })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('never get the number of a deleted one', async () => {
    const first = (await ana.post(milestones, { title: 'numbered' })).body
    await ana.delete(`${milestones}/${first.id}`)
    const next = (await ana.post(milestones, { title: 'numbered' })).body
    expect(next.iid).toBe(first.iid + 1)
  })

  test('are listed by number, state, title, search and days', async () => {
    const list = async (query: string) =>
      titlesOf((await ana.get(`${milestones}?search=list&${query}`)).body)
    const make = async (body: object) => (await ana.post(milestones, body)).body
    const spring = { start_date: '2026-03-01', due_date: '2026-05-31' }
    await make({ title: 'list later', due_date: '2026-12-01' })
    await make({ title: 'list spring', ...spring })
    await make({
      title: 'open end',
      description: 'on the list',
      start_date: '2026-08-01',
    })
    const old = await make({ title: 'list never' })
    world.setNow('2026-05-05T10:00:00.000Z')
    await ana.put(`${milestones}/${old.id}`, { state_event: 'close' })
    world.setNow('2026-05-04T10:00:00.000Z')
    // Soonest due first, those without a date last.
    expect(await list('')).toEqual(['list spring', 'list later', 'open end', 'list never'])
    expect(await list('state=closed')).toEqual(['list never'])
    expect(await list('state=active')).toEqual(['list spring', 'list later', 'open end'])
    expect(await list('title=list%20later')).toEqual(['list later'])
    expect(await list(`iids[]=${old.iid}`)).toEqual(['list never'])
    expect(await list('containing_date=2026-04-01')).toEqual(['list spring'])
    expect(await list('containing_date=2026-12-01')).toEqual(['list later'])
    expect(await list('containing_date=2026-06-15')).toEqual([])
    expect(await list('updated_after=2026-05-05T00:00:00Z')).toEqual(['list never'])
    expect(await list('updated_before=2026-05-05T00:00:00Z')).not.toContain('list never')
    const paged = await ana.get(`${milestones}?search=list&per_page=3&page=2`)
    expect([titlesOf(paged.body), paged.headers.get('x-total')]).toEqual([['list never'], '4'])
  })

  test('refuse changes that are not valid, and stay as they were', async () => {
    const { body: one } = await ana.post(milestones, {
      title: 'firm',
      start_date: '2026-05-02',
    })
    await ana.post(milestones, { title: 'in use' })
    const path = `${milestones}/${one.id}`
    const refusals: [object, object][] = [
      [{ title: 'in use' }, taken],
      [{ title: ' in use ' }, taken],
      [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
      [{ title: 'x'.repeat(256) }, { error: 'title is too long (maximum is 255 characters)' }],
      [{ due_date: '2026-05-01' }, { message: { due_date: ['must be greater than start date'] } }],
      [{ due_date: 'soon' }, { error: 'due_date is invalid' }],
      [{ state_event: 'finish' }, { error: 'state_event does not have a valid value' }],
    ]
    for (const [body, answer] of refusals) {
      const reply = await ana.put(path, body)
      expect([body, reply.status, reply.body]).toEqual([body, 400, answer])
    }
    expect((await ana.get(path)).body).toEqual(one)
  })
})

test('a deleted milestone is removed from issues, merge requests and boards', async () => {
  const at = `/projects/${await newProject('leaving', { initialize_with_readme: true })}`
  const { body: milestone } = await ana.post(`${at}/milestones`, {
    title: 'gone',
  })
  const plan = { milestone_id: milestone.id }
  await ana.post(`${at}/issues`, { title: 'x', ...plan })
  await ana.post(`${at}/repository/branches`, { branch: 'work', ref: 'main' })
  const request = { source_branch: 'work', target_branch: 'main', title: 'x' }
  await ana.post(`${at}/merge_requests`, { ...request, ...plan })
  const { body: board } = await ana.post(`${at}/boards`, { name: 'b' })
  await ana.put(`${at}/boards/${board.id}`, plan)
  expect((await ana.delete(`${at}/milestones/${milestone.id}`)).status).toBe(204)
  for (const path of ['issues/1', 'merge_requests/1', `boards/${board.id}`]) {
    expect((await ana.get(`${at}/${path}`)).body.milestone).toBeNull()
  }
  expect((await ana.get(`${at}/issues?milestone=gone`)).body).toEqual([])
  expect((await ana.get(`${at}/issues?milestone_id=None`)).body).toHaveLength(1)
})

describe('milestones of a group', () => {
  let top: number
  let inside: number
  let beside: number

  beforeAll(async () => {
    top = await newGroup('tree')
    inside = await newProject('inside', { namespace_id: top })
    beside = await newProject('beside', { namespace_id: top })
    await ana.post(`/groups/${top}/milestones`, {
      title: 'shared',
      due_date: '2026-06-01',
    })
    await ana.post(`/projects/${inside}/milestones`, {
      title: 'own',
      due_date: '2026-07-01',
    })
  })

  const listed = async (path: string) => titlesOf((await ana.get(path)).body)

  test('are listed below where asked, and used there', async () => {
    const at = `/projects/${inside}`
    expect(await listed(`${at}/milestones`)).toEqual(['own'])
    for (const name of ['include_ancestors', 'include_parent_milestones']) {
      expect(await listed(`${at}/milestones?${name}=true`)).toEqual(['shared', 'own'])
    }
    expect(await listed(`/groups/${top}/milestones`)).toEqual(['shared'])
    expect(await listed(`/groups/${top}/milestones?include_descendants=true`)).toEqual([
      'shared',
      'own',
    ])
    const { body: shared } = await ana.get(`/groups/${top}/milestones?title=shared`)
    const issue = await ana.post(`${at}/issues`, {
      title: 'x',
      milestone_id: shared[0].id,
    })
    expect(issue.body.milestone).toMatchObject({
      title: 'shared',
      group_id: top,
    })
    // It is the group's to change.
    expect((await ana.put(`${at}/milestones/${shared[0].id}`, { title: 'mine' })).status).toBe(404)
    // What belongs to another project is no milestone here.
    const { body: own } = await ana.get(`${at}/milestones?title=own`)
    const foreign = await ana.post(`/projects/${beside}/issues`, {
      title: 'x',
      milestone_id: own[0].id,
    })
    expect(foreign.body.milestone).toBeNull()
  })

  test('share one set of titles with the projects below', async () => {
    const shared = await ana.post(`/projects/${inside}/milestones`, {
      title: 'shared',
    })
    expect([shared.status, shared.body]).toEqual([400, taken])
    const own = await ana.post(`/groups/${top}/milestones`, { title: 'own' })
    expect([own.status, own.body]).toEqual([400, taken])
    const { body: other } = await ana.post(`/groups/${top}/milestones`, {
      title: 'other',
    })
    const renamed = await ana.put(`/groups/${top}/milestones/${other.id}`, {
      title: 'own',
    })
    expect([renamed.status, renamed.body]).toEqual([400, taken])
    // Projects beside each other have their own.
    expect((await ana.post(`/projects/${beside}/milestones`, { title: 'own' })).status).toBe(201)
  })

  test('are made by promotion, and replace milestones of that title in all projects below', async () => {
    const ids: number[] = []
    for (const id of [inside, beside]) {
      const { body } = await ana.post(`/projects/${id}/milestones`, {
        title: 'both',
      })
      ids.push(body.id)
      await ana.post(`/projects/${id}/issues`, {
        title: `of ${id}`,
        milestone_id: body.id,
      })
    }
    const promoted = await ana.post(`/projects/${inside}/milestones/${ids[0]}/promote`)
    expect([promoted.status, promoted.body]).toMatchObject([200, { id: ids[0], group_id: top }])
    expect((await ana.get(`/projects/${beside}/milestones/${ids[1]}`)).status).toBe(404)
    const issues = await ana.get(`/groups/${top}/milestones/${ids[0]}/issues`)
    expect(titlesOf(issues.body).sort()).toEqual([`of ${inside}`, `of ${beside}`].sort())
    const events = await ana.get(
      `/projects/${beside}/issues/${issues.body[0].iid}/resource_milestone_events`,
    )
    expect(events.body.at(-1)).toMatchObject({
      action: 'add',
      milestone: { id: ids[0] },
    })
  })

  test('are made by promotion by those who may change both, and only in a group', async () => {
    const { body: one } = await ana.post(`/projects/${inside}/milestones`, {
      title: 'guarded',
    })
    const planner = await world.user('planner')
    await addMember(world, inside, planner.id, 15)
    const path = `/projects/${inside}/milestones/${one.id}/promote`
    expect((await planner.post(path)).status).toBe(403)
    const alone = await newProject('alone')
    const { body: lonely } = await ana.post(`/projects/${alone}/milestones`, {
      title: 'x',
    })
    const refused = await ana.post(`/projects/${alone}/milestones/${lonely.id}/promote`)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: '400 Bad request - Project does not belong to a group.' },
    ])
  })
})

test('guests read milestones, planners change them', async () => {
  const id = await newProject('roles')
  const guest = await world.user('guest')
  await addMember(world, id, guest.id, 10)
  const milestones = `/projects/${id}/milestones`
  const { body: one } = await ana.post(milestones, { title: 'x' })
  expect((await guest.get(milestones)).body).toHaveLength(1)
  for (const reply of [
    await guest.post(milestones, { title: 'y' }),
    await guest.put(`${milestones}/${one.id}`, { title: 'y' }),
    await guest.delete(`${milestones}/${one.id}`),
  ]) {
    expect([reply.status, reply.body]).toEqual([403, { message: '403 Forbidden' }])
  }
  await addMember(world, id, guest.id, 15)
  expect((await guest.put(`${milestones}/${one.id}`, { title: 'y' })).body.title).toBe('y')
})
