import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../../support/git-client.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
let folders: ClientFolders
let ana: Caller
let source: TestProject
let clone: string
let count = 0
let minutes = 0

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
})
beforeEach(async () => {
  count += 1
  // Else each half hour of a test would pull what the tests before have made as well.
  await world.ctx.db.deleteFrom('pull_mirrors').execute()
  source = await makeProject(world, ana, `source-${count}`)
  clone = await folders.repository()
  await gitClient(clone, ['remote', 'add', 'origin', source.url(ana)])
  await gitClient(clone, ['push', '-q', 'origin', 'main', 'main:refs/tags/v1'])
  await world.runTasks()
})
afterAll(() => folders.clear())

const refsIn = ({ repository }: TestProject) =>
  git(repository, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])
const tipOf = ({ repository }: TestProject, ref: string) => git(repository, ['rev-parse', ref])

async function follow(more: object = {}) {
  const copy = await makeProject(world, ana, `copy-${count}-${Math.random()}`)
  const path = `/projects/${copy.id}/mirror/pull`
  const made = await ana.put(path, { url: source.url(ana), enabled: true, ...more })
  expect(made.status).toBe(200)
  await world.runTasks()
  return { copy, path, shown: async () => (await ana.get(path)).body }
}

async function change(ref = 'main', ...options: string[]): Promise<void> {
  await commitFile(clone, `file-${Math.random()}`, 'x', 'Change')
  await gitClient(clone, ['push', '-q', ...options, 'origin', `HEAD:refs/heads/${ref}`])
}

async function halfAnHourLater(): Promise<void> {
  minutes += 31
  world.setNow(new Date(Date.parse('2026-05-04T10:00:00Z') + minutes * 60_000).toISOString())
  await world.runTasks()
  await world.runTasks()
}

test('a project takes what is there, at once and every half hour', async () => {
  const { copy, path, shown } = await follow()
  expect(refsIn(copy)).toBe(refsIn(source))
  expect(await shown()).toMatchObject({
    enabled: true,
    url: `${world.url.replace('//', '//*****:*****@')}/${source.path}.git`,
    update_status: 'finished',
    last_error: null,
    mirror_trigger_builds: false,
  })
  const project = (await ana.get(`/projects/${copy.id}`)).body
  expect(project).toMatchObject({ mirror: true, default_branch: 'main', empty_repo: false })
  await change()
  await gitClient(clone, ['push', '-q', '-f', 'origin', 'HEAD:refs/tags/v1', 'HEAD:refs/heads/new'])
  await halfAnHourLater()
  expect(refsIn(copy)).toBe(refsIn(source))
  expect((await ana.put(path, { enabled: false })).body.enabled).toBe(false)
  await change()
  await halfAnHourLater()
  expect(refsIn(copy)).not.toBe(refsIn(source))
  expect((await ana.post(path)).status).toBe(400)
})

test('only what is new is fetched', async () => {
  const { copy, path } = await follow()
  const packed = () => git(copy.repository, ['count-objects', '-v']).match(/in-pack: (\d+)/)?.[1]
  const before = Number(packed())
  await change()
  expect((await ana.post(path)).status).toBe(200)
  await world.runTasks()
  expect(tipOf(copy, 'main')).toBe(tipOf(source, 'main'))
  // A commit, its folder and its file, and what a delta of them is based on.
  expect(Number(packed()) - before).toBeLessThanOrEqual(4)
  expect(git(copy.repository, ['fsck', '--strict'])).toBe('')
})

test('a branch that has parted stays, or is overwritten where that is wished for', async () => {
  const kept = await follow()
  const overwritten = await follow({ mirror_overwrites_diverged_branches: true })
  await change('work')
  for (const { path } of [kept, overwritten]) await ana.post(path)
  await world.runTasks()
  const parted = tipOf(kept.copy, 'work')
  expect(parted).toBe(tipOf(source, 'work'))
  await gitClient(clone, ['reset', '-q', '--hard', 'HEAD~1'])
  await change('work', '-f')
  await change('side')
  for (const { path } of [kept, overwritten]) await ana.post(path)
  await world.runTasks()
  expect(tipOf(kept.copy, 'work')).toBe(parted)
  expect(tipOf(kept.copy, 'side')).toBe(tipOf(source, 'side'))
  expect(refsIn(overwritten.copy)).toBe(refsIn(source))
  expect(await kept.shown()).toMatchObject({ update_status: 'finished' })
})

test('branches are chosen, and what is gone over there stays here', async () => {
  const some = await follow({ mirror_branch_regex: '^release-' })
  const guarded = await follow({ only_mirror_protected_branches: true })
  await ana.post(`/projects/${guarded.copy.id}/protected_branches`, { name: 'main' })
  await change('release-1')
  for (const { path } of [some, guarded]) await ana.post(path)
  await world.runTasks()
  await gitClient(clone, ['push', '-q', 'origin', ':refs/heads/release-1'])
  await halfAnHourLater()
  const branches = ({ repository }: TestProject) =>
    git(repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']).split('\n')
  expect(branches(some.copy)).toEqual(['release-1'])
  expect(branches(guarded.copy)).toEqual(['main'])
})

test('pipelines run for what is pulled only where that is wished for', async () => {
  await commitFile(clone, '.svc-ci.yml', 'one:\n  script: make\n', 'Add a pipeline')
  await gitClient(clone, ['push', '-q', 'origin', 'HEAD:main'])
  const quiet = await follow()
  const busy = await follow({ mirror_trigger_builds: true })
  const ran = async ({ copy }: typeof busy) =>
    (await ana.get(`/projects/${copy.id}/pipelines`)).body.filter(
      (one: { status: string }) => one.status !== 'skipped',
    ).length
  expect([await ran(quiet), await ran(busy)]).toEqual([0, 1])
})

test('a server that says no is shown with its reason, and left alone after a while', async () => {
  const wrong = await follow({ auth_user: 'ana', auth_password: 'wrong-password' })
  const said = 'the other server wants a valid name and password'
  expect(await wrong.shown()).toMatchObject({ update_status: 'failed', last_error: said })
  expect(JSON.stringify(await wrong.shown())).not.toContain('wrong-password')
  // As after twelve tries: two more, and no third.
  await world.ctx.db.updateTable('pull_mirrors').set({ failures: 12 }).execute()
  const tried: string[] = [(await wrong.shown()).last_update_started_at]
  for (let times = 0; times < 3; times++) {
    await halfAnHourLater()
    tried.push((await wrong.shown()).last_update_started_at)
  }
  expect(new Set(tried.slice(0, 3)).size).toBe(3)
  expect(tried[3]).toBe(tried[2])
  const right = { auth_password: ana.token }
  expect((await ana.put(wrong.path, right)).status).toBe(200)
  await world.runTasks()
  expect(await wrong.shown()).toMatchObject({ update_status: 'finished', last_error: null })
})

test('a project that is made as a mirror follows where it came from', async () => {
  const { id } = await createProject(ana, `made-${count}`, {
    import_url: source.url(ana),
    mirror: true,
  })
  await world.runTasks()
  const path = `/projects/${id}/mirror/pull`
  expect((await ana.get(path)).body).toMatchObject({ enabled: true, update_status: 'finished' })
  await change()
  await halfAnHourLater()
  const branch = await ana.get(`/projects/${id}/repository/branches/main`)
  expect(branch.body.commit.id).toBe(tipOf(source, 'main'))
})

test('a project made as a mirror follows nothing where mirrors are kept to administrators', async () => {
  await world.root.put('/application/settings', { mirror_available: false })
  const { id } = await createProject(ana, `kept-${count}`, {
    import_url: source.url(ana),
    mirror: true,
  })
  await world.runTasks()
  expect((await ana.get(`/projects/${id}`)).body.import_status).toBe('finished')
  expect((await ana.get(`/projects/${id}/mirror/pull`)).status).toBe(404)
  await world.root.put('/application/settings', { mirror_available: true })
})

test('where mirrors are kept to administrators, a mirror is switched off by its maintainers, and on by none of them', async () => {
  const { copy } = await follow()
  const path = `/projects/${copy.id}`
  await world.root.put('/application/settings', { mirror_available: false })
  const kept = await ana.put(path, { mirror: true, description: 'on already' })
  expect(kept.body).toMatchObject({ mirror: true, description: 'on already' })
  expect((await ana.put(path, { mirror: false })).body.mirror).toBe(false)
  expect((await ana.put(path, { mirror: true })).status).toBe(403)
  expect((await world.root.put(path, { mirror: true })).body.mirror).toBe(true)
  await world.root.put('/application/settings', { mirror_available: true })
})

test('nothing is pulled in the name of somebody who may not change the project any more', async () => {
  const bea = await world.user(`bea-${count}`)
  const { copy, path, shown } = await follow()
  await ana.post(`/projects/${copy.id}/members`, { user_id: bea.id, access_level: 40 })
  expect((await bea.put(path, { only_mirror_protected_branches: false })).status).toBe(200)
  await world.runTasks()
  expect(await shown()).toMatchObject({ update_status: 'finished' })
  await world.root.post(`/users/${bea.id}/block`)
  await change()
  await halfAnHourLater()
  expect(tipOf(copy, 'main')).not.toBe(tipOf(source, 'main'))
  expect(await shown()).toMatchObject({
    update_status: 'failed',
    last_error: expect.stringContaining('may not change the project any more'),
  })
  expect((await ana.put(path, { enabled: true })).status).toBe(200)
  await world.runTasks()
  expect(tipOf(copy, 'main')).toBe(tipOf(source, 'main'))
})

test('who asks while the other server is asked is served afterwards', async () => {
  const held: ServerResponse[] = []
  const slow = createServer((_request, response) => held.push(response))
  await new Promise<void>((listens) => slow.listen(0, '127.0.0.1', listens))
  const { port } = slow.address() as AddressInfo
  const { id } = await makeProject(world, ana, `held-${count}`)
  const path = `/projects/${id}/mirror/pull`
  await ana.put(path, { url: `http://127.0.0.1:${port}/a.git`, enabled: true })
  const first = world.runTasks()
  await expect.poll(() => held.length).toBe(1)
  expect((await ana.post(path)).status).toBe(200)
  const second = world.runTasks()
  const waits = () =>
    world.ctx.db
      .selectFrom('tasks')
      .select('id')
      .where('name', '=', 'mirrors.pull')
      .where('state', '=', 'ready')
      .where('run_at', '>', world.ctx.now())
      .execute()
  await expect.poll(waits).toHaveLength(1)
  held[0]?.writeHead(404).end()
  await Promise.all([first, second])
  slow.closeAllConnections()
  slow.close()
})

test('addresses that nobody may ask are refused, and a project that follows nothing says so', async () => {
  const { id } = await makeProject(world, ana, `plain-${count}`)
  const path = `/projects/${id}/mirror/pull`
  expect((await ana.get(path)).status).toBe(404)
  expect((await ana.post(path)).status).toBe(400)
  expect((await ana.put(path, { enabled: true })).status).toBe(400)
  for (const url of ['ssh://git@example.com/a.git', 'http://10.0.0.1/a.git', 'nonsense'])
    expect((await ana.put(path, { url })).status).toBe(400)
})
