import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld, pythonPrograms } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'

let world: World
let ana: Caller
let projectId: number
let at: string
let root: string
let python: string

beforeAll(async () => {
  python = await pythonPrograms('conan>=2,<3')
  world = await openReachableWorld()
  ana = await world.user('ana')
  projectId = (await createProject(ana, 'p')).id
  at = `/projects/${projectId}/packages/conan`
  root = newFolder()
  mkdirSync(root, { recursive: true })
}, 300_000)
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

const RREV = 'a'.repeat(32)
const PREV = 'b'.repeat(32)
const PID = 'c'.repeat(40)

function conan(home: string, ...args: string[]) {
  const env = { PYTHONPATH: python, CONAN_HOME: join(root, home) }
  return client(join(python, 'bin', 'conan'), args, { cwd: root, env })
}

test('conan 2 uploads recipes with their packages, finds, installs and removes them', async () => {
  const files: Readonly<Record<string, string>> = {
    'hello/conanfile.py': `from conan import ConanFile
class Hello(ConanFile):
    name = "hello"
    version = "0.1"
    exports_sources = "hello.txt"
    def package(self):
        import shutil, os
        shutil.copy(os.path.join(self.source_folder, "hello.txt"), self.package_folder)
`,
    'hello/hello.txt': 'hello',
    'lone/conanfile.py': `from conan import ConanFile
class Lone(ConanFile):
    name = "hello-lone"
    version = "0.1"
`,
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  await conan('one', 'profile', 'detect')
  await conan('one', 'remote', 'add', 'svc', `${world.url}/api/v4${at}`)
  await conan('one', 'remote', 'login', 'svc', 'ana', '-p', String(ana.token))
  // Another machine, which knows the server and has nothing yet.
  cpSync(join(root, 'one'), join(root, 'two'), { recursive: true })
  await conan('one', 'create', 'hello', '--user', 'org', '--channel', 'beta')
  // A user without a channel.
  await conan('one', 'create', 'lone', '--user', 'org')
  const references = ['hello/0.1@org/beta', 'hello-lone/0.1@org']
  await conan('one', 'upload', 'hello*', '-r', 'svc', '--confirm')
  const listed = await conan('two', 'list', 'hello*', '-r', 'svc')
  for (const one of references) expect(listed).toContain(one)
  const required = references.flatMap((one) => ['--requires', one])
  const said = await conan('two', 'install', ...required, '-r', 'svc')
  expect(said.match(/Downloaded package/g)).toHaveLength(2)
  await conan('two', 'remove', 'hello/0.1@org/beta', '-r', 'svc', '--confirm')
  expect((await ana.get(`${at}/v2/conans/hello/0.1/org/beta/latest`)).status).toBe(404)
}, 240_000)

const recipeAt = (name: string) => `${at}/v2/conans/${name}/1.0/_/_`

async function put(path: string, raw = 'bytes', who = ana) {
  return await who.put(path, undefined, { raw })
}

async function uploadRecipe(name: string, rrev = RREV) {
  const files = `${recipeAt(name)}/revisions/${rrev}/files`
  await put(`${files}/conanfile.py`)
  await put(`${files}/conanmanifest.txt`)
}

test('a recipe is seen once its manifest is there, and its newest revision is the latest', async () => {
  const files = `${recipeAt('slow')}/revisions/${RREV}/files`
  expect((await put(`${files}/conanfile.py`)).status).toBe(200)
  expect((await ana.get(`${recipeAt('slow')}/latest`)).status).toBe(404)
  await put(`${files}/conanmanifest.txt`)
  expect((await ana.get(`${recipeAt('slow')}/latest`)).body.revision).toBe(RREV)
  await uploadRecipe('slow', 'd'.repeat(40))
  const { body } = await ana.get(`${recipeAt('slow')}/revisions`)
  expect([body.reference, body.revisions.length]).toEqual(['slow/1.0', 2])
  expect(body.revisions[0].revision).toBe('d'.repeat(40))
  expect(Object.keys((await ana.get(files)).body.files)).toEqual([
    'conanfile.py',
    'conanmanifest.txt',
  ])
  const got = await ana.get(`${files}/conanfile.py`)
  expect([got.status, got.body]).toEqual([200, 'bytes'])
})

test('packages are found by what their information file says, and deleted one by one', async () => {
  await uploadRecipe('lib')
  const pkg = `${recipeAt('lib')}/revisions/${RREV}/packages/${PID}`
  const info = '[settings]\nos=Linux\n[options]\nshared=True\n[requires]\nzlib/1.3\n'
  await put(`${pkg}/revisions/${PREV}/files/conaninfo.txt`, info)
  await put(`${pkg}/revisions/${PREV}/files/conanmanifest.txt`)
  const found = (await ana.get(`${recipeAt('lib')}/search`)).body[PID]
  expect(found).toMatchObject({
    settings: { os: 'Linux' },
    options: { shared: 'True' },
    content: info,
  })
  expect((await ana.get(`${pkg}/latest`)).body.revision).toBe(PREV)
  const answer = await ana.delete(`${pkg}/revisions/${PREV}`)
  expect([answer.status, (await ana.get(`${pkg}/latest`)).status]).toEqual([200, 404])
  expect((await ana.get(`${recipeAt('lib')}/latest`)).status).toBe(200)
  expect((await ana.delete(`${recipeAt('lib')}/revisions/${RREV}`)).status).toBe(200)
  expect((await ana.get(`${recipeAt('lib')}/latest`)).status).toBe(404)
})

test('searches take a star, in any case when asked', async () => {
  await uploadRecipe('Findme')
  const search = (query: string) => ana.get(`${at}/v2/conans/search?${query}`)
  expect((await search('q=find*')).body.results).toEqual(['Findme/1.0'])
  expect((await search('q=find*&ignorecase=False')).body.results).toEqual([])
  expect((await search('q=*')).body.results).toEqual([])
  expect((await search('q=[a-z]*')).body.results).toEqual([])
  expect((await search(`q=${'x'.repeat(201)}`)).status).toBe(400)
  expect((await search('q=******')).status).toBe(400)
})

test('protocol 1: addresses, files and hashes, below the project and below the server', async () => {
  const world1 = [
    [`${at}/v1`, 'old/1.0/_/_'],
    ['/packages/conan/v1', 'old/1.0/ana+p/stable'],
  ] as const
  for (const [root1, recipe] of world1) {
    const sizes = JSON.stringify({ 'conanfile.py': 5, 'conanmanifest.txt': 5, 'x.exe': 1 })
    const asked = await ana.post(`${root1}/conans/${recipe}/upload_urls`, undefined, { raw: sizes })
    expect(Object.keys(asked.body)).toEqual(['conanfile.py', 'conanmanifest.txt'])
    for (const url of Object.values(asked.body) as string[]) {
      expect((await put(url.replace(/^.*\/api\/v4/, ''))).status).toBe(200)
    }
    const { body } = await ana.get(`${root1}/conans/${recipe}`)
    expect(body['conanfile.py']).toMatch(/^[0-9a-f]{32}$/)
    const urls = (await ana.get(`${root1}/conans/${recipe}/download_urls`)).body
    const path = String(urls['conanfile.py']).replace(/^.*\/api\/v4/, '')
    expect((await ana.get(path)).body).toBe('bytes')
    expect(Object.keys((await ana.get(`${root1}/conans/${recipe}/digest`)).body)).toEqual([
      'conanmanifest.txt',
    ])
    const pid = `${root1}/conans/${recipe}/packages/${PID}`
    expect((await ana.get(pid)).body).toEqual({})
    expect((await ana.get(`${pid}/digest`)).status).toBe(404)
    expect((await ana.delete(`${root1}/conans/${recipe}`)).status).toBe(200)
    expect((await ana.get(`${root1}/conans/${recipe}`)).body).toEqual({})
  }
  expect((await ana.get('/packages/conan/v1/conans/search?q=Find*')).body.results).toEqual([
    'Findme/1.0',
  ])
})

test('a token of ours stands for the secret that it was given for, and ends with it', async () => {
  const basic = (secret: string) => `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`
  const secret = await world.token(ana.id, ['api'])
  const headers = { headers: { Authorization: basic(secret) } }
  const token = (await world.nobody.get(`${at}/v2/users/authenticate`, headers)).body
  const bearer = { headers: { Authorization: `Bearer ${token}` } }
  expect((await world.nobody.get(`${at}/v2/users/check_credentials`, bearer)).body).toBe('ok')
  expect(
    (await world.nobody.get(`/projects/${projectId}/packages/pypi/simple`, bearer)).status,
  ).toBe(401)
  const own = await world.as(secret).get('/personal_access_tokens/self')
  await ana.delete(`/personal_access_tokens/${own.body.id}`)
  expect((await world.nobody.get(`${at}/v2/users/check_credentials`, bearer)).status).toBe(401)
  const wrong = { headers: { Authorization: basic('wrong') } }
  expect((await world.nobody.get(`${at}/v2/users/authenticate`, wrong)).status).toBe(401)
  expect((await world.nobody.get(`${at}/v2/users/authenticate`)).status).toBe(401)
})

describe('what is refused', () => {
  const bad = (path: string) => `/v2/conans/${path}`
  test.each([
    ['a name with a step up', bad(`a%2f../1.0/_/_/revisions/${RREV}/files/conanfile.py`), 400],
    ['a user without a channel', bad(`hello/1.0/_/x1/revisions/${RREV}/files/conanfile.py`), 404],
    ['a revision that is none', bad('hello/1.0/_/_/revisions/x/files/conanfile.py'), 400],
    ['a file of no recipe', bad(`hello/1.0/_/_/revisions/${RREV}/files/evil.sh`), 400],
    [
      'a package id with a dash',
      bad(`hello/1.0/_/_/revisions/${RREV}/packages/a-b/revisions/${PREV}/files/conaninfo.txt`),
      400,
    ],
  ])('%s', async (_what, path, status) => {
    expect((await put(`${at}${path}`)).status).toBe(status)
  })

  test('a file that is there already, a probe by hash, and strangers', async () => {
    await uploadRecipe('once')
    const file = `${recipeAt('once')}/revisions/${RREV}/files/conanfile.py`
    expect((await put(file)).status).toBe(400)
    const probe = { raw: 'x', headers: { 'X-Checksum-Deploy': 'true' } }
    expect((await ana.put(file, undefined, probe)).status).toBe(404)
    expect((await put(file, 'x', world.nobody)).status).toBe(401)
    expect((await put(file, 'x', await world.user('bob'))).status).toBe(404)
  })
})
