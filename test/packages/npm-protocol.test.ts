import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PackageStatus } from '../../src/store/schema/packages.ts'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { plainRequest, publishNpm } from './publishing.ts'
import { tarballOf } from './tarball.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string
let npm: string
const GROUP = '/groups/acme/-/packages/npm'
const SERVER = '/packages/npm'

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = await newProject('p')
  at = `/projects/${projectId}/packages`
  npm = `${at}/npm`
})

async function newProject(name: string, namespace_id = groupId): Promise<number> {
  return (await ana.post('/projects', { name, namespace_id })).body.id
}

const publish = (name: string, version: string, options = {}) =>
  publishNpm(ana, at, name, version, options)
const SHORT = { headers: { Accept: 'application/vnd.npm.install-v1+json' } }
const put = (path: string, raw: string) => ana.put(path, undefined, { raw })
const below = (url: string) => new URL(url).pathname.replace('/api/v4', '')

describe('the document of a package', () => {
  const manifest = {
    description: 'A tool',
    keywords: ['x'],
    license: 'MIT',
    main: 'index.js',
    bin: { tool: 'bin.js' },
    directories: { lib: 'lib' },
    engines: { node: '>=20' },
    os: ['linux'],
    cpu: ['x64'],
    dependencies: { a: '^1.0.0' },
    devDependencies: { b: '*' },
    optionalDependencies: { c: '1' },
    peerDependencies: { d: '>=1' },
    peerDependenciesMeta: { d: { optional: true } },
    bundleDependencies: ['a'],
    _hasShrinkwrap: false,
    scripts: { test: 'x' },
    gitHead: 'f'.repeat(40),
  }

  test('holds what was published, its tarball with both hashes, its tags and times', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const document = await documentOf('full', '1.0.0', { manifest: { ...manifest, readme: 'R' } })
    const sent = { ...document, readme: '# Full', maintainers: [{ name: 'ana' }], access: 'public' }
    expect((await ana.put(`${npm}/full`, sent)).status).toBe(200)
    world.setNow('2026-05-04T10:05:00.000Z')
    expect((await publish('full', '1.1.0', { tag: 'next' })).status).toBe(200)
    world.setNow('2026-05-04T10:00:00.000Z')
    const { body, headers } = await ana.get(`${npm}/full`)
    expect(headers.get('content-type')).toBe('application/json')
    const { shasum, integrity } = document.versions['1.0.0']?.dist ?? {}
    const size = Object.values(document._attachments)[0]?.length
    const tarball = `${world.ctx.config.externalUrl}/api/v4${npm}/full/-/full-1.0.0.tgz`
    expect(body.versions['1.0.0']).toEqual({
      ...manifest,
      _id: 'full@1.0.0',
      name: 'full',
      version: '1.0.0',
      dist: { shasum, integrity, tarball, size },
    })
    expect({ ...body, versions: Object.keys(body.versions) }).toEqual({
      _id: 'full',
      _rev: expect.stringMatching(/^2-[0-9a-f]{32}$/),
      name: 'full',
      'dist-tags': { latest: '1.0.0', next: '1.1.0' },
      versions: ['1.0.0', '1.1.0'],
      modified: '2026-05-04T10:05:00.000Z',
      time: {
        created: '2026-05-04T10:00:00.000Z',
        modified: '2026-05-04T10:05:00.000Z',
        '1.0.0': '2026-05-04T10:00:00.000Z',
        '1.1.0': '2026-05-04T10:05:00.000Z',
      },
    })
    const short = await ana.get(`${npm}/full`, SHORT)
    expect(short.headers.get('content-type')).toBe('application/vnd.npm.install-v1+json')
    const { description: _, keywords: __, license: ___, main: ____, ...more } = manifest
    const { scripts: _____, gitHead: ______, ...kept } = more
    expect(short.body.versions['1.0.0']).toEqual({
      ...kept,
      name: 'full',
      version: '1.0.0',
      dist: { shasum, integrity, tarball, size },
    })
    expect(Object.keys(short.body)).toEqual(['name', 'dist-tags', 'versions', 'modified'])
  })

  test.each([
    [{ preinstall: 'x' }, true],
    [{ install: 'x' }, true],
    [{ postinstall: 'x' }, true],
    [{ prepare: 'x', preuninstall: 'x' }, undefined],
  ])('says of the scripts %j whether any runs at an install', async (scripts, runs) => {
    const name = `scripts-${Object.keys(scripts)[0]}`
    await publish(name, '1.0.0', { manifest: { scripts } })
    for (const options of [{}, SHORT]) {
      const { body } = await ana.get(`${npm}/${name}`, options)
      expect(body.versions['1.0.0'].hasInstallScript).toBe(runs)
    }
  })

  test('is the same by each way to write its name, to HEAD, and to those who have it', async () => {
    await publish('@acme/forms', '1.0.0')
    const first = await ana.get(`${npm}/@acme%2fforms`)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
    for (const path of ['@acme%2Fforms', '%40acme%2fforms', '@acme/forms', '%40acme/forms']) {
      const got = await ana.get(`${npm}/${path}`)
      expect([path, got.status, got.headers.get('etag')]).toEqual([path, 200, etag])
    }
    const head = await ana.head(`${npm}/@acme%2fforms`)
    expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', etag])
    for (const root of [npm, GROUP, SERVER]) {
      const known = { headers: { 'If-None-Match': etag } }
      expect((await ana.get(`${root}/@acme%2fforms`, known)).status).toBe(304)
    }
    await put(`${npm}/-/package/@acme%2fforms/dist-tags/beta`, '"1.0.0"')
    const changed = await ana.get(`${npm}/@acme%2fforms`, { headers: { 'If-None-Match': etag } })
    expect([changed.status, changed.body['dist-tags'].beta]).toEqual([200, '1.0.0'])
  })

  test('takes a package.json with keys that objects have of themselves for data', async () => {
    const odd = '{"constructor":"c","toString":{"__proto__":{"x":1}},"hasOwnProperty":true}'
    const document = await documentOf('odd-keys', '1.0.0', { manifest: JSON.parse(odd) })
    const raw = JSON.stringify(document).replace('"name"', '"__proto__":{"polluted":1},"name"')
    const headers = { 'Content-Type': 'application/json' }
    expect((await ana.put(`${npm}/odd-keys`, undefined, { raw, headers })).status).toBe(200)
    const { body } = await ana.get(`${npm}/odd-keys`)
    expect(body.versions['1.0.0']).toMatchObject({ constructor: 'c', hasOwnProperty: true })
    expect(JSON.stringify(body)).not.toContain('polluted')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('gives latest to the highest release where nobody did, else to the highest of all', async () => {
    await publish('latest', '2.0.0-rc.2', { tag: 'rc' })
    await publish('latest', '2.0.0-rc.10', { tag: 'rc' })
    const tags = `${npm}/-/package/latest/dist-tags`
    expect((await ana.get(tags)).body).toEqual({ latest: '2.0.0-rc.10', rc: '2.0.0-rc.10' })
    await publish('latest', '1.9.0', { tag: 'old' })
    await publish('latest', '1.10.0', { tag: 'old' })
    expect((await ana.get(tags)).body.latest).toBe('1.10.0')
    await put(`${tags}/latest`, '"1.9.0"')
    expect((await ana.get(tags)).body.latest).toBe('1.9.0')
    await publish('latest', '3.0.0')
    expect((await ana.get(`${npm}/latest`)).body['dist-tags']).toEqual({
      latest: '3.0.0',
      rc: '2.0.0-rc.10',
      old: '1.10.0',
    })
    expect((await ana.delete(`${tags}/latest`)).status).toBe(204)
    expect((await ana.get(tags)).body.latest).toBe('3.0.0')
  })

  test('has versions that can be used alone; hidden ones are installed by those who know them', async () => {
    const statuses: Readonly<Record<PackageStatus, readonly [listed: boolean, got: number]>> = {
      default: [true, 200],
      deprecated: [true, 200],
      hidden: [false, 200],
      processing: [false, 404],
      error: [false, 404],
      pending_destruction: [false, 404],
    }
    const names = Object.keys(statuses) as PackageStatus[]
    for (const [minor, status] of names.entries()) {
      await publish('states', `1.${minor}.0`, { tag: `t-${status}` })
      await world.ctx.db
        .updateTable('packages')
        .set({ status })
        .where('name', '=', 'states')
        .where('version', '=', `1.${minor}.0`)
        .execute()
    }
    await publish('states', '2.0.0')
    const { body } = await ana.get(`${npm}/states`)
    expect(Object.keys(body.versions)).toEqual(['1.0.0', '1.1.0', '2.0.0'])
    expect(Object.keys(body['dist-tags']).sort()).toEqual(['latest', 't-default', 't-deprecated'])
    for (const [minor, status] of names.entries()) {
      const got = await ana.get(`${npm}/states/-/states-1.${minor}.0.tgz`)
      expect([status, got.status]).toEqual([status, statuses[status][1]])
    }
    // A version that is being checked, or was found faulty, keeps its name; one that goes does not.
    expect((await publish('states', '1.4.0')).status).toBe(403)
    expect((await publish('states', '1.5.0')).status).toBe(200)
  })
})

describe('a tarball', () => {
  test('is downloaded by each of its names, whole, in part, and not again when it is known', async () => {
    const document = await documentOf('@acme/ball', '1.0.0')
    const tarball = Buffer.from(Object.values(document._attachments)[0]?.data ?? '', 'base64')
    await ana.put(`${npm}/@acme%2fball`, document)
    const fetched = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${world.url}/api/v4${path}`, {
        headers: { 'PRIVATE-TOKEN': ana.token ?? '', ...headers },
      })
      return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
    }
    for (const path of [
      `${npm}/@acme/ball/-/@acme/ball-1.0.0.tgz`,
      `${npm}/@acme/ball/-/ball-1.0.0.tgz`,
      `${npm}/@acme%2fball/-/@acme%2fball-1.0.0.tgz`,
      `${npm}/%40acme%2Fball/-/%40acme%2Fball-1.0.0.tgz`,
      `${GROUP}/@acme/ball/-/ball-1.0.0.tgz`,
      `${SERVER}/@acme%2fball/-/@acme/ball-1.0.0.tgz`,
    ]) {
      const { answer, bytes } = await fetched(path)
      expect([path, answer.status, bytes.equals(tarball)]).toEqual([path, 200, true])
      expect(answer.headers.get('content-disposition')).toBe(
        'attachment; filename="ball-1.0.0.tgz"',
      )
      expect(answer.headers.get('content-type')).toBe('application/octet-stream')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
    const path = `${npm}/@acme/ball/-/ball-1.0.0.tgz`
    const sha256 = createHash('sha256').update(tarball).digest('hex')
    const known = await fetched(path, { 'If-None-Match': `"${sha256}"` })
    expect(known.answer.status).toBe(304)
    const part = await fetched(path, { Range: 'bytes=10-19' })
    expect([part.answer.status, part.answer.headers.get('content-range')]).toEqual([
      206,
      `bytes 10-19/${tarball.length}`,
    ])
    expect(part.bytes.equals(tarball.subarray(10, 20))).toBe(true)
    const beyond = await fetched(path, { Range: `bytes=${tarball.length}-` })
    expect(beyond.answer.status).toBe(416)
  })

  test.each([
    'ball-2.0.0.tgz',
    'other-1.0.0.tgz',
    '@acme/other-1.0.0.tgz',
    'ball-1.0.0.zip',
    'ball-1.0.0',
    'ball-.tgz',
    'x/ball-1.0.0.tgz',
    '@other/ball-1.0.0.tgz',
    'ball-1.0.0.tgz/..%2fball-1.0.0.tgz',
  ])('is not found as %s', async (file) => {
    const got = await ana.get(`${npm}/@acme%2fball/-/${file}`)
    expect([got.status, got.body]).toEqual([
      404,
      { message: '404 Package file Not Found', error: 'Package file not found' },
    ])
  })
})

describe('one name in several projects of a group', () => {
  test('has the versions of all, the latest upload of each, and tags as they were last put', async () => {
    const other = `/projects/${await newProject('several')}/packages`
    await publishNpm(ana, at, '@x/several', '1.0.0')
    await publishNpm(ana, other, '@x/several', '1.0.0', { manifest: { description: 'second' } })
    await publishNpm(ana, other, '@x/several', '2.0.0', { tag: 'next' })
    await publishNpm(ana, at, '@x/several', '1.5.0', { tag: 'next' })
    const group = (await ana.get(`${GROUP}/@x%2fseveral`)).body
    expect(Object.keys(group.versions).sort()).toEqual(['1.0.0', '1.5.0', '2.0.0'])
    expect(group.versions['1.0.0'].description).toBe('second')
    expect(group.versions['1.0.0'].dist.tarball).toContain(other)
    expect(group['dist-tags']).toEqual({ latest: '1.0.0', next: '1.5.0' })
    const tarball = await ana.get(`${GROUP}/@x%2fseveral/-/several-1.0.0.tgz`, {
      headers: { 'If-None-Match': '"x"' },
    })
    const { dist } = group.versions['1.0.0']
    expect(tarball.headers.get('content-length')).toBe(String(dist.size))
    expect((await ana.get(`${npm}/@x%2fseveral`)).body.versions['1.0.0'].description).toBe(
      undefined,
    )
    expect((await ana.get(`${SERVER}/@x%2fseveral`)).status).toBe(404)
  })

  test('shows each caller the versions of the projects that they may read', async () => {
    const bob = await world.user('bob')
    const open = `/projects/${await newProject('for-bob')}/packages`
    await ana.post(`${open.replace('/packages', '')}/members`, {
      user_id: bob.id,
      access_level: 10,
    })
    await publishNpm(ana, at, '@acme/part', '1.0.0')
    await publishNpm(ana, open, '@acme/part', '2.0.0')
    for (const root of [GROUP, SERVER]) {
      expect(Object.keys((await ana.get(`${root}/@acme%2fpart`)).body.versions)).toHaveLength(2)
      const seen = (await bob.get(`${root}/@acme%2fpart`)).body
      expect([Object.keys(seen.versions), seen['dist-tags']]).toEqual([
        ['2.0.0'],
        { latest: '2.0.0' },
      ])
      expect((await bob.get(`${root}/@acme%2fpart/-/part-1.0.0.tgz`)).status).toBe(404)
      expect((await bob.get(`${root}/@acme%2fforms`)).status).toBe(404)
    }
  })

  test('is known to the whole server by a scope that is the path of the top-level group', async () => {
    const sub = await ana.post('/groups', { name: 'sub', path: 'sub', parent_id: groupId })
    const place = `/projects/${await newProject('deep', sub.body.id)}/packages`
    await publishNpm(ana, place, '@acme/deep', '1.0.0')
    await publishNpm(ana, place, '@sub/deep', '1.0.0')
    expect((await ana.get(`${SERVER}/@acme%2fdeep`)).status).toBe(200)
    expect((await ana.get(`${SERVER}/@sub%2fdeep`)).status).toBe(404)
    expect((await ana.get(`${SERVER}/@ACME%2fdeep`)).status).toBe(404)
    expect((await ana.get(`${GROUP}/@sub%2fdeep`)).status).toBe(200)
    const own = (await createProject(ana, 'own')).id
    await publishNpm(ana, `/projects/${own}/packages`, '@ana/mine', '1.0.0')
    expect((await ana.get(`${SERVER}/@ana%2fmine`)).status).toBe(200)
  })
})

describe('tags', () => {
  beforeAll(async () => {
    await publish('@acme/tagged', '1.0.0')
    await publish('@acme/tagged', '2.0.0', { tag: 'next' })
  })
  const tags = (root: string) => `${root}/-/package/@acme%2ftagged/dist-tags`

  test('are put, listed and removed at each level, in each form of the name', async () => {
    for (const root of [npm, GROUP, SERVER]) {
      const plain = `${root}/-/package/@acme/tagged/dist-tags`
      expect((await put(`${tags(root)}/one`, '"2.0.0"')).status).toBe(204)
      expect((await put(`${plain}/one`, ' "1.0.0"\n')).status).toBe(204)
      const wanted = { latest: '1.0.0', next: '2.0.0', one: '1.0.0' }
      for (const path of [tags(root), plain, tags(npm)])
        expect((await ana.get(path)).body).toEqual(wanted)
      const gone = await ana.delete(`${plain}/one`)
      expect([gone.status, gone.body]).toEqual([204, ''])
      const again = await ana.delete(`${tags(root)}/one`)
      expect([again.status, again.body]).toEqual([
        404,
        { message: '404 Package tag Not Found', error: 'Package tag not found' },
      ])
    }
  })

  test.each([
    ['nothing', ''],
    ['no JSON', '1.0.0'],
    ['a number', '1'],
    ['an object', '{"version":"1.0.0"}'],
    ['more than a kilobyte', `"${'1'.repeat(1030)}"`],
  ])('are not put by a body that is %s', async (_what, raw) => {
    expect((await put(`${tags(npm)}/wrong`, raw)).status).toBe(400)
    expect((await ana.get(tags(npm))).body).not.toHaveProperty('wrong')
  })

  test.each(['1', 'v1', '1.x', '^1.0.0', 'x', '-a', '.a', 'a%20b', 'a%2fb', 't'.repeat(256)])(
    'are not called %s',
    async (name) => {
      expect((await put(`${tags(npm)}/${name}`, '"1.0.0"')).status).toBe(400)
    },
  )

  test('need a version and a package that are there', async () => {
    for (const root of [npm, GROUP, SERVER]) {
      const missing = await put(`${tags(root)}/beta`, '"9.0.0"')
      expect([missing.status, missing.body.error]).toEqual([404, 'Package not found'])
      const path = `${root}/-/package/@acme%2fmissing/dist-tags`
      expect((await put(`${path}/beta`, '"1.0.0"')).status).toBe(404)
      expect((await ana.get(path)).status).toBe(404)
      expect((await ana.delete(`${path}/beta`)).status).toBe(404)
    }
  })

  test('go with their version', async () => {
    await publish('tag-gone', '1.0.0')
    await publish('tag-gone', '2.0.0', { tag: 'next' })
    const rows = (await ana.get(`${at}?package_name=tag-gone&order_by=version`)).body
    expect(rows[1].tags).toMatchObject([{ name: 'next', package_id: rows[1].id }])
    await ana.delete(`${at}/${rows[1].id}`)
    expect((await ana.get(`${npm}/-/package/tag-gone/dist-tags`)).body).toEqual({ latest: '1.0.0' })
    await publish('tag-gone', '2.0.0', { tag: 'beta' })
    await world.runTasks()
    expect((await ana.get(`${npm}/-/package/tag-gone/dist-tags`)).body).toEqual({
      latest: '1.0.0',
      beta: '2.0.0',
    })
  })
})

describe('a deprecation', () => {
  const deprecate = (name: string, versions: unknown, who = ana) =>
    who.put(`${npm}/${name}`, { name, versions }, { headers: { 'npm-command': 'deprecate' } })

  test('warns those who install, at every level, and leaves the version as it was', async () => {
    const name = '@acme/aged'
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) await publish(name, version)
    const versions = {
      '1.0.0': { deprecated: 'use 2' },
      '1.1.0': { name, version: '1.1.0', deprecated: 'use <2> & "more"' },
      '2.0.0': { name, version: '2.0.0' },
      '7.0.0': { deprecated: 'is not there' },
    }
    const said = await deprecate('@acme%2faged', versions)
    expect([said.status, said.body]).toEqual([200, { success: true }])
    for (const root of [npm, GROUP, SERVER]) {
      for (const options of [{}, SHORT]) {
        const { body } = await ana.get(`${root}/@acme%2faged`, options)
        const texts = Object.entries<{ deprecated?: string }>(body.versions).map(
          ([version, one]) => [version, one.deprecated],
        )
        expect(Object.fromEntries(texts)).toEqual({
          '1.0.0': 'use 2',
          '1.1.0': 'use <2> & "more"',
          '2.0.0': undefined,
        })
      }
    }
    expect((await ana.get(`${npm}/@acme%2faged/-/aged-1.0.0.tgz`)).status).toBe(200)
    const again = await publish(name, '1.0.0')
    expect([again.status, again.body]).toEqual([
      403,
      { message: 'Package already exists.', error: 'Package already exists.' },
    ])
    const listed = (await ana.get(`${at}?package_name=aged&order_by=version`)).body
    expect(listed.map((row: { status: string }) => row.status)).toEqual([
      'deprecated',
      'deprecated',
      'default',
    ])
    expect((await ana.get(`${at}/${listed[0].id}`)).body.status).toBe('deprecated')
    await deprecate('@acme%2faged', { '1.0.0': { deprecated: '' }, '1.1.0': {} })
    const { body } = await ana.get(`${npm}/@acme%2faged`)
    expect(body.versions['1.0.0'].deprecated).toBeUndefined()
    expect(body.versions['1.1.0'].deprecated).toBe('use <2> & "more"')
  })

  test('may stand in the package.json of a publication, and is taken back like others', async () => {
    await publish('born-aged', '1.0.0', { manifest: { deprecated: 'from the beginning' } })
    for (const options of [{}, SHORT]) {
      const { body } = await ana.get(`${npm}/born-aged`, options)
      expect(body.versions['1.0.0'].deprecated).toBe('from the beginning')
    }
    await deprecate('born-aged', { '1.0.0': { deprecated: '' } })
    const { body } = await ana.get(`${npm}/born-aged`)
    expect(body.versions['1.0.0']).not.toHaveProperty('deprecated')
  })

  test.each<[unknown, string | undefined]>([
    [true, 'This version is deprecated'],
    ['x'.repeat(2000), 'x'.repeat(1024)],
    [' ', undefined],
    [false, undefined],
    [null, undefined],
    [{ a: 1 }, undefined],
  ])('of %j in a package.json is %s', async (deprecated, text) => {
    const name = `said-${createHash('sha1').update(JSON.stringify(deprecated)).digest('hex')}`
    const sent = await publish(name, '1.0.0', { manifest: { deprecated } })
    expect(sent.status).toBe(200)
    expect((await ana.get(`${npm}/${name}`)).body.versions['1.0.0'].deprecated).toBe(text)
  })

  test.each<[string, unknown]>([
    ['no versions', undefined],
    ['versions that are a list', ['1.0.0']],
    ['a text that is a number', { '1.0.0': { deprecated: 1 } }],
    ['a text beyond 1024 characters', { '1.0.0': { deprecated: 'x'.repeat(1025) } }],
  ])('with %s is refused', async (_what, versions) => {
    await publish('refusing', '1.0.0')
    const refused = await deprecate('refusing', versions)
    expect([refused.status, refused.body.error]).toEqual([400, 'versions is invalid'])
    expect((await ana.get(`${npm}/refusing`)).body.versions['1.0.0'].deprecated).toBeUndefined()
  })

  test('that is sent again as it is changes nothing', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    for (const version of ['1.0.0', '2.0.0']) await publish('unchanged', version)
    await deprecate('unchanged', { '1.0.0': { deprecated: 'old' } })
    world.setNow('2026-05-04T11:00:00.000Z')
    const modified = async () => (await ana.get(`${npm}/unchanged`)).body.modified
    await deprecate('unchanged', { '1.0.0': { deprecated: 'old' }, '2.0.0': { deprecated: '' } })
    expect(await modified()).toBe('2026-05-04T10:00:00.000Z')
    await deprecate('unchanged', { '1.0.0': { deprecated: 'older' } })
    expect(await modified()).toBe('2026-05-04T11:00:00.000Z')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is of a package that is there', async () => {
    const refused = await deprecate('not-there', { '1.0.0': { deprecated: 'old' } })
    expect([refused.status, refused.body]).toEqual([
      404,
      { message: '404 Package Not Found', error: 'Package not found' },
    ])
  })

  test('brings no attachment', async () => {
    const document = await documentOf('refusing', '2.0.0')
    const headers = { 'npm-command': 'deprecate' }
    const refused = await ana.put(`${npm}/refusing`, document, { headers })
    expect([refused.status, refused.body.error]).toEqual([400, 'A deprecation has no attachment'])
  })
})

describe('a publication', () => {
  test.each(['v1.0.0', '=1.0.0', '1.0', '1', '01.0.0', '1.0.0+build', ' 1.0.0', '1.0.0-', ''])(
    'of the version %j is refused',
    async (version) => {
      const sent = await publish('versions', version)
      expect([sent.status, sent.body]).toEqual([
        400,
        {
          message: 'Validation failed: Version is invalid',
          error: 'Validation failed: Version is invalid',
        },
      ])
      expect((await ana.get(`${npm}/versions`)).status).toBe(404)
    },
  )

  test.each(['1.0.0-alpha.1', '1.0.0-0', '0.0.1', '1.2.3-x-y.z.1', `${2 ** 53 - 1}.0.0`])(
    'of the version %s is taken',
    async (version) => {
      expect((await publish('good-versions', version)).status).toBe(200)
      const got = await ana.get(`${npm}/good-versions/-/good-versions-${version}.tgz`)
      expect(got.status).toBe(200)
    },
  )

  test.each(['a', '-', '_x', '.hidden', 'a+b', 'UPPER', '@acme/-x', '@acme.co/a_b', 'constructor'])(
    'of the name %s is taken, and found at its address alone',
    async (name) => {
      expect((await publish(name, '1.0.0')).status).toBe(200)
      const path = encodeURIComponent(name)
      const { body } = await ana.get(`${npm}/${path}`)
      expect([body.name, Object.keys(body.versions)]).toEqual([name, ['1.0.0']])
      expect((await ana.get(below(body.versions['1.0.0'].dist.tarball))).status).toBe(200)
      expect((await ana.get(`${npm}/${path}x`)).status).toBe(404)
    },
  )

  test('names what is wrong with its document', async () => {
    const good = await documentOf('wrong-doc', '1.0.0')
    const sent = async (values: object) => {
      const { status, body } = await ana.put(`${npm}/wrong-doc`, { ...good, ...values })
      return [status, body.error]
    }
    const name = 'The name of the document is not the name of its address'
    expect(await sent({ name: '' })).toEqual([400, name])
    expect(await sent({ name: 'other' })).toEqual([400, name])
    const [version] = Object.values(good.versions)
    expect(await sent({ versions: { '1.0.0': { ...version, name: 'other' } } })).toEqual([
      400,
      name,
    ])
    expect(await sent({ versions: {} })).toEqual([400, 'Version is empty'])
    expect(await sent({ versions: { '2.0.0': version } })).toEqual([
      400,
      'Validation failed: Version is invalid',
    ])
    expect(await sent({ _attachments: {} })).toEqual([400, 'Attachment data is empty'])
    const [file] = Object.keys(good._attachments)
    expect(await sent({ _attachments: { [file ?? '']: { data: '' } } })).toEqual([
      400,
      'Attachment data is empty',
    ])
    expect((await sent({ versions: undefined }))[0]).toBe(400)
    expect((await sent({ _attachments: undefined }))[0]).toBe(400)
    expect(await sent({ 'dist-tags': { latest: '2.0.0' } })).toEqual([
      400,
      'A tag names another version than the one published',
    ])
    expect(await sent({ 'dist-tags': { '1.x': '1.0.0' } })).toEqual([
      400,
      'Validation failed: Tag name is invalid',
    ])
    expect((await ana.get(`${npm}/wrong-doc`)).status).toBe(404)
    expect(await sent({ 'dist-tags': { first: '1.0.0', second: '1.0.0' } })).toEqual([
      200,
      undefined,
    ])
    expect((await ana.get(`${npm}/-/package/wrong-doc/dist-tags`)).body).toEqual({
      latest: '1.0.0',
      first: '1.0.0',
    })
  })

  test('may say twenty thousand characters of a version, besides its readme, and no more', async () => {
    const empty = JSON.stringify({ name: 'long', version: '1.0.0', description: '' }).length
    const description = 'd'.repeat(20_000 - empty)
    const readme = 'r'.repeat(30_000)
    const more = await publish('long', '1.0.0', { manifest: { description: `${description}d` } })
    expect([more.status, more.body.error]).toEqual([
      400,
      'Validation failed: Package json structure is too large',
    ])
    const manifest = { description, readme, readmeFilename: 'README.md' }
    expect((await publish('long', '1.0.0', { manifest })).status).toBe(200)
    const { body } = await ana.get(`${npm}/long`)
    expect(body.versions['1.0.0'].description).toBe(description)
  })

  test('without tags, and without hashes and length of the tarball, is taken', async () => {
    const { 'dist-tags': _, ...document } = await documentOf('bare', '1.0.0')
    const versions = { '1.0.0': { name: 'bare', version: '1.0.0' } }
    const attachments = Object.entries(document._attachments).map(([file, { data }]) => [
      file,
      { data },
    ])
    const sent = { ...document, versions, _attachments: Object.fromEntries(attachments) }
    expect((await ana.put(`${npm}/bare`, sent)).status).toBe(200)
    const { body } = await ana.get(`${npm}/bare`)
    expect(body['dist-tags']).toEqual({ latest: '1.0.0' })
    expect(body.versions['1.0.0'].dist.integrity).toMatch(/^sha512-[\w+/]{86}==$/)
  })

  test('whose package.json is in a folder of another name, or comes late, is taken', async () => {
    const json = JSON.stringify({ name: 'folders', version: '1.0.0' })
    const tarball = await tarballOf({ 'any-name/a.js': 'x', 'any-name/package.json': json })
    expect((await publish('folders', '1.0.0', { tarball })).status).toBe(200)
  })

  test.each<[string, object, object]>([
    ['one that is hidden', { a: '1.0.0', b: '1' }, { a: '1.0.0' }],
    ['one that is not in it', { a: '1.0.0' }, { a: '1.0.0', b: '1' }],
    ['another range', { a: '1.0.0' }, { a: '2.0.0' }],
    ['a range for an address', { a: 'user/repo' }, { a: '1.0.0' }],
    ['another tag', { a: 'latest' }, { a: 'next' }],
    ['another alias', { a: 'npm:b@1' }, { a: 'npm:c@1' }],
    ['none', { a: '1.0.0' }, {}],
  ])('that says of its dependencies %s is refused', async (_what, own, said) => {
    const inTarball = { name: 'confused', version: '1.0.0', dependencies: own }
    const manifest = { dependencies: said }
    const sent = await publish('confused', '1.0.0', { manifest, inTarball })
    expect([sent.status, sent.body.error]).toEqual([
      400,
      'package.json in the tarball has other dependencies',
    ])
    expect((await ana.get(`${npm}/confused`)).status).toBe(404)
  })

  test.each<[string, object, object]>([
    [
      'optional dependencies among the others',
      { dependencies: { a: '1' }, optionalDependencies: { b: '1' } },
      { dependencies: { a: '1', b: '1' }, optionalDependencies: { b: '1' } },
    ],
    [
      'optional dependencies by themselves',
      { dependencies: { a: '1', b: '1' }, optionalDependencies: { b: '1' } },
      { dependencies: { a: '1' }, optionalDependencies: { b: '1' } },
    ],
    [
      'addresses of sources in full',
      { dependencies: { a: 'user/repo#v1', b: 'https://github.com/u/r.git' } },
      { dependencies: { a: 'github:user/repo#v1', b: 'git+https://github.com/u/r.git' } },
    ],
    ['a script for gyp', {}, { scripts: { install: 'node-gyp rebuild' }, gypfile: true }],
    ['a clean version', { version: 'v1.0.0' }, {}],
  ])('that writes %s, as npm does, is taken', async (what, own, manifest) => {
    const name = what.replaceAll(' ', '-')
    const inTarball = { name, version: '1.0.0', ...own }
    expect((await publish(name, '1.0.0', { manifest, inTarball })).status).toBe(200)
  })

  test('of a version that was deleted is taken again, with other bytes', async () => {
    await publish('again', '1.0.0')
    const before = (await ana.get(`${npm}/again`)).body.versions['1.0.0'].dist
    expect((await publish('again', '1.0.0')).status).toBe(403)
    const [row] = (await ana.get(`${at}?package_name=again`)).body
    expect((await ana.delete(`${at}/${row.id}`)).status).toBe(204)
    expect((await ana.get(`${npm}/again`)).status).toBe(404)
    expect((await ana.get(below(before.tarball))).status).toBe(404)
    await publish('again', '1.0.0', { manifest: { description: 'second' } })
    const after = (await ana.get(`${npm}/again`)).body.versions['1.0.0'].dist
    expect(after.tarball).toBe(before.tarball)
    expect(after.integrity).not.toBe(before.integrity)
  })
})

describe('unpublishing', () => {
  const published = async (name: string, ...versions: string[]) => {
    for (const version of versions)
      expect((await publish(name.replace('%2f', '/'), version)).status).toBe(200)
    return (await ana.get(`${npm}/${name}?write=true`)).body
  }
  const versionsOf = async (name: string) =>
    Object.keys((await ana.get(`${npm}/${name}`)).body.versions ?? {})
  const without = (document: { versions: Record<string, unknown> }, ...gone: string[]) => ({
    ...document,
    versions: Object.fromEntries(
      Object.entries(document.versions).filter(([version]) => !gone.includes(version)),
    ),
  })

  test('a version removes it with its tags and its tarball, as npm asks for it', async () => {
    const document = await published('parted', '1.0.0', '1.1.0', '1.2.0')
    await ana.put(`${npm}/-/package/parted/dist-tags/old`, undefined, { raw: '"1.2.0"' })
    const tarball = below(document.versions['1.2.0'].dist.tarball)
    const sent = await ana.put(
      `${npm}/parted/-rev/${document._rev}`,
      without(document, '1.2.0', '1.0.0'),
    )
    expect([sent.status, sent.body]).toEqual([200, { success: true }])
    const after = (await ana.get(`${npm}/parted`)).body
    expect([Object.keys(after.versions), after['dist-tags']]).toEqual([
      ['1.1.0'],
      { latest: '1.1.0' },
    ])
    expect(after._rev).not.toBe(document._rev)
    expect((await ana.get(tarball)).status).toBe(404)
    expect((await ana.delete(`${tarball}/-rev/${after._rev}`)).status).toBe(404)
    expect((await publish('parted', '1.2.0')).status).toBe(200)
  })

  test('by the tarball alone removes the version, since it is nothing without', async () => {
    const document = await published('@acme%2ftarred', '1.0.0', '1.1.0')
    const tarball = below(document.versions['1.0.0'].dist.tarball)
    expect((await ana.delete(`${tarball}/-rev/${document._rev}`)).status).toBe(200)
    expect(await versionsOf('@acme%2ftarred')).toEqual(['1.1.0'])
  })

  test('everything frees the name', async () => {
    const document = await published('@acme%2fwhole', '1.0.0', '1.1.0')
    const address = `${npm}/@acme%2fwhole/-rev/${document._rev}`
    expect((await ana.delete(address)).body).toEqual({ success: true })
    expect((await ana.get(`${npm}/@acme%2fwhole`)).status).toBe(404)
    expect((await ana.delete(address)).status).toBe(404)
    expect((await publish('@acme/whole', '1.0.0')).status).toBe(200)
  })

  test('from a document that is old removes nothing', async () => {
    const document = await published('stale', '1.0.0', '1.1.0')
    await publish('stale', '1.2.0')
    for (const rev of [document._rev, 'undefined']) {
      const address = `${npm}/stale/-rev/${rev}`
      const put = await ana.put(address, without(document, '1.0.0'))
      expect([put.status, put.body.error]).toEqual([409, 'The package has changed meanwhile'])
      expect((await ana.delete(address)).status).toBe(409)
    }
    expect(await versionsOf('stale')).toEqual(['1.0.0', '1.1.0', '1.2.0'])
  })

  test('is no way to change anything else, nor for a body that names no versions', async () => {
    const document = await published('kept', '1.0.0')
    const address = `${npm}/kept/-rev/${document._rev}`
    const other = await ana.put(address, { ...document, maintainers: [{ name: 'eve' }] })
    expect([other.status, other.body.error]).toEqual([403, 'Only versions can be removed'])
    for (const body of [{ _id: 'kept', maintainers: [] }, { versions: [] }, { versions: null }, []])
      expect((await ana.put(address, body)).status).toBe(400)
    expect(await versionsOf('kept')).toEqual(['1.0.0'])
  })

  test('is for Maintainers, and not where a rule protects the package from deletion', async () => {
    const document = await published('guarded', '1.0.0', '1.1.0')
    const address = `${npm}/guarded/-rev/${document._rev}`
    const tarball = `${below(document.versions['1.0.0'].dist.tarball)}/-rev/${document._rev}`
    const developer = await world.user('unpublisher')
    await addMember(world, projectId, developer.id, 30)
    const attempts = (who: Caller) => [
      who.put(address, without(document, '1.0.0')),
      who.delete(address),
      who.delete(tarball),
    ]
    const statuses = async (who: Caller) =>
      (await Promise.all(attempts(who))).map(({ status }) => status)
    expect(await statuses(developer)).toEqual([403, 403, 403])
    expect(await statuses(world.nobody)).toEqual([401, 401, 401])
    await ana.post(`${at}/protection/rules`, {
      package_name_pattern: 'guarded',
      package_type: 'npm',
      minimum_access_level_for_delete: 'admin',
    })
    expect(await statuses(ana)).toEqual([403, 403, 403])
    expect(await versionsOf('guarded')).toEqual(['1.0.0', '1.1.0'])
  })

  test('at a group or the whole server is refused aloud: npm takes 404 for done', async () => {
    const document = await published('@acme%2fshared', '1.0.0', '1.1.0')
    for (const root of [GROUP, SERVER]) {
      const address = `${root}/@acme%2fshared/-rev/${document._rev}`
      const put = await ana.put(address, without(document, '1.0.0'))
      expect([root, put.status, put.body.error]).toEqual([
        root,
        405,
        'Packages are unpublished at the registry of their project',
      ])
      expect((await ana.delete(address)).status).toBe(405)
    }
    expect(await versionsOf('@acme%2fshared')).toEqual(['1.0.0', '1.1.0'])
  })
})

describe('what is not offered', () => {
  test.each([
    ['PUT', '/-/user/org.couchdb.user:ana'],
    ['POST', '/-/v1/login'],
    ['GET', '/-/v1/search?text=tool'],
    ['GET', '/-/all'],
    ['GET', '/full/1.0.0'],
  ])('%s %s is 404', async (method, path) => {
    for (const root of [npm, GROUP, SERVER])
      expect([root, (await ana.call(method, `${root}${path}`)).status]).toEqual([root, 404])
  })

  test('nobody publishes to a group or to the whole server', async () => {
    const document = await documentOf('@acme/x', '1.0.0')
    for (const root of [GROUP, SERVER])
      expect((await ana.put(`${root}/@acme%2fx`, document)).status).toBe(405)
  })
})

test('whoami says who a token acts for, and ping needs no more than to see the place', async () => {
  const made = await ana.post(`/projects/${projectId}/deploy_tokens`, {
    name: 't',
    username: 'robot',
    scopes: ['read_package_registry'],
  })
  const robot = world.withHeader('DEPLOY-TOKEN', made.body.token)
  for (const root of [npm, GROUP, SERVER]) {
    expect((await ana.get(`${root}/-/whoami`)).body).toEqual({ username: 'ana' })
    expect((await robot.get(`${root}/-/whoami`)).body).toEqual({ username: 'robot' })
    expect((await world.nobody.get(`${root}/-/whoami`)).status).toBe(401)
    expect((await ana.get(`${root}/-/ping`)).body).toEqual({})
    const anonymous = await world.nobody.get(`${root}/-/ping`)
    expect(anonymous.status).toBe(root === SERVER ? 200 : 401)
  }
})

test('audits find nothing, in the form of each, for those who see the place', async () => {
  const stranger = await world.user('auditor')
  for (const root of [npm, GROUP, SERVER]) {
    const security = `${root}/-/npm/v1/security`
    const bulk = await ana.post(`${security}/advisories/bulk`, { tool: ['1.0.0'] })
    expect([bulk.status, bulk.body]).toEqual([200, {}])
    const quick = await ana.post(`${security}/audits/quick`, { name: 'x', requires: {} })
    expect([quick.status, quick.body]).toEqual([200, []])
    const status = root === SERVER ? 200 : 404
    expect((await stranger.post(`${security}/advisories/bulk`, {})).status).toBe(status)
  }
})

test('paths with steps up, empty segments and odd encodings lead nowhere else', async () => {
  for (const path of [
    `${npm}/..%2fpypi%2fsimple`,
    `${npm}/%2e%2e/generic`,
    `${npm}/../npm/full`,
    `${npm}/@acme%2f..`,
    `${npm}/@acme%2f%2e%2e`,
    `${npm}/@acme%252fforms`,
    `${npm}/@%2fforms`,
    `${npm}/@acme%2fforms%2fx`,
    `${npm}/full%00`,
    `${npm}/full%ff`,
    `${npm}/full/-/..%2ffull-1.0.0.tgz`,
    `${npm}/full/-/../full-1.0.0.tgz`,
  ]) {
    const { status } = await plainRequest(world, ana, 'GET', path)
    expect([path, status]).toEqual([path, 404])
    const document = JSON.stringify(await documentOf('full', '9.0.0'))
    const sent = await plainRequest(world, ana, 'PUT', path, document)
    expect([path, [400, 404, 405].includes(sent.status)]).toEqual([path, true])
  }
  expect((await plainRequest(world, ana, 'GET', `${npm}//full/`)).status).toBe(200)
  expect((await ana.get(`${npm}/full`)).body.versions).not.toHaveProperty('9.0.0')
})
