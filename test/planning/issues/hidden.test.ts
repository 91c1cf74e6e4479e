import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')
const planner = useCaller(world, 'planner')
const other = useCaller(world, 'other')
let project: number
let issues: string

beforeAll(async () => {
  project = (await createProject(ana, 'secrets', { visibility: 'public' })).id
  issues = `/projects/${project}/issues`
  await addMember(world, project, guest.id, 10)
  await addMember(world, project, planner.id, 15)
})

/** Everything that is below an issue and can be read. */
const reads = [
  '',
  '/notes',
  '/discussions',
  '/award_emoji',
  '/links',
  '/participants',
  '/closed_by',
  '/related_merge_requests',
  '/time_stats',
  '/resource_label_events',
  '/resource_milestone_events',
  '/resource_state_events',
  '/resource_weight_events',
  '/resource_iteration_events',
  '/metric_images',
]

/** Everything that may be done to an issue. */
const writes: readonly (readonly ['post' | 'put' | 'delete', string, object])[] = [
  ['put', '', { title: 'x' }],
  ['post', '/notes', { body: 'x' }],
  ['post', '/discussions', { body: 'x' }],
  ['post', '/award_emoji', { name: 'eyes' }],
  ['post', '/subscribe', {}],
  ['post', '/unsubscribe', {}],
  ['post', '/todo', {}],
  ['post', '/time_estimate', { duration: '1h' }],
  ['post', '/add_spent_time', { duration: '1h' }],
  ['post', '/reset_spent_time', {}],
  ['post', '/move', { to_project_id: 1 }],
  ['post', '/clone', { to_project_id: 1 }],
  ['put', '/reorder', { move_after_id: 1 }],
  ['delete', '', {}],
]

async function statusesOf(who: Caller, one: string): Promise<number[]> {
  const found: number[] = []
  for (const path of reads) found.push((await who.get(`${one}${path}`)).status)
  for (const [method, path, body] of writes)
    found.push((await who[method](`${one}${path}`, body)).status)
  return [...new Set(found)]
}

describe('a confidential issue', () => {
  let one: string
  let iid: number

  beforeAll(async () => {
    const secret = { title: 'secret plan', confidential: true, labels: 'hush' }
    iid = (await ana.post(issues, secret)).body.iid
    one = `${issues}/${iid}`
    await ana.post(`${one}/notes`, { body: 'secret words' })
  })

  test('is not there for guests and others, whatever they ask of it', async () => {
    for (const who of [guest, other]) expect(await statusesOf(who, one)).toEqual([404])
    // Strangers are asked to sign in first.
    const anonymous = await statusesOf(world.nobody, one)
    expect(anonymous.filter((status) => status !== 401)).toEqual([404])
  })

  test('shows nowhere for them: lists, counts, feeds, search, boards and labels', async () => {
    for (const path of [
      issues,
      `${issues}?labels=hush`,
      '/issues?scope=all',
      `/projects/${project}/events`,
      `/projects/${project}/search?scope=issues&search=secret`,
      `/projects/${project}/search?scope=notes&search=secret`,
      '/search?scope=issues&search=secret',
    ]) {
      const { status, body } = await guest.get(path)
      expect([path, status, JSON.stringify(body).includes('secret')]).toEqual([path, 200, false])
    }
    const counted = await guest.get(`/projects/${project}/issues_statistics`)
    expect(counted.body.statistics.counts.all).toBe(0)
    const labels = await guest.get(`/projects/${project}/labels?with_counts=true`)
    expect(labels.body).toMatchObject([{ name: 'hush', open_issues_count: 0 }])
    const text = `#${iid}`
    const given = { text, gfm: true, project: 'ana/secrets' }
    expect((await guest.post('/markdown', given)).body.html).toBe(`<p>${text}</p>\n`)
  })

  test('is there for planners, and for whoever it is assigned to as long as it is', async () => {
    expect((await planner.get(one)).status).toBe(200)
    await ana.put(one, { assignee_ids: [guest.id] })
    // Pictures of measurements are for incidents alone.
    for (const path of reads.filter((one) => one !== '/metric_images')) {
      expect([path, (await guest.get(`${one}${path}`)).status]).toEqual([path, 200])
    }
    expect((await guest.get(issues)).body).toHaveLength(1)
    await ana.put(one, { assignee_ids: [] })
    expect((await guest.get(one)).status).toBe(404)
  })

  test('of a guest is theirs to see, and to open up', async () => {
    const { body } = await guest.post(issues, { title: 'of a guest', confidential: true })
    const own = `${issues}/${body.iid}`
    expect((await guest.get(own)).status).toBe(200)
    expect((await other.get(own)).status).toBe(404)
    expect((await guest.put(own, { confidential: false })).status).toBe(200)
    expect((await other.get(own)).status).toBe(200)
    expect((await other.put(own, { confidential: true })).status).toBe(403)
  })
})

describe('issues of a project', () => {
  let one: string

  beforeAll(async () => {
    const { body } = await ana.post(issues, { title: 'plain' })
    one = `${issues}/${body.iid}`
  })

  const level = (issues_access_level: string) =>
    ana.put(`/projects/${project}`, { issues_access_level })

  test('that are for members are hidden from others', async () => {
    await level('private')
    expect((await other.get(issues)).status).toBeGreaterThanOrEqual(403)
    expect((await other.post(issues, { title: 'x' })).status).toBeGreaterThanOrEqual(403)
    expect((await statusesOf(other, one)).every((status) => status === 403 || status === 404)).toBe(
      true,
    )
    expect((await guest.get(one)).status).toBe(200)
    expect((await other.get('/issues?scope=all')).body).toEqual([])
    await level('enabled')
    expect((await other.get(one)).status).toBe(200)
  })

  test('that are switched off are there for nobody, and come back as they were', async () => {
    await level('disabled')
    for (const who of [ana, planner, guest, other]) {
      for (const path of [issues, one, `${one}/notes`, `/projects/${project}/boards`]) {
        const { status } = await who.get(path)
        expect([path, status === 403 || status === 404]).toEqual([path, true])
      }
      expect((await who.get('/issues?scope=all')).body).toEqual([])
    }
    expect((await ana.post(issues, { title: 'x' })).status).toBeGreaterThanOrEqual(403)
    await level('enabled')
    expect((await ana.get(one)).body.title).toBe('plain')
  })

  test('of a project that is being deleted are gone from every list', async () => {
    const gone = await createProject(ana, 'gone')
    await ana.post(`/projects/${gone.id}/issues`, { title: 'goes' })
    await guest.post('/todos/mark_as_done')
    await addMember(world, gone.id, guest.id, 10)
    await guest.post(`/projects/${gone.id}/issues/1/todo`)
    expect((await guest.get('/todos')).body).toHaveLength(1)
    expect((await ana.delete(`/projects/${gone.id}`)).status).toBe(202)
    const titles = (await ana.get('/issues')).body.map((issue: { title: string }) => issue.title)
    expect(titles).not.toContain('goes')
    expect((await guest.get('/todos')).body).toEqual([])
    expect(JSON.stringify((await ana.get('/events')).body)).not.toContain('goes')
  })
})
