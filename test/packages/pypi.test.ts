import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalName } from '../../src/base/name-pattern.ts'
import { normalVersion } from '../../src/packages/pypi/names.ts'
import { findReferenced } from '../../src/store/file-references.ts'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld, pythonPrograms } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { zipOf } from './zip-file.ts'

let world: World
let ana: Caller
let at: string
let root: string
let python: string

beforeAll(async () => {
  // twine from 6.2 refuses --skip-existing outside of the public index.
  python = await pythonPrograms('twine<6.2', 'uv', 'setuptools', 'wheel')
  world = await openReachableWorld()
  ana = await world.user('ana')
  const group = await createGroup(ana, 'acme')
  const project = await createProject(ana, 'p', { namespace_id: group.id })
  at = `/projects/${project.id}/packages/pypi`
  root = newFolder()
  mkdirSync(root, { recursive: true })
}, 180_000)
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

function formOf(fields: Readonly<Record<string, string>>, fileName: string, text = 'bytes') {
  const form = new FormData()
  for (const [name, value] of Object.entries({ ':action': 'file_upload', ...fields })) {
    form.set(name, value)
  }
  if (fileName) form.set('content', new Blob([text]), fileName)
  return form
}

const upload = (fields: Readonly<Record<string, string>>, fileName: string, text?: string) =>
  ana.post(at, undefined, { raw: formOf(fields, fileName, text) })

test('twine uploads, and pip and uv install, from the project and from the group', async () => {
  const source = join(root, 'source')
  mkdirSync(join(source, 'acme_tool'), { recursive: true })
  writeFileSync(join(source, 'acme_tool', '__init__.py'), 'answer = 42\n')
  writeFileSync(
    join(source, 'setup.py'),
    "from setuptools import setup\nsetup(name='Acme.Tool', version='1.0', packages=['acme_tool'], python_requires='>=3.7')\n",
  )
  const env = { PYTHONPATH: python }
  await client('python3', ['setup.py', '-q', 'sdist', 'bdist_wheel'], { cwd: source, env })
  const files = readdirSync(join(source, 'dist')).map((name) => join('dist', name))
  const url = `${world.url}/api/v4${at}`
  const twine = (...more: string[]) =>
    client(
      'python3',
      [
        '-m',
        'twine',
        'upload',
        '--disable-progress-bar',
        '--repository-url',
        url,
        ...more,
        ...files,
      ],
      { cwd: source, env: { ...env, TWINE_USERNAME: 'ana', TWINE_PASSWORD: ana.token ?? '' } },
    )
  await twine()
  expect(await twine('--skip-existing')).toContain('Skipping')
  const withToken = (place: string) =>
    `${world.url.replace('//', `//ana:${ana.token}@`)}/api/v4${place}/simple`
  const target = join(root, 'by-pip')
  const pip = ['-m', 'pip', 'install', '--no-cache-dir', '--target', target]
  await client('python3', [...pip, '--index-url', withToken(at), 'acme_tool==1.0'], { cwd: root })
  expect(readdirSync(target)).toContain('acme_tool')
  const place = '/groups/acme/-/packages/pypi'
  const uv = ['pip', 'install', '--no-cache', '--target', join(root, 'by-uv')]
  await client(join(python, 'bin', 'uv'), [...uv, '--index-url', withToken(place), 'Acme-Tool'], {
    cwd: root,
    env,
  })
  expect(readdirSync(join(root, 'by-uv'))).toContain('acme_tool')
}, 120_000)

test('the index is a page, or JSON for those who ask for it', async () => {
  const fields = { name: 'Page_Pkg', version: '2.0', requires_python: '>=3.8,<4 "x"' }
  expect((await upload(fields, 'page_pkg-2.0.tar.gz')).status).toBe(201)
  const page = await ana.get(`${at}/simple/page.pkg/`)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.body).toContain('data-requires-python="&gt;=3.8,&lt;4 &quot;x&quot;"')
  const href = /href="([^"]+)"/.exec(page.body)?.[1] ?? ''
  expect(href).toMatch(/page_pkg-2\.0\.tar\.gz#sha256=[0-9a-f]{64}$/)
  const got = await ana.get(new URL(href).pathname.replace('/api/v4', ''))
  expect([got.status, got.body]).toEqual([200, 'bytes'])
  const accept = { headers: { Accept: 'application/vnd.pypi.simple.v1+json' } }
  const json = await ana.get(`${at}/simple/PAGE-pkg`, accept)
  expect(json.headers.get('vary')).toContain('Accept')
  expect(json.body).toMatchObject({
    meta: { 'api-version': '1.0' },
    name: 'page-pkg',
    files: [{ filename: 'page_pkg-2.0.tar.gz', 'requires-python': '>=3.8,<4 "x"' }],
  })
  const etag = json.headers.get('etag') ?? ''
  const again = { headers: { ...accept.headers, 'If-None-Match': etag } }
  expect((await ana.get(`${at}/simple/page-pkg`, again)).status).toBe(304)
  expect((await upload(fields, 'page_pkg-2.0-py3-none-any.whl')).status).toBe(201)
  expect((await ana.get(`${at}/simple/page-pkg`, again)).body.files).toHaveLength(2)
  const names = (await ana.get('/groups/acme/-/packages/pypi/simple', accept)).body.projects
  expect(names).toContainEqual({ name: 'Page_Pkg' })
  expect((await ana.get(`${at}/simple/missing`)).status).toBe(404)
  const refused = await world.nobody.get(`${at}/simple/page-pkg`)
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    'Basic realm="svc Packages Registry"',
  ])
})

test('uv and pip resolve with the metadata of wheels, without the wheels', async () => {
  const wheelOf = (name: string, more = '') => {
    const info = `${name}-1.0.dist-info`
    const wheel = 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
    return zipOf({
      [`${name}.py`]: 'x = 1\n',
      [`${name}.dat`]: randomBytes(100_000),
      [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n${more}\nText\n`,
      [`${info}/WHEEL`]: wheel,
      [`${info}/RECORD`]: `${name}.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
    })
  }
  const publish = async (name: string, more?: string) => {
    const form = formOf({ name, version: '1.0' }, '')
    form.set('content', new Blob([await wheelOf(name, more)]), `${name}-1.0-py3-none-any.whl`)
    expect((await ana.post(at, undefined, { raw: form })).status).toBe(201)
  }
  await publish('upper', 'Requires-Dist: lower\nRequires-Python: >=3.7\n')
  await publish('lower')
  const asked: string[] = []
  world.app.server.prependListener('request', ({ url = '' }) => asked.push(url))
  const own = [
    '--index-url',
    `${world.url.replace('//', `//ana:${ana.token}@`)}/api/v4${at}/simple`,
  ]
  writeFileSync(join(root, 'wanted.in'), 'upper\n')
  const uv = ['pip', 'compile', '--no-cache', ...own, 'wanted.in']
  const said = await client(join(python, 'bin', 'uv'), uv, { cwd: root })
  expect(said).toContain('lower==1.0')
  expect(asked.filter((url) => url.endsWith('.whl.metadata'))).toHaveLength(2)
  expect(asked.filter((url) => url.endsWith('.whl'))).toEqual([])
  const target = join(root, 'by-metadata')
  const pip = ['-m', 'pip', 'install', '--no-cache-dir', '--target', target, ...own, 'upper']
  await client('python3', pip, { cwd: root })
  expect(readdirSync(target)).toEqual(expect.arrayContaining(['upper.py', 'lower.py']))
  expect(asked.filter((url) => url.endsWith('.whl'))).toHaveLength(2)
  const page = (await ana.get(`${at}/simple/upper`)).body
  expect(page).toContain('data-requires-python="&gt;=3.7"')
  const [, href = '', hash] = /href="([^"]+)#.*data-core-metadata="sha256=(\w+)"/.exec(page) ?? []
  const metadata = await ana.get(`${new URL(href).pathname.replace('/api/v4', '')}.metadata`)
  expect(createHash('sha256').update(metadata.body).digest('hex')).toBe(hash)
  const kept = await findReferenced(world.ctx.db, [String(hash)])
  expect([...kept]).toEqual([hash])
  expect((await world.nobody.get(`${at}/files/${'0'.repeat(64)}/x.whl.metadata`)).status).toBe(401)
  expect((await ana.get(`${at}/files/${'0'.repeat(64)}/x.whl.metadata`)).status).toBe(404)
}, 120_000)

test('a small wheel is served without metadata, and with the Python that it needs', async () => {
  const text = 'Metadata-Version: 2.1\nName: small\nVersion: 1.0\nRequires-Python: >=3.8\n'
  const form = formOf({ name: 'small', version: '1.0' }, '')
  const wheel = await zipOf({ 'small-1.0.dist-info/METADATA': text })
  form.set('content', new Blob([wheel]), 'small-1.0-py3-none-any.whl')
  expect((await ana.post(at, undefined, { raw: form })).status).toBe(201)
  const page = (await ana.get(`${at}/simple/small`)).body
  expect(page).not.toContain('data-core-metadata')
  expect(page).toContain('data-requires-python="&gt;=3.8"')
})

test('a wheel that is no zip file is served without metadata', async () => {
  const fields = { name: 'broken-wheel', version: '1.0' }
  expect((await upload(fields, 'broken_wheel-1.0-py3-none-any.whl')).status).toBe(201)
  const page = (await ana.get(`${at}/simple/broken-wheel`)).body
  expect(page).not.toContain('data-core-metadata')
  const [, href = ''] = /href="([^"]+)#/.exec(page) ?? []
  const path = new URL(href).pathname.replace('/api/v4', '')
  expect((await ana.get(path)).body).toBe('bytes')
  expect((await ana.get(`${path}.metadata`)).status).toBe(404)
})

describe('what is refused, and leaves nothing', () => {
  const good = { name: 'bad-pkg', version: '1.0' }
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['no name', { version: '1.0' }, 'bad_pkg-1.0.tar.gz'],
    ['no version', { name: 'bad-pkg' }, 'bad_pkg-1.0.tar.gz'],
    ['no file', good, ''],
    ['a version that is none', { ...good, version: 'one' }, 'bad_pkg-1.0.tar.gz'],
    ['a name with a step up', { ...good, name: '../x' }, 'bad_pkg-1.0.tar.gz'],
    ['a file of another package', good, 'other-1.0.tar.gz'],
    ['a file that is no distribution', good, 'bad_pkg-1.0.exe'],
    ['a hash that lies', { ...good, sha256_digest: '0'.repeat(64) }, 'bad_pkg-1.0.tar.gz'],
    ['a hash that is none', { ...good, sha256_digest: 'x' }, 'bad_pkg-1.0.tar.gz'],
  ])('%s', async (_what, fields, fileName) => {
    expect((await upload(fields, fileName)).status).toBe(400)
    expect((await ana.get(`${at}/simple/bad-pkg`)).status).toBe(404)
  })

  test('a form that breaks off', async () => {
    const raw =
      '--x\r\nContent-Disposition: form-data; name="content"; filename="a-1.whl"\r\n\r\nhalf'
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
    expect((await ana.post(at, undefined, { raw, headers })).status).toBe(400)
    const none = { 'Content-Type': 'multipart/form-data' }
    expect((await ana.post(at, undefined, { raw, headers: none })).status).toBe(400)
    expect((await ana.post(at, { name: 'x' })).status).toBe(400)
  })
})

test.each([
  ['1.0', '1'],
  ['1.0.0', '1'],
  ['v1.2', '1.2'],
  ['01.02', '1.2'],
  ['1.0-RC.01', '1rc1'],
  ['1.0alpha', '1a0'],
  ['1.0c2', '1rc2'],
  ['1.0-1', '1.post1'],
  ['1.0.rev3', '1.post3'],
  ['1.0.dev4', '1.dev4'],
  ['1!2.0', '1!2'],
  ['1.0+Ubuntu-1', '1+ubuntu.1'],
  ['1.0a1.post2.dev3+x', '1a1.post2.dev3+x'],
])('the version %s compares as %s', (version, normal) => {
  expect(normalVersion(version)).toBe(normal)
})

test('what is no version compares as nothing, in no time', () => {
  for (const wrong of ['', 'x', '1.', '1..2', '1.0+', `1${'.0'.repeat(200)}x`, '1.0 2']) {
    expect(normalVersion(wrong)).toBeUndefined()
  }
  expect(normalName('A__b..C')).toBe('a-b-c')
})
