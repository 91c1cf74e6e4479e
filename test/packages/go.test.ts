import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'

let world: World
let ana: Caller
let project: { id: number }
let at: string
let root: string
const NAME = '127.0.0.1/ana/tool'

beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  project = await createProject(ana, 'tool', { visibility: 'public' })
  at = `/projects/${project.id}/packages/go`
  root = newFolder()
  mkdirSync(root, { recursive: true })
  await commit('one', {
    'go.mod': `module ${NAME}\n\ngo 1.20\n`,
    'tool.go': 'package tool\n\nfunc Answer() int { return 42 }\n',
    'nested/go.mod': `module ${NAME}/nested\n`,
    'nested/n.go': 'package nested\n',
  })
  await tag('v1.0.0')
  await tag('v1.1.0-rc.1')
  await tag('not-a-version')
  await commit('two', { 'go.mod': `module ${NAME}/v2\n\ngo 1.20\n` }, 'update')
  await tag('v2.0.0')
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

async function commit(
  message: string,
  files: Readonly<Record<string, string>>,
  action = 'create',
  branch = 'main',
) {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action,
    file_path,
    content,
  }))
  const start = branch === 'main' ? {} : { start_branch: 'main' }
  const body = { branch, ...start, commit_message: message, actions }
  const answer = await ana.post(`/projects/${project.id}/repository/commits`, body)
  expect(answer.status).toBe(201)
}

const tag = (name: string) =>
  ana.post(`/projects/${project.id}/repository/tags?tag_name=${name}&ref=main`)

test('the go command gets a module through the proxy, and builds with it', async () => {
  const folder = join(root, 'app')
  mkdirSync(folder)
  writeFileSync(join(folder, 'go.mod'), 'module example.com/app\n\ngo 1.20\n')
  writeFileSync(
    join(folder, 'main.go'),
    `package main\n\nimport "${NAME}"\n\nfunc main() { println(tool.Answer()) }\n`,
  )
  const env = {
    GOPROXY: `${world.url}/api/v4${at}`,
    GONOSUMDB: '*',
    GONOSUMCHECK: '1',
    GOFLAGS: '-mod=mod -modcacherw',
    GOTOOLCHAIN: 'local',
    GOPATH: join(root, 'gopath'),
    // What the standard library is compiled to is the same for all.
    GOCACHE: join(homedir(), '.cache', 'go-build'),
  }
  const go = (...args: string[]) => client('go', args, { cwd: folder, env })
  await go('get', `${NAME}@latest`)
  expect(await go('list', '-m', '-versions', NAME)).toContain('v1.0.0')
  expect(await go('list', '-m', NAME)).toContain('v1.0.0')
  expect(await go('run', '.')).toContain('42')
  await go('get', `${NAME}/v2@v2.0.0`)
  expect(await go('list', '-m', `${NAME}/v2`)).toContain('v2.0.0')
  // A branch is what comes after the version in its history; the go command goes up to it.
  await commit('branched', { 'branched.go': 'package tool\n' }, 'create', 'next')
  await go('get', `${NAME}/v2@next`)
  expect(await go('list', '-m', `${NAME}/v2`)).toMatch(/v2\.0\.1-0\.\d{14}-[0-9a-f]{12}/)
}, 180_000)

test('versions are the tags whose go.mod is the module’s', async () => {
  const list = await world.nobody.get(`${at}/${NAME}/@v/list`)
  expect([list.status, list.body]).toEqual([200, 'v1.0.0\nv1.1.0-rc.1\n'])
  expect((await ana.get(`${at}/${NAME}/v2/@v/list`)).body).toBe('v2.0.0\n')
  expect((await ana.get(`${at}/${NAME}/nested/@v/list`)).body).toContain('v1.0.0')
  const info = (await ana.get(`${at}/${NAME}/@v/v1.0.0.info`)).body
  expect(info).toMatchObject({ Version: 'v1.0.0', Time: expect.stringMatching(/Z$/) })
  expect((await ana.get(`${at}/${NAME}/@v/v1.0.0.mod`)).body).toContain(`module ${NAME}`)
  expect((await ana.get(`${at}/${NAME}/@latest`)).body.Version).toBe('v1.0.0')
})

test('a commit has a pseudo-version, which must have its time', async () => {
  const tagged = await ana.get(`${at}/${NAME}/v2/@v/main.info`)
  expect(tagged.body.Version).toBe('v2.0.0')
  await commit('three', { 'more.go': 'package tool\n' })
  const { body } = await ana.get(`${at}/${NAME}/v2/@v/main.info`)
  expect(body.Version).toMatch(/^v2\.0\.1-0\.\d{14}-[0-9a-f]{12}$/)
  const exact = await ana.get(`${at}/${NAME}/v2/@v/${body.Version}.info`)
  expect(exact.body.Version).toBe(body.Version)
  const other = body.Version.replace(/\d{14}/, '20200101000000')
  expect((await ana.get(`${at}/${NAME}/v2/@v/${other}.info`)).status).toBe(404)
})

test.each([
  ['another host', `example.com/ana/tool/@v/list`],
  ['another project', `127.0.0.1/ana/other/@v/list`],
  ['a step up', `${NAME}/%2e%2e/@v/list`],
  ['a letter that is not encoded', `127.0.0.1/ana/Tool/@v/list`],
  ['a version of another major', `${NAME}/@v/v2.0.0.info`],
  ['no such version', `${NAME}/@v/v1.9.0.zip`],
  ['no such file', `${NAME}/@v/v1.0.0.txt`],
  ['a revision that git reads otherwise', `${NAME}/@v/HEAD@%7B1%7D.info`],
])('the client looks elsewhere for %s', async (_what, path) => {
  expect((await ana.get(`${at}/${path}`)).status).toBe(404)
})

test('code that is kept from the public is not given as a module', async () => {
  const hidden = { repository_access_level: 'private' }
  await ana.put(`/projects/${project.id}`, hidden)
  expect((await world.nobody.get(`${at}/${NAME}/@v/list`)).status).toBe(401)
  await ana.put(`/projects/${project.id}`, { repository_access_level: 'enabled' })
})
