import { afterAll, beforeAll, expect, test } from 'vitest'
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
let project: TestProject
let clone: string
let mirrors: string
/** Minutes that the clock has gone on. */
let minutes = 0

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'demo')
  clone = await folders.repository()
  await gitClient(clone, ['push', '-q', project.url(ana), 'main', 'main:refs/tags/v1'])
  mirrors = `/projects/${project.id}/remote_mirrors`
})
afterAll(() => folders.clear())

const refsIn = ({ repository }: TestProject) =>
  git(repository, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'])

/** Background work, and what waits for the next minute. */
async function afterMinutes(some = 2): Promise<void> {
  await world.runTasks()
  minutes += some
  world.setNow(new Date(Date.parse('2026-05-04T10:00:00Z') + minutes * 60_000).toISOString())
  await world.runTasks()
}

async function push(...refspecs: string[]): Promise<void> {
  await gitClient(clone, ['push', '-q', '-f', project.url(ana), ...refspecs])
}

async function addMirror(name: string, more: object = {}) {
  const target = await makeProject(world, ana, name)
  const made = await ana.post(mirrors, { url: target.url(ana), enabled: true, ...more })
  expect(made.status).toBe(201)
  const shown = async () => (await ana.get(`${mirrors}/${made.body.id}`)).body
  return { target, id: made.body.id, shown, path: `${mirrors}/${made.body.id}` }
}

test('a mirror is pushed to when it is added, and after every push', async () => {
  const { target, shown, path } = await addMirror('copy')
  expect(await shown()).toMatchObject({
    url: `${world.url.replace('//', '//*****:*****@')}/ana/copy.git`,
    update_status: 'none',
    last_error: null,
    only_protected_branches: false,
  })
  await afterMinutes()
  expect(await shown()).toMatchObject({ update_status: 'finished', last_error: null })
  expect(refsIn(target)).toBe(refsIn(project))
  await commitFile(clone, 'more', '1', 'Add')
  await push('HEAD:main', 'HEAD:refs/heads/side')
  await afterMinutes()
  expect(refsIn(target)).toBe(refsIn(project))
  expect((await ana.get(mirrors)).body).toHaveLength(1)
  expect((await ana.delete(path)).status).toBe(204)
  expect((await ana.get(mirrors)).body).toEqual([])
})

test('what was merged and deleted here is deleted there, and nothing else', async () => {
  const { target, path } = await addMirror('pruned')
  await push('main:refs/heads/merged')
  await afterMinutes()
  await gitClient(clone, ['checkout', '-q', '-b', 'theirs'])
  await commitFile(clone, 'theirs', '1', 'Add')
  await gitClient(clone, ['push', '-q', target.url(ana), 'theirs'])
  await gitClient(clone, ['checkout', '-q', 'main'])
  await push(':refs/heads/merged')
  await afterMinutes()
  const names = refsIn(target)
    .split('\n')
    .map((line) => line.split(' ')[0])
  expect(names).toContain('refs/heads/theirs')
  expect(names).not.toContain('refs/heads/merged')
  await ana.delete(path)
})

test('a history that has parted is overwritten, or kept and said', async () => {
  const forced = await addMirror('forced')
  const kept = await addMirror('kept', { keep_divergent_refs: true })
  await afterMinutes()
  await gitClient(clone, ['checkout', '-q', '--detach', 'main'])
  await commitFile(clone, 'elsewhere', '1', 'Add')
  for (const { target } of [forced, kept])
    await gitClient(clone, ['push', '-q', target.url(ana), 'HEAD:refs/heads/side'])
  await gitClient(clone, ['checkout', '-q', 'main'])
  await commitFile(clone, 'here', '1', 'Add')
  await push('main', 'main:refs/heads/side')
  await afterMinutes()
  expect(refsIn(forced.target)).toBe(refsIn(project))
  expect(refsIn(kept.target)).not.toBe(refsIn(project))
  const { last_error: error, update_status: status } = await kept.shown()
  expect(status).toBe('failed')
  expect(error).toContain('Some refs have diverged')
  expect(error).toContain('refs/heads/side')
  const main = (one: TestProject) => git(one.repository, ['rev-parse', 'main'])
  expect(main(kept.target)).toBe(main(project))
  for (const { path } of [forced, kept]) await ana.delete(path)
})

test('only some branches are pushed, where that is asked for', async () => {
  await push('main:refs/heads/release-1', 'main:refs/heads/other')
  await ana.post(`/projects/${project.id}/protected_branches`, { name: 'release-*' })
  const guarded = await addMirror('guarded', { only_protected_branches: true })
  const matching = await addMirror('matching', { mirror_branch_regex: '^o' })
  await afterMinutes()
  const branches = ({ repository }: TestProject) =>
    git(repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']).split('\n')
  expect(branches(guarded.target)).toEqual(['main', 'release-1'])
  expect(branches(matching.target)).toEqual(['other'])
  const changed = await ana.put(matching.path, { only_protected_branches: true })
  expect(changed.body).toMatchObject({ mirror_branch_regex: null, only_protected_branches: true })
  for (const { path } of [guarded, matching]) await ana.delete(path)
})

test('a server that cannot be pushed to is tried again, and shows why', async () => {
  const target = await makeProject(world, ana, 'closed')
  const url = target.url(ana).replace(/:[^:@]+@/, ':wrong-password@')
  const { body } = await ana.post(mirrors, { url, enabled: true })
  const shown = async () => (await ana.get(`${mirrors}/${body.id}`)).body
  await afterMinutes(0)
  expect(await shown()).toMatchObject({
    update_status: 'to_retry',
    last_error: 'the other server wants a valid name and password',
    last_successful_update_at: null,
  })
  for (const wait of [2, 11, 61]) await afterMinutes(wait)
  expect(await shown()).toMatchObject({ update_status: 'failed' })
  expect(JSON.stringify(await shown())).not.toContain('wrong-password')
  await ana.delete(`${mirrors}/${body.id}`)
})

test('a mirror is pushed to when somebody asks, unless it is off', async () => {
  const { target, path } = await addMirror('asked', { enabled: false })
  await afterMinutes()
  expect(refsIn(target)).toBe('')
  expect((await ana.post(`${path}/sync`)).status).toBe(400)
  expect((await ana.put(path, { enabled: true })).body.enabled).toBe(true)
  expect((await ana.post(`${path}/sync`)).status).toBe(204)
  await world.runTasks()
  expect(refsIn(target)).toBe(refsIn(project))
  await ana.delete(path)
})

test('addresses that nobody may ask are refused, and so is an eleventh mirror', async () => {
  for (const url of ['ssh://git@example.com/a.git', 'http://10.0.0.1/a.git', 'nonsense'])
    expect((await ana.post(mirrors, { url })).status).toBe(400)
  expect(
    (await ana.post(mirrors, { url: 'https://example.com/a.git', mirror_branch_regex: '(' }))
      .status,
  ).toBe(400)
  for (let count = 0; count < 10; count++)
    expect((await ana.post(mirrors, { url: 'https://example.com/a.git' })).status).toBe(201)
  expect((await ana.post(mirrors, { url: 'https://example.com/a.git' })).status).toBe(400)
})

test('an instance may keep mirrors to its administrators', async () => {
  const other = await makeProject(world, ana, 'other')
  const path = `/projects/${other.id}/remote_mirrors`
  await world.root.put('/application/settings', { mirror_available: false })
  expect((await ana.post(path, { url: 'https://example.com/a.git' })).status).toBe(403)
  expect((await world.root.post(path, { url: 'https://example.com/a.git' })).status).toBe(201)
  await world.root.put('/application/settings', { mirror_available: true })
})
