import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, npmPrograms, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { publishNpm } from './publishing.ts'

let world: World
let ana: Caller
let projectId: number
let programs: string
let root: string

beforeAll(async () => {
  programs = await npmPrograms('pnpm@9', 'yarn@1')
  world = await openReachableWorld()
  ana = await world.user('ana')
  const group = await createGroup(ana, 'acme')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  root = newFolder()
}, 120_000)
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

/** A folder with a package.json, and the registry of a place in its .npmrc. */
function folder(name: string, json: object, place: string): string {
  const path = join(root, name)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'package.json'), JSON.stringify(json))
  const host = `${world.url}/api/v4`.replace('http:', '')
  const lines = [
    `@acme:registry=${world.url}/api/v4${place}/packages/npm/`,
    `${host}/projects/${projectId}/packages/npm/:_authToken=${ana.token}`,
    `${host}${place}/packages/npm/:_authToken=${ana.token}`,
    'update-notifier=false',
    'fund=false',
    // It would ask the public registry.
    'audit=false',
  ]
  writeFileSync(join(path, '.npmrc'), `${lines.join('\n')}\n`)
  return path
}

const atProject = () => `/projects/${projectId}`

test('npm publishes, tags, deprecates, looks at and installs a package', async () => {
  const json = { name: '@acme/lib', version: '1.0.0', main: 'index.js' }
  const lib = folder('lib', json, atProject())
  writeFileSync(join(lib, 'index.js'), 'module.exports = 42\n')
  const npm = (...args: string[]) => client('npm', args, { cwd: lib })
  await npm('publish')
  await expect(npm('publish')).rejects.toThrow(/already exists|cannot publish over/i)
  // Deprecated from the beginning, the other afterwards.
  const next = { ...json, version: '1.1.0', deprecated: 'never use it' }
  writeFileSync(join(lib, 'package.json'), JSON.stringify(next))
  await npm('publish', '--tag', 'next')
  await npm('dist-tag', 'add', '@acme/lib@1.1.0', 'beta')
  expect(await npm('dist-tag', 'ls', '@acme/lib')).toContain('beta: 1.1.0')
  await npm('deprecate', '@acme/lib@1.0.0', 'use 1.1')
  const seen = await npm('view', '@acme/lib@>=1.0.0', 'version', 'deprecated', '--json')
  expect(JSON.parse(seen)).toEqual([
    { version: '1.0.0', deprecated: 'use 1.1' },
    { version: '1.1.0', deprecated: 'never use it' },
  ])
  const registry = `${world.url}/api/v4${atProject()}/packages/npm/`
  expect(await npm('whoami', '--registry', registry)).toContain('ana')
  const app = folder('app', { name: 'app', version: '1.0.0' }, atProject())
  await client('npm', ['install', '@acme/lib@beta'], { cwd: app })
  const installed = readFileSync(join(app, 'node_modules/@acme/lib/package.json'), 'utf8')
  expect(JSON.parse(installed).version).toBe('1.1.0')
  rmSync(join(app, 'node_modules'), { recursive: true })
  await client('npm', ['ci'], { cwd: app })
  expect(readFileSync(join(app, 'node_modules/@acme/lib/index.js'), 'utf8')).toContain('42')
}, 60_000)

test('npm unpublishes one version and all, where the package is', async () => {
  const place = `${atProject()}/packages`
  for (const version of ['1.0.0', '1.1.0'])
    expect((await publishNpm(ana, place, '@acme/gone', version)).status).toBe(200)
  const lib = folder('gone', { name: '@acme/gone', version: '1.0.0' }, atProject())
  const npm = (...args: string[]) => client('npm', args, { cwd: lib })
  await npm('unpublish', '@acme/gone@1.1.0')
  expect(await npm('view', '@acme/gone', 'versions', '--json')).not.toContain('1.1.0')
  const group = folder('by-group', { name: 'x', version: '1.0.0' }, '/groups/acme/-')
  await expect(
    client('npm', ['unpublish', '@acme/gone', '--force'], { cwd: group }),
  ).rejects.toThrow('Packages are unpublished at the registry of their project')
  await npm('unpublish', '@acme/gone', '--force')
  await expect(npm('view', '@acme/gone')).rejects.toThrow('E404')
}, 120_000)

test('npm shows why a version is refused', async () => {
  const wrong = folder('wrong', { name: '@acme/locked', version: '1.0.0' }, atProject())
  await ana.post(`/projects/${projectId}/packages/protection/rules`, {
    package_name_pattern: '@acme/locked',
    package_type: 'npm',
    minimum_access_level_for_push: 'admin',
  })
  await expect(client('npm', ['publish'], { cwd: wrong })).rejects.toThrow('Package protected.')
}, 30_000)

test('pnpm installs through the group, and yarn through the project', async () => {
  const byGroup = folder('by-pnpm', { name: 'a', version: '1.0.0' }, '/groups/acme/-')
  await client(join(programs, 'pnpm'), ['add', '@acme/lib@1.1.0'], { cwd: byGroup })
  const seen = readFileSync(join(byGroup, 'node_modules/@acme/lib/package.json'), 'utf8')
  expect(JSON.parse(seen).version).toBe('1.1.0')
  const byProject = folder('by-yarn', { name: 'b', version: '1.0.0' }, atProject())
  await client(join(programs, 'yarn'), ['add', '@acme/lib@1.0.0', '--non-interactive'], {
    cwd: byProject,
  })
  const other = readFileSync(join(byProject, 'node_modules/@acme/lib/package.json'), 'utf8')
  expect(JSON.parse(other).version).toBe('1.0.0')
}, 60_000)
