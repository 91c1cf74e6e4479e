import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { deactivateDormant } from '../../../src/identity/users/tasks.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { gitBytes } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let before: Record<string, unknown>
let changed: string[] = []

beforeAll(async () => {
  before = (await world.root.get('/application/settings')).body
})
afterEach(async () => {
  world.setNow('2026-05-04T10:00:00.000Z')
  await set(Object.fromEntries(changed.map((name) => [name, before[name]])))
  changed = []
})

async function set(values: Record<string, unknown>): Promise<void> {
  changed.push(...Object.keys(values))
  expect((await world.root.put('/application/settings', values)).status).toBe(200)
}

async function stateOf(user: Caller): Promise<string> {
  return (await world.root.get(`/users/${user.id}`)).body.state
}

const sweep = () => deactivateDormant.handler(world.ctx, {}, new AbortController().signal)

test('people who do nothing for long are deactivated where administrators want it', async () => {
  const never = await world.user('never')
  const away = await world.user('away')
  const busy = await world.user('busy')
  world.setNow('2026-05-05T10:00:00.000Z')
  expect((await away.get('/user')).status).toBe(200)
  world.setNow('2026-07-30T10:00:00.000Z')
  for (const one of [busy, ana]) expect((await one.get('/user')).status).toBe(200)
  const young = await world.user('young')

  world.setNow('2026-08-04T10:00:00.000Z')
  await sweep()
  expect(await stateOf(away)).toBe('active')

  await set({ deactivate_dormant_users: true, deactivate_dormant_users_period: 90 })
  await sweep()
  expect(await Promise.all([never, away, busy, young].map(stateOf))).toEqual([
    'deactivated',
    'deactivated',
    'active',
    'active',
  ])
  // A second look finds nobody, and who came back is left alone.
  expect((await world.root.post(`/users/${away.id}/activate`)).status).toBe(201)
  expect((await away.get('/user')).status).toBe(200)
  await sweep()
  expect(await stateOf(away)).toBe('active')
  await set({ deactivate_dormant_users: false })
})

test('estimated and spent time is shown in hours where a setting says so', async () => {
  const { id } = await createProject(ana, 'timed')
  await ana.post(`/projects/${id}/issues`, { title: 'One' })
  const at = `/projects/${id}/issues/1`
  await ana.post(`${at}/time_estimate`, { duration: '1mo 2d 3h' })
  await ana.post(`${at}/add_spent_time`, { duration: '1w 30m' })
  const times = async () => {
    const { body } = await ana.get(`${at}/time_stats`)
    return [body.human_time_estimate, body.human_total_time_spent]
  }
  expect(await times()).toEqual(['1mo 2d 3h', '1w 30m'])
  await set({ time_tracking_limit_to_hours: true })
  expect(await times()).toEqual(['179h', '40h 30m'])
  expect((await ana.get(at)).body.time_stats).toMatchObject({
    time_estimate: 644_400,
    human_time_estimate: '179h',
  })
  await ana.post(`${at}/time_estimate`, { duration: '2d' })
  const notes = (await ana.get(`${at}/notes?sort=desc`)).body
  expect(notes[0].body).toBe('changed time estimate to 16h')
  // Days may still be written.
  expect((await ana.get(`${at}/time_stats`)).body.time_estimate).toBe(57_600)
})

test('some may comment as much as they like where comments are limited', async () => {
  const dev = await world.user('dev')
  const { id } = await createProject(ana, 'talk', { visibility: 'public' })
  await ana.post(`/projects/${id}/issues`, { title: 'One' })
  await set({ notes_create_limit: 1, notes_create_limit_allowlist: ['dev'] })
  const note = async (who: Caller) =>
    (await who.post(`/projects/${id}/issues/1/notes`, { body: 'x' })).status
  expect([await note(dev), await note(dev), await note(dev)]).toEqual([201, 201, 201])
  expect([await note(ana), await note(ana)]).toEqual([201, 429])
})

async function exported(project: TestProject): Promise<Blob> {
  const path = `/projects/${project.id}/export`
  expect((await ana.post(path)).status).toBe(202)
  await world.runTasks()
  const reply = await fetch(`${world.url}/api/v4${path}/download`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
  })
  expect(reply.status).toBe(200)
  return await reply.blob()
}

test('archives of projects and groups come in no larger than administrators allow', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'packed' })
  const archive = await exported(project)
  const large = new Blob([new Uint8Array(1024 * 1024 + 1)])
  const send = (path: string, file: Blob) => {
    const raw = new FormData()
    raw.set('path', `in-${Math.random().toString(36).slice(2)}`)
    raw.set('name', 'In')
    raw.set('file', file, 'export.tar.gz')
    return ana.post(path, undefined, { raw })
  }
  await set({ max_import_size: 1 })
  expect((await send('/projects/import', archive)).status).toBe(201)
  expect((await send('/projects/import', large)).status).toBe(413)
  expect((await send('/groups/import', large)).status).toBe(413)
})

test('exports and imports are begun as often in a minute as administrators allow', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'often' })
  const group = await createGroup(ana, 'often')
  const file = () => {
    const raw = new FormData()
    raw.set('path', 'often-in')
    raw.set('name', 'In')
    raw.set('file', new Blob(['none']), 'export.tar.gz')
    return { raw }
  }
  const limited: [string, () => Promise<{ status: number }>, number][] = [
    ['project_export_limit', () => ana.post(`/projects/${project.id}/export`), 202],
    ['group_export_limit', () => ana.post(`/groups/${group.id}/export`), 202],
    ['group_import_limit', () => ana.post('/groups/import', undefined, file()), 400],
    ['project_import_limit', () => ana.post('/projects/import', undefined, file()), 400],
  ]
  // Later than what other tests have sent.
  world.setNow('2026-05-04T12:00:00.000Z')
  await set(Object.fromEntries(limited.map(([name]) => [name, 1])))
  await createProject(ana, 'often-in')
  for (const [name, begin, first] of limited) {
    expect([(await begin()).status, (await begin()).status], name).toEqual([first, 429])
  }
})

test('an export larger than administrators allow fails, and nothing of it is there', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'too-large' })
  // Bytes that do not pack.
  const made = await ana.post(`/projects/${project.id}/repository/files/large`, {
    branch: 'main',
    content: randomBytes(1_500_000).toString('base64'),
    encoding: 'base64',
    commit_message: 'Large',
  })
  expect(made.status).toBe(201)
  await set({ max_export_size: 1 })
  expect((await ana.post(`/projects/${project.id}/export`)).status).toBe(202)
  for (const minutes of [0, 5, 10, 30]) {
    world.setNow(`2026-05-04T10:${String(minutes).padStart(2, '0')}:00.000Z`)
    await world.runTasks()
  }
  const { body } = await ana.get(`/projects/${project.id}/export`)
  expect(body.export_status).toBe('none')
  expect((await ana.get(`/projects/${project.id}/export/download`)).status).toBe(404)
})

test('tokens for images last as long as administrators want', async () => {
  const ask = () => world.nobody.get('/jwt/auth?service=container_registry', { host: true })
  expect((await ask()).body.expires_in).toBe(900)
  await set({ container_registry_token_expire_delay: 5 })
  expect((await ask()).body.expires_in).toBe(300)
  const never = await world.root.put('/application/settings', {
    container_registry_token_expire_delay: 0,
  })
  expect(never.status).toBe(400)
})

test('repositories are left as they are while housekeeping is off', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'kept' })
  const tip = project.git('rev-parse', 'main').trim()
  // One program: sixty hold the server up for longer than idle connections are kept.
  const refs = Array.from({ length: 60 }, (_, n) => `create refs/tags/t-${n} ${tip}\n`)
  gitBytes(project.path, ['update-ref', '--stdin'], { input: refs.join('') })
  const isPacked = () => existsSync(join(project.path, 'packed-refs'))
  const pushed = async (name: string, now: string) => {
    await ana.post(`/projects/${project.id}/repository/files/${name}`, {
      branch: 'main',
      content: 'x',
      commit_message: 'Push',
    })
    world.setNow(now)
    await world.runTasks()
  }
  await set({ housekeeping_enabled: false })
  const was = isPacked()
  await pushed('one', '2026-05-04T12:00:00.000Z')
  expect(isPacked()).toBe(was)
  expect(was).toBe(false)
  await set({ housekeeping_enabled: true })
  await pushed('two', '2026-05-04T14:00:00.000Z')
  expect(isPacked()).toBe(true)
})
