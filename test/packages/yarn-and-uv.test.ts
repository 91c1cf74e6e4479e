import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import {
  client,
  npmPrograms,
  openReachableWorld,
  pythonPrograms,
} from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { zipOf } from './zip-file.ts'

let world: World
let ana: Caller
let at: string
let yarn: string
let python: string
let root: string

beforeAll(async () => {
  const programs = await npmPrograms('@yarnpkg/cli-dist@4')
  yarn = join(programs, 'yarn')
  python = await pythonPrograms('twine<6.2', 'uv', 'setuptools', 'wheel')
  world = await openReachableWorld()
  ana = await world.user('ana')
  const group = await createGroup(ana, 'acme')
  const id = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${id}/packages`
  root = newFolder()
}, 180_000)
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

function folder(name: string, json: object, place: string): string {
  const path = join(root, name)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'package.json'), JSON.stringify(json))
  writeFileSync(join(path, 'yarn.lock'), '')
  const registry = `${world.url}/api/v4${place}`
  writeFileSync(
    join(path, '.yarnrc.yml'),
    `nodeLinker: node-modules
enableTelemetry: false
enableGlobalCache: false
unsafeHttpWhitelist: ['127.0.0.1']
npmScopes:
  acme:
    npmRegistryServer: "${registry}"
    npmPublishRegistry: "${registry}"
    npmAlwaysAuth: true
    npmAuthToken: "${ana.token}"
`,
  )
  return path
}

test('yarn 4 publishes and tags what it then installs through the group', async () => {
  const packageManager = 'yarn@4.0.0'
  const json = { name: '@acme/berry', version: '1.0.0', main: 'index.js', packageManager }
  const lib = folder('lib', json, `${at}/npm`)
  writeFileSync(join(lib, 'index.js'), 'module.exports = 42\n')
  const run = (cwd: string, ...args: string[]) =>
    client(process.execPath, [yarn, ...args], {
      cwd,
      // Where CI is set, an install may not write the lock file that there is none of yet.
      env: { YARN_IGNORE_PATH: '1', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' },
    })
  await run(lib, 'install')
  await run(lib, 'npm', 'publish')
  const again = await run(lib, 'npm', 'publish', '--tolerate-republish')
  expect(again).toContain('Registry already knows about version 1.0.0')
  await run(lib, 'npm', 'tag', 'add', '@acme/berry@1.0.0', 'stable')
  const app = folder('app', { name: 'app', packageManager }, '/groups/acme/-/packages/npm')
  await run(app, 'add', '@acme/berry@stable')
  expect(readFileSync(join(app, 'node_modules/@acme/berry/index.js'), 'utf8')).toContain('42')
}, 300_000)

test('uv publishes what it then installs, and passes over what is there already', async () => {
  const info = 'from_uv-1.0.dist-info'
  const wheel = await zipOf({
    'from_uv.py': 'answer = 42\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: from-uv\nVersion: 1.0\n',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `from_uv.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  })
  const file = join(root, 'from_uv-1.0-py3-none-any.whl')
  writeFileSync(file, wheel)
  const url = `${world.url}/api/v4${at}/pypi`
  const uv = (...args: string[]) =>
    client(join(python, 'bin', 'uv'), args, {
      cwd: root,
      env: {
        PYTHONPATH: python,
        UV_PUBLISH_USERNAME: 'any',
        UV_PUBLISH_PASSWORD: String(ana.token),
        UV_KEYRING_PROVIDER: 'disabled',
      },
    })
  await uv('publish', '--publish-url', url, file)
  const index = `${url.replace('//', `//any:${ana.token}@`)}/simple`
  const again = await uv('publish', '--publish-url', url, '--check-url', `${index}/`, file)
  expect(again).toMatch(/already exists|skipping/i)
  await uv(
    'pip',
    'install',
    '--no-cache',
    '--target',
    join(root, 'by-uv'),
    '--index-url',
    index,
    'from-uv',
  )
  expect(readFileSync(join(root, 'by-uv', 'from_uv.py'), 'utf8')).toContain('42')
}, 300_000)
