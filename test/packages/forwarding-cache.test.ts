import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { namesInFile } from '../../src/packages/pypi/names.ts'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { openPublicRegistry, type PublicRegistry } from './public-registry.ts'

let upstream: PublicRegistry
let world: World
let ana: Caller
let groupId: number
let project: string
let group: string
const folders: string[] = []

beforeAll(async () => {
  upstream = await openPublicRegistry()
  world = await openReachableWorld({
    npmUrl: `${upstream.url}/npm/`,
    pypiUrl: `${upstream.url}/pypi`,
    mavenUrl: `${upstream.url}/maven`,
    outboundAllow: ['127.0.0.1'],
    packageCache: 100_000,
  })
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'acme')).id
  const made = await createProject(ana, 'p', { namespace_id: groupId })
  project = `/projects/${made.id}/packages`
  group = `/groups/${groupId}/-/packages`
  for (const type of ['npm', 'pypi', 'maven']) {
    await world.root.put('/application/settings', { [`${type}_package_requests_forwarding`]: true })
  }
})
afterAll(async () => {
  await world.close()
  await upstream.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  upstream.intercept = () => false
  upstream.seen.length = 0
  world.setNow('2026-05-04T10:00:00.000Z')
  await world.ctx.db.deleteFrom('forwarded_files').execute()
})

function freshFolder() {
  const folder = newFolder()
  folders.push(folder)
  mkdirSync(folder, { recursive: true })
  return folder
}

const breakOff: PublicRegistry['intercept'] = (_request, response) => {
  response.destroy()
  return true
}

/** Installs with an empty cache, as on another machine. */
async function installByNpm(place: string) {
  const folder = freshFolder()
  const registry = `${world.url}/api/v4${place}/npm/`
  const npmrc = `registry=${registry}\n${registry.slice('http:'.length)}:_authToken=${ana.token}\n`
  writeFileSync(join(folder, '.npmrc'), `${npmrc}cache=${join(folder, 'cache')}\n`)
  writeFileSync(join(folder, 'package.json'), '{"name":"app","version":"1.0.0"}')
  await client('npm', ['install', 'far'], { cwd: folder })
  return readFileSync(join(folder, 'node_modules/far/package.json'), 'utf8')
}

async function installByPip(place: string) {
  const folder = freshFolder()
  const index = `${world.url.replace('//', `//ana:${ana.token}@`)}/api/v4${place}/pypi/simple`
  const args = ['-m', 'pip', 'install', '--no-cache-dir', '--target', join(folder, 'lib')]
  await client('python3', [...args, '--index-url', index, 'Far.Tool'], { cwd: folder })
  return readFileSync(join(folder, 'lib', 'far_tool.py'), 'utf8')
}

test.each(['project', 'group'])(
  'npm installs from a %s what is elsewhere, and again once the line is cut',
  async (level) => {
    const place = level === 'project' ? project : group
    expect(await installByNpm(place)).toContain('"version":"1.2.0"')
    expect(upstream.seen).toContain('GET /npm-files/abc')
    upstream.intercept = breakOff
    // Old, so that it has to ask; what is new is given without (below).
    world.setNow('2026-05-05T10:00:00.000Z')
    expect(await installByNpm(place)).toContain('"version":"1.2.0"')
  },
  180_000,
)

test.each(['project', 'group'])(
  'pip installs from a %s what is elsewhere, and again once the line is cut',
  async (level) => {
    const place = level === 'project' ? project : group
    expect(await installByPip(place)).toBe('answer = 42\n')
    upstream.intercept = breakOff
    world.setNow('2026-05-05T10:00:00.000Z')
    expect(await installByPip(place)).toBe('answer = 42\n')
  },
  180_000,
)

test('links lead here, with their hashes, for old clients too', async () => {
  const page = await ana.get(`${project}/pypi/simple/far-tool`)
  const [, url = '', hash] = /href="([^"#]+)#sha256=([0-9a-f]{64})"/.exec(page.body) ?? []
  expect(url).toBe(`${world.url}/api/v4${project}/pypi/files/${hash}/far_tool-1.0-py3-none-any.whl`)
  expect(page.body).toContain('data-requires-python="&gt;=3.7"')
  expect(page.body).toContain('data-core-metadata="sha256=')
  const path = url.slice(`${world.url}/api/v4`.length)
  expect((await ana.get(`${path}.metadata`)).body).toContain('Name: far-tool')
  expect((await ana.get(path.replace('far_tool-1.0', 'far_tool-2.0'))).status).toBe(404)
  const again = await ana.get(`${project}/pypi/simple/far-tool`, {
    headers: { 'If-None-Match': page.headers.get('etag') ?? '' },
  })
  expect(again.status).toBe(304)
})

test('a hundred who ask for one package cause one request', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => ana.get(`${project}/npm/far`)),
  )
  expect(answers.every((one) => one.body.versions['1.2.0'])).toBe(true)
  expect(upstream.seen).toEqual(['GET /npm/far'])
  const [first] = answers
  const tarball = String(first?.body.versions['1.2.0'].dist.tarball)
  expect(tarball).toBe(`${world.url}/api/v4${project}/npm/far/-/far-1.2.0.tgz`)
  const files = await Promise.all(
    Array.from({ length: 100 }, () => ana.get(`${project}/npm/far/-/far-1.2.0.tgz`)),
  )
  expect(files.every((one) => one.status === 200)).toBe(true)
  expect(upstream.seen.filter((one) => one === 'GET /npm-files/abc')).toHaveLength(1)
})

test('a document that is old is asked about by its tag, and what is gone is gone here', async () => {
  await ana.get(`${project}/npm/far`)
  world.setNow('2026-05-04T10:30:00.000Z')
  let tag: unknown
  upstream.intercept = (request) => {
    tag = request.headers['if-none-match']
    return false
  }
  expect((await ana.get(`${project}/npm/far`)).status).toBe(200)
  expect(tag).toMatch(/^"[0-9a-f]{64}"$/)
  upstream.seen.length = 0
  expect((await ana.get(`${project}/npm/far`)).status).toBe(200)
  expect(upstream.seen).toEqual([])
  world.setNow('2026-05-04T11:30:00.000Z')
  upstream.intercept = (_request, response) => {
    response.writeHead(404).end()
    return true
  }
  expect((await ana.get(`${project}/npm/far`)).status).toBe(404)
  upstream.intercept = breakOff
  expect((await ana.get(`${project}/npm/far`)).status).toBe(502)
})

test('files of Maven are kept, with checksums of what is here', async () => {
  const jar = `${project}/maven/org/x/a/1.0/a-1.0.jar`
  expect((await ana.get(jar)).body).toBe('the jar')
  expect((await ana.get(`${project}/maven/org/x/a/maven-metadata.xml`)).body).toBe('<metadata/>')
  upstream.intercept = breakOff
  world.setNow('2026-05-05T10:00:00.000Z')
  expect((await ana.get(jar)).body).toBe('the jar')
  expect((await ana.get(`${group}/maven/org/x/a/maven-metadata.xml`)).body).toBe('<metadata/>')
  const sha1 = createHash('sha1').update('the jar').digest('hex')
  expect((await ana.get(`${jar}.sha1`)).body).toBe(sha1)
  expect((await ana.get(`${project}/maven/org/x/a/2.0/a-2.0.jar`)).status).toBe(502)
})

test('a source archive of a name with a number in it is found', () => {
  expect(namesInFile('python-3d-tools-1.0.tar.gz')).toEqual(['python', 'python-3d-tools'])
  expect(namesInFile('far_tool-1.0-py3-none-any.whl.metadata')).toContain('far-tool')
})

describe('a registry that is not what it says', () => {
  const tarball = () => ana.get(`${project}/npm/far/-/far-1.2.0.tgz`)
  const kept = async () =>
    (await world.ctx.db.selectFrom('forwarded_files').select('path').execute()).map(
      (one) => one.path,
    )

  test('sends another tarball than its metadata says: the client gets an error, and it is not kept', async () => {
    upstream.intercept = (request, response) => {
      if (request.url !== '/npm-files/abc') return false
      response.writeHead(200, { 'Content-Length': 5 }).end('other')
      return true
    }
    await expect(tarball()).rejects.toThrow()
    expect(await kept()).toEqual(['far short'])
    upstream.intercept = () => false
    expect((await tarball()).status).toBe(200)
  })

  test('breaks off in the middle, and changes what it sends', async () => {
    let count = 0
    upstream.intercept = (request, response) => {
      if (request.url !== '/npm-files/abc') return false
      count += 1
      response.writeHead(200, { 'Content-Length': 1000, ETag: `"${count}"` })
      response.write('half', () => response.destroy())
      return true
    }
    await expect(tarball()).rejects.toThrow()
    await expect(tarball()).rejects.toThrow()
    expect([count, await kept()]).toEqual([2, ['far short']])
  })

  test('leads to a private address', async () => {
    upstream.intercept = (_request, response) => {
      response.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end()
      return true
    }
    expect((await ana.get(`${project}/npm/far`)).status).toBe(502)
    expect((await ana.get(`${project}/pypi/simple/far-tool`)).status).toBe(502)
    expect((await ana.get(`${project}/maven/org/x/a/1.0/a-1.0.jar`)).status).toBe(502)
    expect(await kept()).toEqual([])
  })

  test.each([
    ['is no metadata', '[]'],
    ['is larger than the room for it', ' '.repeat(200_000)],
  ])('sends what %s: clients are sent there themselves', async (_what, content) => {
    upstream.intercept = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(content)
      return true
    }
    const sent = await ana.get(`${project}/npm/far`)
    expect([sent.status, sent.headers.get('location')]).toEqual([302, `${upstream.url}/npm/far`])
  })

  test('nests its metadata ten thousand deep: it is an answer, or left to the clients', async () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    upstream.intercept = (_request, response) => {
      response.end(`{"versions":{"1.0.0":{"dist":{},"deep":${deep}}}}`)
      return true
    }
    expect([200, 302]).toContain((await ana.get(`${project}/npm/far`)).status)
  })

  test('has only pages for people: pip is sent there', async () => {
    upstream.intercept = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<a href="x">x</a>')
      return true
    }
    const sent = await ana.get(`${project}/pypi/simple/far-tool`)
    expect([sent.status, sent.headers.get('location')]).toEqual([
      302,
      `${upstream.url}/pypi/simple/far-tool/`,
    ])
    expect(await kept()).toEqual([])
  })
})

test('what is published here under a name comes from nowhere else', async () => {
  const own = await documentOf('mine', '1.0.0')
  expect((await ana.put(`${project}/npm/mine`, own)).status).toBe(200)
  expect((await ana.get(`${project}/npm/mine/-/mine-2.0.0.tgz`)).status).toBe(404)
  expect((await ana.get(`${group}/npm/mine/-/mine-1.0.0.tgz`)).status).toBe(200)
  expect(upstream.seen).toEqual([])
})

test('whoever has not signed in is sent there, and fills no cache', async () => {
  const open = await createProject(ana, 'open', { visibility: 'public' })
  const at = `/projects/${open.id}/packages/npm/far`
  const sent = await world.nobody.get(at)
  expect([sent.status, sent.headers.get('location')]).toEqual([302, `${upstream.url}/npm/far`])
  expect((await world.nobody.get(`${at}/-/far-1.2.0.tgz`)).status).toBe(404)
  expect(upstream.seen).toEqual([])
})

test('what nobody has used for longest makes room', async () => {
  const jar = (name: string) => `${project}/maven/org/x/${name}/1.0/${name}-1.0.jar`
  upstream.intercept = (_request, response) => {
    response.end(Buffer.alloc(40_000, 'x'))
    return true
  }
  await ana.get(jar('one'))
  world.setNow('2026-05-04T12:00:00.000Z')
  await ana.get(jar('two'))
  world.setNow('2026-05-04T14:00:00.000Z')
  await ana.get(jar('one'))
  await ana.get(jar('three'))
  const paths = async () =>
    (await world.ctx.db.selectFrom('forwarded_files').select('path').orderBy('id').execute()).map(
      (one) => one.path,
    )
  // Not "three rows first": the task that makes room may run as soon as the third one is written.
  await expect.poll(paths).toContain('org/x/three/1.0/three-1.0.jar')
  await world.runTasks()
  expect(await paths()).toEqual(['org/x/one/1.0/one-1.0.jar', 'org/x/three/1.0/three-1.0.jar'])
})
