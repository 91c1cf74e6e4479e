import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { splitBody } from '../../src/packages/npm/split-body.ts'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { tarballOf } from './tarball.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let projectId: number
let at: string

beforeAll(async () => {
  const group = await createGroup(ana, 'acme')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${projectId}/packages/npm`
})

const url = (name: string) => `${at}/${name.replace('/', '%2f')}`

test('a version is published, described in both forms, and its tarball downloaded', async () => {
  const name = '@acme/tool'
  const document = await documentOf(name, '1.0.0', {
    manifest: { dependencies: { a: '^1' }, scripts: { postinstall: 'x' }, description: 'A tool' },
  })
  const sent = await ana.put(url(name), document)
  expect([sent.status, sent.body]).toEqual([200, { success: true }])
  const full = await ana.get(url(name))
  const version = full.body.versions['1.0.0']
  expect(full.body).toMatchObject({ name, 'dist-tags': { latest: '1.0.0' } })
  expect(version).toMatchObject({
    description: 'A tool',
    hasInstallScript: true,
    dependencies: { a: '^1' },
    dist: { integrity: document.versions['1.0.0']?.dist.integrity },
  })
  expect(new URL(version.dist.tarball).pathname).toBe(
    `/api/v4${at}/@acme/tool/-/@acme/tool-1.0.0.tgz`,
  )
  const short = await ana.get(url(name), {
    headers: { Accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8' },
  })
  expect(short.headers.get('content-type')).toBe('application/vnd.npm.install-v1+json')
  expect(short.body.versions['1.0.0'].description).toBeUndefined()
  const etag = short.headers.get('etag') ?? ''
  const known = await ana.get(url(name), {
    headers: { Accept: 'application/vnd.npm.install-v1+json', 'If-None-Match': etag },
  })
  expect(known.status).toBe(304)
  for (const file of ['@acme/tool/-/@acme/tool-1.0.0.tgz', '@acme%2ftool/-/tool-1.0.0.tgz']) {
    const got = await fetch(`${world.url}/api/v4${at}/${file}`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    const bytes = Buffer.from(await got.arrayBuffer())
    expect(createHash('sha1').update(bytes).digest('hex')).toBe(version.dist.shasum)
  }
  expect((await ana.get(`${at}/@acme/tool`)).status).toBe(200)
})

test('a group and the server know the package, too, and point at its project', async () => {
  const name = '@acme/known'
  await ana.put(url(name), await documentOf(name, '1.0.0'))
  const other = (
    await ana.post('/projects', {
      name: 'q',
      namespace_id: (await ana.get('/groups/acme')).body.id,
    })
  ).body
  const twice = await ana.put(
    `/projects/${other.id}/packages/npm/@acme%2fknown`,
    await documentOf(name, '1.0.0'),
  )
  expect([twice.status, twice.body.error]).toEqual([
    400,
    'Validation failed: Package already exists in another project',
  ])
  await ana.put(`/projects/${other.id}/packages/npm/@acme%2fknown`, await documentOf(name, '2.0.0'))
  for (const root of ['/groups/acme/-/packages/npm', '/packages/npm']) {
    const found = await ana.get(`${root}/@acme%2fknown`)
    expect(Object.keys(found.body.versions), root).toEqual(['1.0.0', '2.0.0'])
    expect(found.body.versions['1.0.0'].dist.tarball).toContain(`/projects/${projectId}/`)
    expect(found.body.versions['2.0.0'].dist.tarball).toContain(`/projects/${other.id}/`)
    expect((await world.nobody.get(`${root}/@acme%2fknown`)).status).toBe(401)
    expect((await ana.get(`${root}/@acme%2fmissing`)).status).toBe(404)
  }
  const stranger = await world.user('stranger')
  expect((await stranger.get('/packages/npm/@acme%2fknown')).status).toBe(404)
  expect((await ana.get('/packages/npm/unscoped')).status).toBe(404)
  expect((await world.nobody.get(url(name))).status).toBe(401)
})

test('tags move between versions, and versions are deprecated and back', async () => {
  const name = 'tagged'
  await ana.put(url(name), await documentOf(name, '1.0.0'))
  await ana.put(url(name), await documentOf(name, '2.0.0-rc.1', { tag: 'next' }))
  const tags = `${at}/-/package/tagged/dist-tags`
  expect((await ana.get(tags)).body).toEqual({ latest: '1.0.0', next: '2.0.0-rc.1' })
  const put = (tag: string, raw: string) => ana.put(`${tags}/${tag}`, undefined, { raw })
  expect((await put('stable', '"1.0.0"')).status).toBe(204)
  expect((await put('next', '"1.0.0"')).status).toBe(204)
  expect((await ana.get(tags)).body).toEqual({ latest: '1.0.0', next: '1.0.0', stable: '1.0.0' })
  expect((await put('stable', '"9.9.9"')).status).toBe(404)
  expect((await put('1.0.0', '"1.0.0"')).status).toBe(400)
  expect((await put('stable', 'nonsense')).status).toBe(400)
  expect((await ana.delete(`${tags}/stable`)).status).toBe(204)
  expect((await ana.delete(`${tags}/stable`)).status).toBe(404)
  const deprecate = (deprecated: string) =>
    ana.put(
      url(name),
      { name, versions: { '1.0.0': { name, version: '1.0.0', deprecated } } },
      { headers: { 'npm-command': 'deprecate' } },
    )
  expect((await deprecate('use 2')).status).toBe(200)
  expect((await ana.get(url(name))).body.versions['1.0.0'].deprecated).toBe('use 2')
  const [listed] = (
    await ana.get(`/projects/${projectId}/packages?package_name=tagged&status=deprecated`)
  ).body
  expect(listed).toMatchObject({ version: '1.0.0', status: 'deprecated' })
  await deprecate('')
  expect((await ana.get(url(name))).body.versions['1.0.0'].deprecated).toBeUndefined()
})

test('tags are put and removed through the group, whichever of its projects has the version', async () => {
  const name = '@acme/spread'
  const [group] = (await ana.get('/groups?search=acme')).body
  const made = await ana.post('/projects', { name: 'other', namespace_id: group.id })
  await ana.put(url(name), await documentOf(name, '1.0.0'))
  world.setNow('2026-05-04T12:00:00.000Z')
  const newer = `/projects/${made.body.id}/packages/npm/@acme%2fspread`
  expect((await ana.put(newer, await documentOf(name, '2.0.0'))).status).toBe(200)
  const tags = `/groups/${group.id}/-/packages/npm/-/package/@acme%2fspread/dist-tags`
  const put = (tag: string, raw: string) => ana.put(`${tags}/${tag}`, undefined, { raw })
  expect((await put('old', '"1.0.0"')).status).toBe(204)
  expect((await put('new', '"2.0.0"')).status).toBe(204)
  expect((await put('none', '"3.0.0"')).status).toBe(404)
  expect((await ana.get(tags)).body).toMatchObject({ old: '1.0.0', new: '2.0.0' })
  expect((await ana.delete(`${tags}/old`)).status).toBe(204)
  expect((await ana.delete(`${tags}/old`)).status).toBe(404)
  expect((await ana.get(tags)).body).not.toHaveProperty('old')
  const guest = await world.user('reader')
  await ana.post(`/groups/${group.id}/members`, { user_id: guest.id, access_level: 20 })
  expect((await guest.put(`${tags}/new`, undefined, { raw: '"2.0.0"' })).status).toBe(403)
})

test('of two who publish one version at the same time, one wins and the other is refused', async () => {
  const name = 'raced'
  const documents = await Promise.all(
    ['a', 'b', 'c', 'd'].map((description) =>
      documentOf(name, '1.0.0', { manifest: { description } }),
    ),
  )
  const replies = await Promise.all(documents.map((one) => ana.put(url(name), one)))
  expect(replies.map((reply) => reply.status).sort()).toEqual([200, 403, 403, 403])
  const refused = replies.find((reply) => reply.status === 403)
  expect(refused?.body.error).toBe('Package already exists.')
  const { dist } = (await ana.get(url(name))).body.versions['1.0.0']
  const winner = documents[replies.findIndex((reply) => reply.status === 200)]
  expect(dist.shasum).toBe(winner?.versions['1.0.0']?.dist.shasum)
})

describe('what is refused, and leaves nothing', () => {
  const name = 'bad'
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const cases: Readonly<Record<string, () => Promise<unknown>>> = {
    'a body that is no JSON': async () => 'nonsense',
    'JSON nested ten thousand deep': async () => `{"a":${nested(10_000)}}`,
    'two versions': async () => {
      const document = await documentOf(name, '1.0.0')
      return {
        ...document,
        versions: { ...document.versions, '2.0.0': { name, version: '2.0.0' } },
      }
    },
    'no version': async () => ({ ...(await documentOf(name, '1.0.0')), versions: {} }),
    'another name than the address': async () => documentOf('other', '1.0.0'),
    'a version that is none': async () => documentOf(name, 'v1'),
    'a length that lies': async () => {
      const document = await documentOf(name, '1.0.0')
      for (const one of Object.values(document._attachments)) one.length += 1
      return document
    },
    'a shasum that lies': async () => {
      const document = await documentOf(name, '1.0.0')
      for (const one of Object.values(document.versions)) one.dist.shasum = '0'.repeat(40)
      return document
    },
    'an integrity that lies': async () => {
      const document = await documentOf(name, '1.0.0')
      for (const one of Object.values(document.versions)) one.dist.integrity = 'sha512-AAAA'
      return document
    },
    'an attachment that is no tarball': async () =>
      documentOf(name, '1.0.0', { tarball: Buffer.from('no tarball') }),
    'a tarball without package.json': async () =>
      documentOf(name, '1.0.0', { tarball: await tarballOf({ 'package/x': 'x' }) }),
    'a package.json of another version': async () =>
      documentOf(name, '1.0.0', { inTarball: { name, version: '6.6.6' } }),
    'a package.json with an install script that the document hides': async () =>
      documentOf(name, '1.0.0', {
        inTarball: { name, version: '1.0.0', scripts: { install: 'evil' } },
      }),
    'an empty attachment': async () => documentOf(name, '1.0.0', { tarball: Buffer.alloc(0) }),
    'a tag that reads as a version': async () => documentOf(name, '1.0.0', { tag: '2.x' }),
    'metadata beyond 20,000 characters': async () =>
      documentOf(name, '1.0.0', { manifest: { description: 'x'.repeat(20_001) } }),
    'a document of a hundred megabytes': async () => ({ name, readme: 'x'.repeat(100_000_000) }),
  }
  test.each(Object.keys(cases))('%s', async (which) => {
    const body = await cases[which]?.()
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    const sent = await ana.put(url(name), undefined, {
      raw,
      headers: { 'Content-Type': 'application/json', Connection: 'close' },
    })
    expect(sent.status).toBe(400)
    expect(typeof sent.body.error).toBe('string')
    if (which.includes('megabytes')) expect(sent.body.error).toMatch('The document is too large')
    expect((await ana.get(url(name))).status).toBe(404)
    expect(readdirSync(join(world.folder, 'files', 'tmp'))).toEqual([])
  })

  test.each(['..%2fx', '@x%2f..', 'a%5cb', 'caf%C3%A9', '__proto__%00', 'n'.repeat(300)])(
    'the name %s',
    async (wrong) => {
      const sent = await ana.put(`${at}/${wrong}`, await documentOf('x', '1.0.0'))
      expect([400, 404]).toContain(sent.status)
    },
  )
})

test('a refusal names its reason for npm, and what other clients read beside it', async () => {
  const body = async (path: string, who = ana) => (await who.get(`${at}/${path}`)).body
  expect(await body('nothing')).toEqual({
    message: '404 Package Not Found',
    error: 'Package not found',
  })
  expect(await body('nothing/-/nothing-1.0.0.tgz')).toEqual({
    message: '404 Package file Not Found',
    error: 'Package file not found',
  })
  expect((await world.nobody.get(`${at}/nothing`)).body.error).toBe('401 Unauthorized')
})

test('a body is split wherever its chunks begin', async () => {
  const document = JSON.stringify({
    name: 'a "quoted" \\ name',
    _attachments: { 'x-1.tgz': { data: Buffer.from('the tarball').toString('base64') } },
    other: { data: 'kept', _attachments: { y: { data: 'kept, too' } } },
  })
  for (let size = 1; size < 20; size += 1) {
    const chunks = async function* () {
      for (let from = 0; from < document.length; from += size) {
        yield Buffer.from(document.slice(from, from + size))
      }
    }
    const found = await splitBody(chunks(), async (_name, bytes) => {
      const parts: Uint8Array[] = []
      for await (const part of bytes) parts.push(part)
      return Buffer.concat(parts).toString()
    })
    expect([...found.attachments]).toEqual([['x-1.tgz', 'the tarball']])
    expect(found.document).toEqual({
      ...JSON.parse(document),
      _attachments: { 'x-1.tgz': { data: '' } },
    })
  }
})

test('npm audit, ping and whoami are answered', async () => {
  expect((await ana.post(`${at}/-/npm/v1/security/advisories/bulk`, { a: ['1'] })).body).toEqual({})
  expect((await ana.post(`${at}/-/npm/v1/security/audits/quick`, {})).body).toEqual([])
  expect((await ana.get('/packages/npm/-/ping')).body).toEqual({})
  expect((await ana.get(`${at}/-/whoami`)).body).toEqual({ username: 'ana' })
})
