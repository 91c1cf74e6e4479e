import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { removeMarkedGroups } from '../../src/projects/groups/remove-group.ts'
import { removeMarked } from '../../src/projects/projects/removal/marked-task.ts'
import { openReceiver, type Receiver } from '../notifications/hooks/receiver.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let receiver: Receiver
let count = 0
beforeAll(async () => {
  receiver = await openReceiver()
  await world.root.post('/hooks', { url: receiver.url })
  await world.root.put('/application/settings', {
    delayed_project_removal: true,
    deletion_adjourned_period: 7,
  })
})
afterAll(() => receiver.close())
beforeEach(() => {
  world.setNow('2026-05-04T10:00:00.000Z')
})

async function made(kind: 'project' | 'group', more: Record<string, unknown> = {}) {
  count += 1
  const named = { name: `x${count}`, path: `x${count}`, ...more }
  const { status, body } = await ana.post(`/${kind}s`, named)
  expect([status, body.message]).toEqual([201, undefined])
  const full: string = body.path_with_namespace ?? body.full_path
  return { id: body.id as number, path: `/${kind}s/${body.id}`, full }
}

/** The work of the day that this instant is in. */
async function dayOf(instant: string) {
  world.setNow(instant)
  const { signal } = new AbortController()
  for (const task of [removeMarked, removeMarkedGroups]) await task.handler(world.ctx, {}, signal)
  await world.runTasks()
}

/** The audit events of a project or group, the newest last, without those of its creation. */
async function trail(path: string) {
  const { body } = await world.root.get(`${path}/audit_events?per_page=100`)
  return body
    .toReversed()
    .map((one: { event_name: string; author_id: number }) => [one.event_name, one.author_id])
    .filter(([name]: [string]) => /archived|marked|restored|deleted/.test(name))
}

describe.each(['project', 'group'] as const)('the state of a %s', (kind) => {
  test('is on the audit trail with who changed it', async () => {
    const { path } = await made(kind)
    await ana.post(`${path}/archive`)
    await world.root.post(`${path}/unarchive`)
    await ana.delete(path)
    await ana.post(`${path}/restore`)
    expect(await trail(path)).toEqual([
      [`${kind}_archived`, ana.id],
      [`${kind}_unarchived`, world.root.id],
      [`${kind}_marked_for_deletion`, ana.id],
      [`${kind}_restored`, ana.id],
    ])
  })

  test('changes when it says, and the record of it with it', async () => {
    const { path } = await made(kind)
    world.setNow('2026-05-04T11:00:00.000Z')
    await ana.delete(path)
    const row = await world.ctx.db
      .selectFrom(kind === 'project' ? 'projects' : 'namespaces')
      .select(['updated_at', 'marked_for_deletion_on'])
      .where('id', '=', Number(path.split('/')[2]))
      .executeTakeFirstOrThrow()
    expect(row).toEqual({
      updated_at: '2026-05-04T11:00:00.000Z',
      marked_for_deletion_on: '2026-05-04',
    })
    const stale = { headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:30:00 GMT' } }
    const refused = await ana.delete(path, undefined, stale)
    expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
  })

  test('that is marked is still read, found and written to until its day', async () => {
    const { path, full } = await made(kind)
    await ana.delete(path)
    expect((await ana.get(`/${kind}s/${encodeURIComponent(full)}`)).status).toBe(200)
    expect((await ana.get(`/${kind}s?search=${full.split('/').at(-1)}`)).body).toHaveLength(1)
    expect((await ana.put(path, { description: 'not yet' })).status).toBe(200)
    await dayOf('2026-05-10T23:59:59.000Z')
    expect((await ana.get(path)).status).toBe(200)
    await dayOf('2026-05-11T00:00:01.000Z')
    expect((await ana.get(path)).status).toBe(404)
  })

  test('that is marked twice, restored twice, or hurried without a mark is refused', async () => {
    const { path, full } = await made(kind)
    const noun = kind === 'project' ? 'Project' : 'Group'
    const hurried = `${path}?permanently_remove=true&full_path=${encodeURIComponent(full)}`
    const early = await ana.delete(hurried)
    expect([early.status, early.body]).toEqual([
      400,
      { message: `400 Bad request - ${noun} must be marked for deletion first.` },
    ])
    const unmarked = await ana.post(`${path}/restore`)
    expect([unmarked.status, unmarked.body]).toEqual([
      400,
      { message: `400 Bad request - ${noun} has not been marked for deletion` },
    ])
    await ana.delete(path)
    expect((await ana.delete(path)).status).toBe(400)
    const wrong = await ana.delete(`${path}?permanently_remove=true`)
    expect([wrong.status, wrong.body.message]).toEqual([
      400,
      expect.stringContaining('`full_path` is incorrect'),
    ])
    expect((await ana.delete(hurried)).status).toBe(202)
    expect((await ana.get(path)).status).toBe(404)
  })

  test.each(['archive', 'unarchive', 'restore'])('is for owners: %s', async (verb) => {
    const { path } = await made(kind, { visibility: 'public' })
    await ana.post(`${path}/members`, { user_id: ben.id, access_level: 40 })
    expect((await ben.post(`${path}/${verb}`)).status).toBe(403)
    expect((await world.nobody.post(`${path}/${verb}`)).status).toBe(401)
    expect((await ben.delete(path)).status).toBe(403)
    expect((await world.nobody.delete(path)).status).toBe(401)
    expect(await trail(path)).toEqual([])
  })
})

test('hooks of the instance are called when a project is archived, marked and restored', async () => {
  const { id, path } = await made('project')
  await world.runTasks()
  receiver.received.length = 0
  await ana.post(`${path}/archive`)
  await ana.post(`${path}/unarchive`)
  await ana.delete(path)
  await ana.post(`${path}/restore`)
  await world.runTasks()
  const sent = receiver.received.map(({ body }) => [body.event_name, body.project_id])
  expect(sent).toEqual(Array(4).fill(['project_update', id]))
})

test('a project below a marked group can be restored with it, and goes with it', async () => {
  const top = await made('group')
  const inside = await made('project', { namespace_id: top.id })
  await ana.delete(top.path)
  expect((await ana.get(inside.path)).body.marked_for_deletion_on).toBeNull()
  await ana.post(`${top.path}/restore`)
  expect((await ana.get(inside.path)).status).toBe(200)
  await ana.delete(top.path)
  await dayOf('2026-05-11T00:00:01.000Z')
  expect((await ana.get(inside.path)).status).toBe(404)
  expect(await world.ctx.git.exists(inside.id)).toBe(false)
})

test('of many deletions at the same time each is answered with 202 or 400, and the project is marked once', async () => {
  const { path } = await made('project')
  const replies = await Promise.all(Array.from({ length: 8 }, () => ana.delete(path)))
  const statuses = replies.map((reply) => reply.status)
  expect(statuses).toContain(202)
  expect(statuses.filter((status) => status !== 202 && status !== 400)).toEqual([])
  expect((await ana.get(path)).body.marked_for_deletion_on).toBe('2026-05-04')
})
