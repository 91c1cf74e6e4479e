import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')
let top: number
let sub: number
let inside: number
let below: number

beforeAll(async () => {
  top = (await createGroup(ana, 'top', { visibility: 'public' })).id
  sub = (await createGroup(ana, 'sub', { parent_id: top, visibility: 'public' })).id
  inside = await project('inside', top)
  below = await project('below', sub)
})

async function project(name: string, namespace_id: number, more: object = {}): Promise<number> {
  return (await createProject(ana, name, { namespace_id, visibility: 'public', ...more })).id
}
const titlesOf = (body: readonly { title: string }[]) => body.map((one) => one.title)

describe('what is planned for a milestone of a group', () => {
  let one: string

  beforeAll(async () => {
    const { body } = await ana.post(`/groups/${top}/milestones`, { title: 'all' })
    one = `/groups/${top}/milestones/${body.id}`
    const plan = { milestone_id: body.id }
    await ana.post(`/projects/${inside}/issues`, { title: 'near', weight: 5, ...plan })
    await ana.post(`/projects/${below}/issues`, { title: 'deep', ...plan })
    await ana.post(`/projects/${below}/issues`, { title: 'secret', confidential: true, ...plan })
    const hidden = await project('hidden', top, { visibility: 'private' })
    await ana.post(`/projects/${hidden}/issues`, { title: 'hidden', ...plan })
  })

  test('is listed from all projects below, as far as one sees it', async () => {
    const all = await ana.get(`${one}/issues`)
    expect(titlesOf(all.body).sort()).toEqual(['deep', 'hidden', 'near', 'secret'])
    const seen = await guest.get(`${one}/issues`)
    expect([titlesOf(seen.body).sort(), seen.headers.get('x-total')]).toEqual([
      ['deep', 'near'],
      '2',
    ])
    expect(titlesOf((await world.nobody.get(`${one}/issues`)).body).sort()).toEqual([
      'deep',
      'near',
    ])
  })

  test('counts in how the work went down, as far as one sees it', async () => {
    expect((await guest.get(`${one}/burndown_events`)).body).toHaveLength(2)
    world.setNow('2026-05-05T10:00:00.000Z')
    await ana.put(`/projects/${inside}/issues/1`, { state_event: 'close' })
    await ana.put(`/projects/${inside}/issues/1`, { state_event: 'reopen' })
    const { body } = await guest.get(`${one}/burndown_events`)
    const actions = body.map((event: { action: string }) => event.action)
    // In their order, also of one moment.
    expect(actions).toEqual(['created', 'created', 'closed', 'reopened'])
    expect(body.slice(2)).toMatchObject([{ weight: 5 }, { weight: 5 }])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is found by the title in lists of the group and of each project', async () => {
    const listed = async (path: string) => titlesOf((await ana.get(`${path}?milestone=all`)).body)
    expect((await listed(`/groups/${top}/issues`)).sort()).toEqual([
      'deep',
      'hidden',
      'near',
      'secret',
    ])
    expect((await listed(`/groups/${sub}/issues`)).sort()).toEqual(['deep', 'secret'])
    expect(await listed(`/projects/${inside}/issues`)).toEqual(['near'])
  })

  test('leaves it when the issue gets another, with an event for each', async () => {
    const { body: other } = await ana.post(`/projects/${inside}/milestones`, { title: 'other' })
    const issue = `/projects/${inside}/issues/1`
    await ana.put(issue, { milestone_id: other.id })
    expect(titlesOf((await ana.get(`${one}/issues`)).body)).not.toContain('near')
    const events = await ana.get(`${issue}/resource_milestone_events`)
    expect(
      events.body.map((event: { action: string; milestone: { title: string } }) => [
        event.action,
        event.milestone.title,
      ]),
    ).toEqual([
      ['add', 'all'],
      ['remove', 'all'],
      ['add', 'other'],
    ])
  })
})

describe('the days of a milestone', () => {
  const expired = async (path: string) => (await ana.get(path)).body.expired

  test('are over on the day after the last', async () => {
    const { body } = await ana.post(`/projects/${inside}/milestones`, {
      title: 'short',
      start_date: '2026-05-04',
      due_date: '2026-05-04',
    })
    const one = `/projects/${inside}/milestones/${body.id}`
    expect(await expired(one)).toBe(false)
    world.setNow('2026-05-04T23:59:59.999Z')
    expect(await expired(one)).toBe(false)
    world.setNow('2026-05-05T00:00:00.000Z')
    expect(await expired(one)).toBe(true)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('hold the first and the last, one of them is enough', async () => {
    const at = `/projects/${below}/milestones`
    const make = (title: string, days: object) => ana.post(at, { title, ...days })
    await make('both', { start_date: '2026-03-01', due_date: '2026-03-31' })
    await make('begins', { start_date: '2026-03-31' })
    await make('ends', { due_date: '2026-03-01' })
    await make('never', {})
    const containing = async (day: string) =>
      titlesOf((await ana.get(`${at}?containing_date=${day}`)).body).sort()
    expect(await containing('2026-02-28')).toEqual([])
    expect(await containing('2026-03-01')).toEqual(['both', 'ends'])
    expect(await containing('2026-03-31')).toEqual(['begins', 'both'])
    expect(await containing('2026-04-01')).toEqual([])
    expect((await ana.get(`${at}?containing_date=march`)).status).toBe(400)
  })

  test('may be cleared and changed alone, but not turned round', async () => {
    const { body } = await ana.post(`/projects/${below}/milestones`, {
      title: 'moves',
      start_date: '2026-05-01',
      due_date: '2026-06-01',
    })
    const one = `/projects/${below}/milestones/${body.id}`
    expect((await ana.put(one, { start_date: '2026-06-02' })).status).toBe(400)
    expect((await ana.put(one, { due_date: '2026-04-30' })).status).toBe(400)
    expect((await ana.put(one, { start_date: '2026-06-01' })).status).toBe(200)
    const turned = { start_date: '2027-01-01', due_date: '2027-02-01' }
    expect((await ana.put(one, turned)).body).toMatchObject(turned)
    expect((await ana.put(one, { due_date: '' })).body).toMatchObject({
      start_date: '2027-01-01',
      due_date: null,
    })
    expect((await ana.put(one, { start_date: null })).body.start_date).toBeNull()
  })
})

describe('lists of milestones', () => {
  const listed = async (path: string, who = ana) => titlesOf((await who.get(path)).body)

  test('of a group reach down as far as one sees', async () => {
    const hidden = await project('out-of-sight', sub, { visibility: 'private' })
    await ana.post(`/projects/${hidden}/milestones`, { title: 'unseen' })
    await ana.post(`/groups/${sub}/milestones`, { title: 'of sub' })
    const path = `/groups/${top}/milestones?include_descendants=true&per_page=100`
    expect(await listed(path)).toContain('unseen')
    const seen = await listed(path, guest)
    expect(seen).not.toContain('unseen')
    expect(seen).toContain('of sub')
    expect(await listed(`/groups/${top}/milestones`)).toEqual(['all'])
  })

  test('of a project reach up through all groups, and are narrowed there too', async () => {
    const path = `/projects/${below}/milestones?include_ancestors=true`
    const all = await listed(path)
    for (const title of ['all', 'of sub', 'both']) expect(all).toContain(title)
    expect(await listed(`${path}&title=all`)).toEqual(['all'])
    expect(await listed(`${path}&title=ALL`)).toEqual([])
    expect(await listed(`${path}&search=OF+S`)).toEqual(['of sub'])
    expect(await listed(`${path}&state=closed`)).toEqual([])
    expect((await ana.get(`${path}&state=open`)).status).toBe(400)
  })
})

describe('a closed milestone', () => {
  test('keeps what is planned for it, takes more, and opens again', async () => {
    const { body } = await ana.post(`/projects/${inside}/milestones`, { title: 'done' })
    const one = `/projects/${inside}/milestones/${body.id}`
    const issues = `/projects/${inside}/issues`
    await ana.post(issues, { title: 'before', milestone_id: body.id })
    expect((await ana.put(one, { state_event: 'close' })).body.state).toBe('closed')
    await ana.post(issues, { title: 'after', milestone_id: body.id })
    const { body: planned } = await ana.get(`${one}/issues?sort=asc`)
    expect(titlesOf(planned).sort()).toEqual(['after', 'before'])
    expect(planned[0].milestone.state).toBe('closed')
    // The state that it has already changes nothing, and sends no mail.
    const feed = async () =>
      (await ana.get(`/projects/${inside}/events?target_type=milestone`)).body.length
    const before = await feed()
    await ana.put(one, { state_event: 'close', title: 'all done' })
    expect(await feed()).toBe(before)
    expect((await ana.put(one, { state_event: 'activate' })).body).toMatchObject({
      state: 'active',
      title: 'all done',
    })
  })
})

test('a milestone of a private project is for its members', async () => {
  const id = await project('closed-house', top, { visibility: 'private' })
  const { body } = await ana.post(`/projects/${id}/milestones`, { title: 'x' })
  const one = `/projects/${id}/milestones/${body.id}`
  expect((await guest.get(one)).status).toBe(404)
  await addMember(world, id, guest.id, 10)
  expect((await guest.get(one)).body.title).toBe('x')
  expect((await guest.get(`/projects/${inside}/milestones/${body.id}`)).status).toBe(404)
})
