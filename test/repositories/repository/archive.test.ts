import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitBytes } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let project: TestProject
let main: string
let folder: string

beforeAll(async () => {
  world = await openWorld({ limitArchives: 0 })
  ana = await world.user('ana')
  project = await addProject(world, ana, 'basic', { path: 'my.project' })
  main = project.git('rev-parse', 'main')
  folder = mkdtempSync(join(tmpdir(), 'gitstead-archive-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await world.close()
})

async function download(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${world.url}/api/v4${project.api}/${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': ana.token ?? '', ...headers },
  })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

let count = 0

/** Unpacks with the tools that people have. */
function unpack(bytes: Buffer, kind: string): string {
  count += 1
  const target = join(folder, String(count))
  mkdirSync(target)
  const file = join(folder, `${count}.${kind}`)
  writeFileSync(file, bytes)
  const done =
    kind === 'zip'
      ? spawnSync('python3', ['-m', 'zipfile', '-e', file, target])
      : spawnSync('tar', ['-xf', file, '-C', target])
  if (done.status !== 0) throw new Error(`unpacking ${kind}: ${done.stderr}`)
  return target
}

function listing(target: string): string[] {
  return readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1))
    .sort()
}

function expected(name: string, ...args: string[]): string[] {
  const target = join(folder, `expected${count}`)
  mkdirSync(target, { recursive: true })
  const tar = gitBytes(project.path, ['archive', '--format=tar', `--prefix=${name}/`, ...args])
  spawnSync('tar', ['-x', '-C', target], { input: tar })
  const found = listing(target)
  rmSync(target, { recursive: true })
  return found
}

describe('an archive', () => {
  test.each([
    ['archive', 'tar.gz'],
    ['archive.tar.gz', 'tar.gz'],
    ['archive.tar', 'tar'],
    ['archive.zip', 'zip'],
    ['archive.tar.bz2', 'tar.bz2'],
    ['archive.tbz', 'tar.bz2'],
    ['archive.tbz2', 'tar.bz2'],
    ['archive.tb2', 'tar.bz2'],
    ['archive.bz2', 'tar.bz2'],
  ])('%s is a %s of the default branch', async (path, kind) => {
    const { response, bytes } = await download(path)
    const name = `my.project-main-${main}`
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(
      kind === 'zip' ? 'application/zip' : 'application/octet-stream',
    )
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="${name}.${kind}"`,
    )
    expect(response.headers.get('content-transfer-encoding')).toBe('binary')
    expect(listing(unpack(bytes, kind))).toEqual(expected(name, 'main'))
  })

  test('of a ref with slashes has them as dashes', async () => {
    const { response, bytes } = await download('archive.tar?sha=feature%2Fone')
    const name = `my.project-feature-one-${project.git('rev-parse', 'feature/one')}`
    expect(response.headers.get('content-disposition')).toContain(`"${name}.tar"`)
    expect(listing(unpack(bytes, 'tar'))).toEqual(expected(name, 'feature/one'))
  })

  test('of a commit has its id twice in the name', async () => {
    const { response } = await download(`archive.zip?sha=${main}`)
    expect(response.headers.get('content-disposition')).toContain(
      `"my.project-${main}-${main}.zip"`,
    )
  })

  test('of a folder keeps the full path below the top', async () => {
    const { response, bytes } = await download('archive.tar?path=docs/guide')
    const name = `my.project-main-${main}-docs-guide`
    expect(response.headers.get('content-disposition')).toContain(name)
    expect(listing(unpack(bytes, 'tar'))).toEqual(expected(name, 'main', 'docs/guide'))
  })

  test('leaves out what is excluded', async () => {
    const { bytes } = await download('archive.tar?exclude_paths=docs,src/main.ts')
    const name = `my.project-main-${main}`
    const left = expected(name, 'main', '--', ':!docs', ':!src/main.ts')
    expect(listing(unpack(bytes, 'tar'))).toEqual(left)
  })

  test.each(['tar', 'tar.gz', 'zip'])('%s has the same bytes each time', async (kind) => {
    const first = await download(`archive.${kind}`)
    const named = await download(`archive.${kind}?sha=main`)
    expect(first.bytes.equals(named.bytes)).toBe(true)
  })

  test('has its name in the headers of HEAD', async () => {
    const { response, bytes } = await download('archive.zip', {}, 'HEAD')
    expect([response.status, bytes.length]).toEqual([200, 0])
    expect(response.headers.get('content-disposition')).toContain('my.project-main-')
  })

  test.each([
    ['archive?sha=nowhere', 404, '404 File Not Found'],
    ['archive?sha=--exec=x', 404, '404 File Not Found'],
    ['archive?path=nowhere', 404, '404 File Not Found'],
    ['archive?path=../x', 404, '404 File Not Found'],
    ['archive.rar', 404, '404 Not found'],
  ])('%s answers %i', async (path, status, message) => {
    const reply = await ana.get(`${project.api}/${path}`)
    expect([reply.status, reply.body]).toEqual([status, { message }])
  })

  test('of an empty repository is not found', async () => {
    const empty = await addProject(world, ana, 'empty')
    const reply = await ana.get(`${empty.api}/archive`)
    expect([reply.status, reply.body]).toEqual([404, { message: '404 File Not Found' }])
  })

  test('is not given to pages of other sites', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
    const reply = await ana.get(`${project.api}/archive`, { headers })
    expect([reply.status, reply.body]).toEqual([406, { message: '406 Not Acceptable' }])
  })
})

describe('an archive asked for again', () => {
  const again = 'archive.tar.gz?sha=main&path=docs'

  test('has the bytes of the first, its length and a tag, in whole and in part', async () => {
    const first = await download(again)
    expect(first.response.headers.get('etag')).toBe(null)
    const second = await download(again)
    expect(second.bytes.equals(first.bytes)).toBe(true)
    const tag = second.response.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{64}"$/)
    expect(second.response.headers.get('content-length')).toBe(String(first.bytes.length))
    expect(second.response.headers.get('content-disposition')).toBe(
      first.response.headers.get('content-disposition'),
    )
    const part = await download(again, { Range: 'bytes=10-29' })
    expect([part.response.status, part.response.headers.get('content-range')]).toEqual([
      206,
      `bytes 10-29/${first.bytes.length}`,
    ])
    expect(part.bytes.equals(first.bytes.subarray(10, 30))).toBe(true)
    expect((await download(again, { Range: 'bytes=99999999-' })).response.status).toBe(416)
    expect((await download(again, { 'If-None-Match': tag })).response.status).toBe(304)
    const head = await download(again, {}, 'HEAD')
    expect(head.response.headers.get('content-length')).toBe(String(first.bytes.length))
  })

  test('is another one where anything about it differs', async () => {
    const whole = await download('archive.tar?sha=main')
    const less = await download('archive.tar?sha=main&exclude_paths=docs')
    const zip = await download('archive.zip?sha=main')
    const contents = [whole, less, zip].map(({ bytes }) => bytes.toString('latin1'))
    expect(new Set(contents).size).toBe(3)
    expect((await download('archive.tar?sha=main')).bytes.equals(whole.bytes)).toBe(true)
  })

  test('is for those alone who may read the project at that moment', async () => {
    await download(again)
    const url = `${world.url}/api/v4${project.api}/${again}`
    expect((await fetch(url)).status).toBe(404)
    const stranger = await world.user('stranger')
    const headers = { 'PRIVATE-TOKEN': stranger.token ?? '' }
    expect((await fetch(url, { headers })).status).toBe(404)
  })

  test('does not count as made', async () => {
    const strict = await openWorld({ limitArchives: 2 })
    const eve = await strict.user('eve')
    const one = await addProject(strict, eve, 'basic')
    const url = `${strict.url}/api/v4${one.api}/archive.tar`
    const statuses = []
    for (let i = 0; i < 6; i += 1) {
      const reply = await fetch(url, { headers: { 'PRIVATE-TOKEN': eve.token ?? '' } })
      await reply.arrayBuffer()
      statuses.push(reply.status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200])
    await strict.close()
  })
})

test('archives are limited for each user and project', async () => {
  const strict = await openWorld({ limitArchives: 2 })
  const eve = await strict.user('eve')
  const one = await addProject(strict, eve, 'basic')
  const other = await addProject(strict, eve, 'modes')
  const statuses = []
  for (let i = 0; i < 3; i += 1) statuses.push((await eve.head(`${one.api}/archive`)).status)
  expect(statuses).toEqual([200, 200, 429])
  const path = `/projects/${encodeURIComponent(one.fullPath)}/repository/archive.zip`
  const refused = await eve.get(path)
  expect(refused.body).toEqual({
    message: {
      error: 'This archive has been requested too many times. Try again later.',
    },
  })
  expect((await eve.head(`${other.api}/archive`)).status).toBe(200)
  strict.setNow('2026-05-04T10:01:01.000Z')
  expect((await eve.head(`${one.api}/archive`)).status).toBe(200)
  await strict.close()
})
