import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PackageStatus } from '../../src/store/schema/packages.ts'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { Caller, useCaller, useWorld } from '../support/world.ts'
import { nupkgOf, nuspecOf, plainRequest, pushNuget } from './publishing.ts'
import { zipOf } from './zip-file.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string
let nuget: string
const GROUP = '/groups/acme/-/packages/nuget'

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
  nuget = `${at}/nuget`
})

const push = async (id: string, version: string, more?: string) =>
  await pushNuget(ana, at, await nupkgOf(id, version, more))
const urlOf = (path: string) => `${world.ctx.config.externalUrl}/api/v4${path}`
const below = (url: string) => url.slice(url.indexOf('/api/v4') + '/api/v4'.length)
const sha = (kind: string, bytes: Uint8Array) => createHash(kind).update(bytes).digest('hex')

async function downloaded(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${world.url}/api/v4${path}`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '', ...headers },
  })
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
}

const withHeaders = (headers: Readonly<Record<string, string>>) => ({
  async push(nupkg: Uint8Array<ArrayBuffer>, path = '/nuget/') {
    const nobody = new Caller(world.url, null, 0, '')
    return await pushNuget(nobody, at, nupkg, path, headers)
  },
})

describe('the service index', () => {
  const search = ['', '/3.0.0-beta', '/3.0.0-rc'].map((one) => `SearchQueryService${one}`)
  const registration = ['', '/3.0.0-beta', '/3.0.0-rc'].map((one) => `RegistrationsBaseUrl${one}`)

  test('names the addresses of a project and of a group, to everybody and for whatever there is', async () => {
    const ofGroup = (root: string) => [
      ...search.map((type) => [type, `${root}/query`]),
      ...registration.map((type) => [type, `${root}/metadata`]),
    ]
    const ofProject = (root: string) => [
      ...ofGroup(root),
      ['PackageBaseAddress/3.0.0', `${root}/download`],
      ['PackagePublish/2.0.0', root],
      ['SymbolPackagePublish/4.9.0', `${root}/symbolpackage`],
    ]
    for (const [root, resources] of [
      [nuget, ofProject],
      ['/projects/acme%2fp/packages/nuget', ofProject],
      ['/projects/999999/packages/nuget', ofProject],
      [GROUP, ofGroup],
      [`/groups/${groupId}/-/packages/nuget`, ofGroup],
      ['/groups/nowhere/-/packages/nuget', ofGroup],
    ] as const) {
      for (const file of ['index.json', 'index']) {
        const { status, body, headers } = await world.nobody.get(`${root}/${file}`)
        expect([root, status, body.version]).toEqual([root, 200, '3.0.0'])
        expect(headers.get('content-type')).toBe('application/json')
        const found = body.resources.map((one: Record<string, string>) => [
          one['@type'],
          one['@id'],
        ])
        expect(found).toEqual(resources(urlOf(root.replace('%2f', '%2F'))))
      }
    }
  })
})

describe('the registration of a name', () => {
  const dependencies = `<authors>Ana, Bob</authors><description>A &lt;tool&gt; &amp; more</description>
    <title>The Tool</title><summary>Short</summary><tags>a b</tags>
    <projectUrl>https://example.com/p</projectUrl><licenseUrl>https://example.com/l</licenseUrl>
    <iconUrl>javascript:alert(1)</iconUrl>
    <dependencies>
      <group targetFramework="net8.0"><dependency id="Other.Lib" version="[1.0, 2.0)" exclude="Build"/></group>
      <group targetFramework=".NETStandard2.0"/>
      <group><dependency id="Any" version="1.0.0"/></group>
    </dependencies>`

  test('is one page of leaves, the lowest version first, with addresses of its own project', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    await push('Reg.Tool', '2.0.0-rc.1')
    world.setNow('2026-05-04T11:00:00.000Z')
    await push('Reg.Tool', '1.0', dependencies)
    world.setNow('2026-05-04T10:00:00.000Z')
    const content = urlOf(`${nuget}/download/reg.tool/1.0.0/reg.tool.1.0.0.nupkg`)
    const first = (root: string) => {
      const leaf = `${root}/metadata/reg.tool/1.0.0.json`
      return {
        '@id': leaf,
        packageContent: content,
        catalogEntry: {
          '@id': leaf,
          id: 'Reg.Tool',
          version: '1.0',
          authors: 'Ana, Bob',
          description: 'A <tool> & more',
          summary: 'Short',
          tags: 'a b',
          published: '2026-05-04T11:00:00.000Z',
          packageContent: content,
          dependencyGroups: [
            {
              '@id': `${leaf}#dependencyGroup/net8.0`,
              '@type': 'PackageDependencyGroup',
              targetFramework: 'net8.0',
              dependencies: [
                {
                  '@id': `${leaf}#dependencyGroup/net8.0/other.lib`,
                  '@type': 'PackageDependency',
                  id: 'Other.Lib',
                  range: '[1.0, 2.0)',
                },
              ],
            },
            {
              '@id': `${leaf}#dependencyGroup/.netstandard2.0`,
              '@type': 'PackageDependencyGroup',
              targetFramework: '.NETStandard2.0',
              dependencies: [],
            },
            {
              '@id': `${leaf}#dependencyGroup`,
              '@type': 'PackageDependencyGroup',
              dependencies: [
                {
                  '@id': `${leaf}#dependencyGroup/any`,
                  '@type': 'PackageDependency',
                  id: 'Any',
                  range: '1.0.0',
                },
              ],
            },
          ],
          projectUrl: 'https://example.com/p',
          licenseUrl: 'https://example.com/l',
          iconUrl: '',
        },
      }
    }
    for (const path of [nuget, GROUP, `/groups/${groupId}/-/packages/nuget`]) {
      const root = urlOf(path)
      for (const name of ['reg.tool', 'Reg.Tool', 'REG.TOOL']) {
        const { status, body } = await ana.get(`${path}/metadata/${name}/index.json`)
        expect([path, status]).toEqual([path, 200])
        const [page] = body.items
        expect({ ...body, items: [{ ...page, items: page.items[0] }] }).toEqual({
          '@id': `${root}/metadata/reg.tool/index.json`,
          count: 1,
          items: [
            {
              '@id': `${root}/metadata/reg.tool/2.0.0-rc.1.json`,
              lower: '1.0',
              upper: '2.0.0-rc.1',
              count: 2,
              items: first(root),
            },
          ],
        })
      }
      for (const version of ['1.0', '1.0.0', '1.0.0.0', '01.0', '1', '1.0.0+meta']) {
        const leaf = await ana.get(`${path}/metadata/reg.tool/${version}.json`)
        expect([version, leaf.status, leaf.body]).toEqual([version, 200, first(root)])
      }
      for (const version of ['2.0.0-RC.1', '2.0.0-rc.1'])
        expect((await ana.get(`${path}/metadata/reg.tool/${version}.json`)).status).toBe(200)
      for (const missing of ['reg.tool/2.0.0.json', 'reg.tool/x.json', 'none/1.0.0.json'])
        expect((await ana.get(`${path}/metadata/${missing}`)).status).toBe(404)
      expect((await ana.get(`${path}/metadata/none/index.json`)).status).toBe(404)
    }
  })

  test('is made once for each name and address, whoever asks in whatever form', async () => {
    const documents = async () => {
      const rows = await world.ctx.db
        .selectFrom('package_documents')
        .select(['form', 'name_key'])
        .where('package_type', '=', 'nuget')
        .execute()
      return rows.length
    }
    await ana.get(`${nuget}/metadata/reg.tool/index.json`)
    await ana.get('/projects/acme%2Fp/packages/nuget/metadata/reg.tool/index.json')
    const before = await documents()
    for (const id of [`0${projectId}`, `000${projectId}`, 'acme%2fp', '%61cme%2Fp']) {
      const got = await ana.get(`/projects/${id}/packages/nuget/metadata/reg.tool/index.json`)
      const own = id.endsWith('p') ? 'acme%2Fp' : String(projectId)
      expect([id, got.status, got.body['@id']]).toEqual([
        id,
        200,
        urlOf(`/projects/${own}/packages/nuget/metadata/reg.tool/index.json`),
      ])
    }
    for (const name of ['none', 'none.more', 'REG.TOOL2'])
      expect((await ana.get(`${nuget}/metadata/${name}/index.json`)).status).toBe(404)
    expect(await documents()).toBe(before)
  })

  test('has the newest three hundred of its versions, and downloads have all', async () => {
    await push('Many', '0.0.1')
    const { db } = world.ctx
    const first = await db
      .selectFrom('packages')
      .selectAll()
      .where('name', '=', 'Many')
      .executeTakeFirstOrThrow()
    const { id: _, ...row } = first
    const versions = Array.from({ length: 300 }, (_one, minor) => `1.${minor}.0`)
    const made = await db
      .insertInto('packages')
      .values(versions.map((version) => ({ ...row, version, version_key: version })))
      .returning('id')
      .execute()
    await db
      .insertInto('package_metadata')
      .values(made.map(({ id }) => ({ package_id: id, content: '{"groups":[],"title":""}' })))
      .execute()
    const path = `${GROUP}/metadata/many/index.json`
    const [page] = (await ana.get(path)).body.items
    expect([page.count, page.lower, page.upper]).toEqual([300, '1.0.0', '1.299.0'])
    expect((await ana.get(`${nuget}/download/many/index.json`)).body.versions).toHaveLength(301)
    const found = (await ana.get(`${nuget}/query?q=many`)).body.data[0]
    expect(found.versions.map((one: { version: string }) => one.version)).toEqual(
      Array.from({ length: 10 }, (_one, index) => `1.${290 + index}.0`),
    )
    expect((await ana.get(`${nuget}/metadata/many/0.0.1.json`)).status).toBe(200)
  })
})

describe('a search', () => {
  let place: string

  beforeAll(async () => {
    const made = await ana.post('/projects', { name: 'search', namespace_id: groupId })
    place = `/projects/${made.body.id}/packages`
    for (let count = 0; count < 32; count += 1) {
      const id = `Find.N${String(count).padStart(2, '0')}`
      await pushNuget(ana, place, await nupkgOf(id, '1.0.0'))
    }
    for (const version of ['1.0.0', '2.0.0-beta', '1.5.0'])
      await pushNuget(ana, place, await nupkgOf('Mixed', version))
    await pushNuget(ana, place, await nupkgOf('OnlyBeta', '0.1.0-beta'))
  })

  const search = async (query: string) => (await ana.get(`${place}/nuget/query?${query}`)).body
  const ids = (body: { data: readonly { id: string }[] }) => body.data.map((one) => one.id)

  test('gives twenty names, or as many as are wanted up to thirty, and counts them all', async () => {
    const all = await search('q=find')
    expect([all.totalHits, all.data.length]).toEqual([32, 20])
    expect((await search('q=FIND.n')).data).toHaveLength(20)
    expect((await search('q=find&take=5')).data).toHaveLength(5)
    const none = await search('q=find&take=0')
    expect([none.totalHits, none.data]).toEqual([32, []])
    expect((await search('q=find&take=1000')).data).toHaveLength(30)
    const last = await search('q=find&skip=30&take=10')
    expect([last.totalHits, ids(last)]).toEqual([32, ['Find.N30', 'Find.N31']])
    expect((await search('q=find&skip=100')).data).toEqual([])
    expect((await search('q=nothing')).totalHits).toBe(0)
    expect((await search('q=%25')).totalHits).toBe(0)
    expect((await search('')).totalHits).toBe(34)
    for (const wrong of ['skip=-1', 'take=x', 'prerelease=perhaps'])
      expect((await ana.get(`${place}/nuget/query?${wrong}`)).status).toBe(400)
  })

  test('shows of each name its highest version, and pre-releases unless they are not wanted', async () => {
    const mixed = (await search('q=mixed')).data[0]
    const root = urlOf(`${place}/nuget`)
    const version = (one: string) => ({
      '@id': `${root}/metadata/mixed/${one}.json`,
      version: one,
      downloads: 0,
    })
    expect(mixed).toEqual({
      '@type': 'Package',
      id: 'Mixed',
      title: 'Mixed',
      version: '2.0.0-beta',
      versions: [version('1.0.0'), version('1.5.0'), version('2.0.0-beta')],
      totalDownloads: 0,
      verified: true,
      tags: '',
      authors: 'Ana',
      description: 'A tool',
      summary: '',
    })
    const released = (await search('q=mixed&prerelease=false&semVerLevel=2.0.0')).data[0]
    expect([released.version, released.versions]).toEqual([
      '1.5.0',
      [version('1.0.0'), version('1.5.0')],
    ])
    expect((await search('q=onlybeta')).totalHits).toBe(1)
    expect(await search('q=onlybeta&prerelease=false')).toEqual({ totalHits: 0, data: [] })
  })

  test('of a group finds what its caller may read, at the addresses of the group', async () => {
    const bob = await world.user('search-bob')
    await addMember(world, projectId, bob.id, 10)
    const seen = async (who: Caller) => (await who.get(`${GROUP}/query?q=mixed`)).body.totalHits
    expect([await seen(ana), await seen(bob)]).toEqual([1, 0])
    const [found] = (await ana.get(`${GROUP}/query?q=mixed`)).body.data
    expect(found.versions[0]['@id']).toBe(urlOf(`${GROUP}/metadata/mixed/1.0.0.json`))
  })
})

describe('a push', () => {
  test('is taken at each of its addresses, with and without a slash at the end', async () => {
    for (const [minor, path] of ['/nuget', '/nuget/', '/nuget/v2', '/nuget/v2/'].entries()) {
      const sent = await pushNuget(ana, at, await nupkgOf('Pushed', `1.${minor}.0`), path)
      expect([path, sent.status, sent.body]).toEqual([path, 201, { message: '201 Created' }])
    }
    const { versions } = (await ana.get(`${nuget}/download/pushed/index.json`)).body
    expect(versions).toEqual(['1.0.0', '1.1.0', '1.2.0', '1.3.0'])
  })

  test('without credentials is asked for them by Basic, and then answered', async () => {
    const nupkg = await nupkgOf('Asked', '1.0.0')
    const asked = await withHeaders({}).push(nupkg)
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="svc Packages Registry"',
    ])
    const basic = `Basic ${Buffer.from(`ana:${ana.token}`).toString('base64')}`
    expect((await withHeaders({ Authorization: basic }).push(nupkg)).status).toBe(201)
  })

  test('by an API key is by whose key it is; a key that only has to be there counts for nothing', async () => {
    const basic = (password: string) => ({
      Authorization: `Basic ${Buffer.from(`ana:${password}`).toString('base64')}`,
    })
    const made = await ana.post(`/projects/${projectId}/deploy_tokens`, {
      name: 't',
      scopes: ['write_package_registry'],
    })
    const own = String(ana.token)
    for (const [version, headers, status] of [
      ['1.0.0', { 'X-NuGet-ApiKey': own }, 201],
      ['1.0.1', { 'X-NuGet-ApiKey': made.body.token }, 201],
      ['1.0.2', { 'X-NuGet-ApiKey': 'any', ...basic(own) }, 201],
      ['1.0.3', { 'X-NuGet-ApiKey': own, ...basic('wrong') }, 401],
      ['1.0.4', { 'X-NuGet-ApiKey': 'wrong' }, 401],
      ['1.0.5', { 'X-NuGet-ApiKey': '' }, 401],
    ] as const) {
      const sent = await withHeaders(headers).push(await nupkgOf('Keyed', version))
      expect([version, sent.status]).toEqual([version, status])
    }
    const key = { headers: { 'X-NuGet-ApiKey': own } }
    expect((await world.nobody.get(`${nuget}/query`, key)).status).toBe(200)
    expect((await world.nobody.delete(`${nuget}/keyed/1.0.0`, undefined, key)).status).toBe(204)
    expect((await world.nobody.get(`${at}/npm/-/ping`, key)).status).toBe(401)
  })

  test('of a version that is there adds a file, which is served from now on with what it says', async () => {
    await push('Again', '1.0.0', '<authors>First</authors><description>d</description>')
    const second = await nupkgOf(
      'AGAIN',
      '1.0',
      '<authors>Second</authors><description>d</description>',
    )
    expect((await pushNuget(ana, at, second)).status).toBe(201)
    const { bytes } = await downloaded(`${nuget}/download/again/1.0.0/again.1.0.0.nupkg`)
    expect(sha('sha256', bytes)).toBe(sha('sha256', second))
    const leaf = (await ana.get(`${nuget}/metadata/again/1.0.0.json`)).body.catalogEntry
    expect([leaf.id, leaf.version, leaf.authors]).toEqual(['Again', '1.0.0', 'Second'])
    const [row] = (await ana.get(`${at}?package_name=again&package_type=nuget`)).body
    const files = (await ana.get(`${at}/${row.id}/package_files`)).body
    expect(files.map((one: { file_name: string }) => one.file_name)).toEqual([
      'again.1.0.0.nupkg',
      'again.1.0.0.nupkg',
    ])
  })

  test('of one version by several at once, where one is all that may be, is one of theirs', async () => {
    await ana.put('/groups/acme/packages/settings', { nuget_duplicates_allowed: false })
    const all = await Promise.all(
      ['A', 'B', 'C', 'D'].map((author) =>
        nupkgOf('Raced', '1.0.0', `<authors>${author}</authors><description>d</description>`),
      ),
    )
    const replies = await Promise.all(all.map((nupkg) => pushNuget(ana, at, nupkg)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409])
    const refused = replies.find((reply) => reply.status === 409)
    expect(refused?.body).toEqual({
      message: 'A package with the same name and version already exists',
    })
    const winner = all[replies.findIndex((reply) => reply.status === 201)] ?? Buffer.alloc(0)
    const { bytes } = await downloaded(`${nuget}/download/raced/1.0.0/raced.1.0.0.nupkg`)
    expect(sha('sha256', bytes)).toBe(sha('sha256', winner))
    expect((await push('Raced', '1.0.0.0')).status).toBe(409)
    expect((await push('RACED', '1.0')).status).toBe(409)
    expect((await push('Raced', '1.0.0-beta')).status).toBe(201)
    await ana.delete(`${nuget}/raced/1.0.0`)
    expect((await push('Raced', '1.0.0')).status).toBe(201)
    await ana.put('/groups/acme/packages/settings', { nuget_duplicates_allowed: true })
  })

  test('cuts long texts, and keeps addresses of the web alone', async () => {
    const more = `<authors>${'a'.repeat(300)}</authors><description>${'d'.repeat(5000)}</description>
      <projectUrl>file:///etc/passwd</projectUrl><licenseUrl>HTTP://example.com</licenseUrl>`
    expect((await push('Cut', '1.0.0', more)).status).toBe(201)
    const entry = (await ana.get(`${nuget}/metadata/cut/1.0.0.json`)).body.catalogEntry
    expect([entry.authors.length, entry.description.length]).toEqual([255, 4000])
    expect([entry.projectUrl, entry.licenseUrl]).toEqual(['', 'HTTP://example.com'])
  })

  test.each([
    ['A', true],
    ['A.B-C_D', true],
    ['_a', true],
    ['a1.2', true],
    ['', false],
    ['.a', false],
    ['a.', false],
    ['a..b', false],
    ['a b', false],
    ['a/b', false],
    ['\u0430', false],
    ['$id$', false],
  ])('of the id %j is taken: %s', async (id, isTaken) => {
    const nupkg = await zipOf({ 'x.nuspec': nuspecOf(id, '1.0.0') })
    const sent = await pushNuget(ana, at, nupkg)
    expect(sent.status).toBe(isTaken ? 201 : 400)
    if (!isTaken) expect(sent.body.message).toBe('400 Bad request - The nuspec has no valid id')
  })

  test.each(['', 'x', '1.0.0.0.0', 'v1.0', '1.-1', '1.0-', '1.0.0-b\u00e9ta', '9999999999.0'])(
    'of the version %j is refused',
    async (version) => {
      const nupkg = await zipOf({ 'x.nuspec': nuspecOf('Versions', version) })
      const sent = await pushNuget(ana, at, nupkg)
      expect([sent.status, sent.body.message]).toEqual([
        400,
        '400 Bad request - The nuspec has no valid version',
      ])
    },
  )
})

describe('a file', () => {
  test('is downloaded by any form of its name and version, whole, in part, and when it is new', async () => {
    const nupkg = await nupkgOf('Got.It', '1.2')
    await pushNuget(ana, at, nupkg)
    for (const path of [
      'got.it/1.2.0/got.it.1.2.0.nupkg',
      'Got.It/1.2/Got.It.1.2.nupkg',
      'GOT.IT/1.2.0.0/got.it.1.2.0.0.NUPKG',
    ]) {
      const { answer, bytes } = await downloaded(`${nuget}/download/${path}`)
      expect([path, answer.status, bytes.equals(nupkg)]).toEqual([path, 200, true])
      expect(answer.headers.get('content-type')).toBe('application/octet-stream')
      expect(answer.headers.get('content-disposition')).toBe(
        'attachment; filename="got.it.1.2.0.nupkg"',
      )
      expect(answer.headers.get('location')).toBeNull()
    }
    const path = `${nuget}/download/got.it/1.2.0/got.it.1.2.0.nupkg`
    const head = await ana.head(path)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(nupkg.length)])
    const known = { 'If-None-Match': `"${sha('sha256', nupkg)}"` }
    expect((await downloaded(path, known)).answer.status).toBe(304)
    const part = await downloaded(path, { Range: 'bytes=0-3' })
    expect([part.answer.status, part.bytes.toString('latin1')]).toEqual([206, 'PK\x03\x04'])
    for (const wrong of [
      'got.it/1.2.0/got.it.1.2.0.zip',
      'got.it/1.2.0/got.it.1.2.0.snupkg',
      'got.it/1.2.0/nupkg',
      'got.it/9.9.9/got.it.9.9.9.nupkg',
      'got.it/x/got.it.nupkg',
      'none/1.2.0/none.1.2.0.nupkg',
    ]) {
      const missing = await ana.get(`${nuget}/download/${wrong}`)
      expect([wrong, missing.status, missing.body]).toEqual([
        wrong,
        404,
        { message: '404 Package file Not Found' },
      ])
    }
    expect((await ana.get(`${nuget}/download/none/index.json`)).status).toBe(404)
  })

  test('of a version in whatever status is found, or not, as that says', async () => {
    const statuses: Readonly<Partial<Record<PackageStatus, readonly [boolean, number]>>> = {
      default: [true, 200],
      deprecated: [true, 200],
      hidden: [false, 200],
      processing: [false, 404],
      error: [false, 404],
    }
    for (const [minor, [status, [isListed, got]]] of Object.entries(statuses).entries()) {
      const version = `1.${minor}.0`
      await push('States', version)
      await world.ctx.db
        .updateTable('packages')
        .set({ status: status as PackageStatus })
        .where('name', '=', 'States')
        .where('version', '=', version)
        .execute()
      const { versions = [] } = (await ana.get(`${nuget}/download/states/index.json`)).body
      expect([status, versions.includes(version)]).toEqual([status, isListed])
      const file = `${nuget}/download/states/${version}/states.${version}.nupkg`
      expect([status, (await ana.get(file)).status]).toEqual([status, got])
    }
  })
})

describe('a deletion by a client', () => {
  test('takes one version away, by any form of it, with all its files', async () => {
    for (const version of ['1.0', '2.0.0']) await push('Del.Me', version)
    const gone = await ana.delete(`${nuget}/DEL.ME/1.0.0.0`)
    expect([gone.status, gone.body]).toEqual([204, ''])
    expect((await ana.get(`${nuget}/download/del.me/index.json`)).body.versions).toEqual(['2.0.0'])
    expect((await ana.get(`${nuget}/metadata/del.me/1.0.0.json`)).status).toBe(404)
    const again = await ana.delete(`${nuget}/del.me/1.0`)
    expect([again.status, again.body]).toEqual([404, { message: '404 Package Not Found' }])
    expect((await ana.delete(`${nuget}/del.me/x`)).status).toBe(404)
    expect((await push('Del.Me', '1.0.0')).status).toBe(201)
    await world.runTasks()
    expect((await ana.get(`${nuget}/download/del.me/index.json`)).body.versions).toHaveLength(2)
    await ana.delete(`${nuget}/del.me/1.0.0`)
    await ana.delete(`${nuget}/del.me/2.0.0`)
    for (const path of ['metadata/del.me/index.json', 'download/del.me/index.json'])
      expect((await ana.get(`${nuget}/${path}`)).status).toBe(404)
    expect((await ana.get(`${nuget}/query?q=del.me`)).body.totalHits).toBe(0)
    expect((await ana.delete(`${GROUP}/del.me/1.0.0`)).status).toBe(404)
  })
})

describe('symbols', () => {
  /** A portable PDB with nothing but its id. */
  function pdbOf(id: Buffer): Buffer {
    const head = Buffer.alloc(60)
    head.writeUInt32LE(0x424a5342, 0)
    head.writeUInt32LE(4, 12)
    head.writeUInt16LE(1, 22)
    head.writeUInt32LE(40, 24)
    head.writeUInt32LE(20, 28)
    head.write('#Pdb\0\0\0\0', 32, 'latin1')
    id.copy(head, 40)
    return head
  }
  const id = (first: string) => Buffer.from(`${first}112233445566778899aabbccddeeff01020304`, 'hex')
  const signatureOf = (first: string) => `332211${first}554477668899aabbccddeeffffffffff`
  const checksum = sha('sha256', pdbOf(Buffer.alloc(20)))
  // A package of symbols says nothing of authors and dependencies.
  const snupkgOf = (name: string, version: string, files: Readonly<Record<string, Buffer>>) =>
    zipOf({ [`${name}.nuspec`]: nuspecOf(name, version), ...files })
  const pushSymbols = async (snupkg: Uint8Array<ArrayBuffer>) =>
    await pushNuget(ana, at, snupkg, '/nuget/symbolpackage')
  const asked = (value = `SHA256:${checksum}`) => ({ headers: { Symbolchecksum: value } })

  test('are of a package that is there, and change nothing of what it says', async () => {
    const snupkg = await snupkgOf('Symbolic', '1.0.0', { 'lib/Symbolic.pdb': pdbOf(id('00')) })
    const early = await pushSymbols(snupkg)
    expect([early.status, early.body]).toEqual([404, { message: '404 Package Not Found' }])
    expect((await ana.get(`${nuget}/metadata/symbolic/index.json`)).status).toBe(404)
    const dependencies = `<authors>Ana</authors><description>d</description>
      <dependencies><dependency id="Needed" version="1.0"/></dependencies>`
    await push('Symbolic', '1.0.0', dependencies)
    const before = (await ana.get(`${nuget}/metadata/symbolic/index.json`)).body
    expect(before.items[0].items[0].catalogEntry.dependencyGroups).toHaveLength(1)
    expect((await pushSymbols(snupkg)).status).toBe(201)
    expect((await ana.get(`${nuget}/metadata/symbolic/index.json`)).body).toEqual(before)
    const { bytes } = await downloaded(`${nuget}/download/symbolic/1.0.0/symbolic.1.0.0.snupkg`)
    expect(bytes.equals(snupkg)).toBe(true)
    const nupkg = await downloaded(`${nuget}/download/symbolic/1.0.0/symbolic.1.0.0.nupkg`)
    expect(nupkg.answer.headers.get('content-disposition')).toContain('symbolic.1.0.0.nupkg')
    const [row] = (await ana.get(`${at}?package_name=symbolic`)).body
    const files = (await ana.get(`${at}/${row.id}/package_files`)).body
    expect(files.map((one: { file_name: string }) => one.file_name)).toEqual([
      'symbolic.1.0.0.nupkg',
      'symbolic.1.0.0.snupkg',
      'symbolic.pdb',
    ])
  })

  test('are given to debuggers without credentials, once the group says so', async () => {
    const path = (root: string, first = '00') =>
      `${root}/symbolfiles/Symbolic.pdb/${signatureOf(first)}/Symbolic.pdb`
    const roots = [nuget, '/projects/acme%2Fp/packages/nuget', GROUP]
    for (const root of [...roots, '/projects/999999/packages/nuget'])
      expect([root, (await world.nobody.get(path(root), asked())).status]).toEqual([root, 403])
    await ana.put('/groups/acme/packages/settings', { nuget_symbol_server_enabled: true })
    for (const root of roots) {
      const got = await world.nobody.get(path(root), asked())
      expect([root, got.status]).toEqual([root, 200])
      expect(got.headers.get('content-disposition')).toBe('attachment; filename="symbolic.pdb"')
      for (const value of ['', 'x', `SHA1:${checksum}`, `SHA256:${checksum.slice(1)}`]) {
        const refused = await world.nobody.get(path(root), asked(value))
        expect([value, refused.status]).toEqual([value, 400])
      }
      expect((await world.nobody.get(path(root))).status).toBe(400)
      for (const value of [checksum.toUpperCase(), `${checksum} `])
        expect((await world.nobody.get(path(root), asked(`SHA256:${value}`))).status).toBe(200)
      expect(
        (
          await world.nobody.get(
            path(root)
              .toUpperCase()
              .replace(/^.*\/SYMBOLFILES/, `${root}/symbolfiles`),
            asked(),
          )
        ).status,
      ).toBe(200)
      const other = asked(`SHA256:${sha('sha256', Buffer.from('x'))}`)
      expect((await world.nobody.get(path(root), other)).status).toBe(404)
      expect((await world.nobody.get(path(root, 'ff'), asked())).status).toBe(404)
      const twoNames = path(root).replace(/Symbolic\.pdb$/, 'Other.pdb')
      expect((await world.nobody.get(twoNames, asked())).status).toBe(404)
    }
    expect((await world.nobody.get(path('/projects/999999/packages/nuget'), asked())).status).toBe(
      403,
    )
    const [row] = (await ana.get(`${at}?package_name=symbolic`)).body
    const setDeleted = (pending_delete: boolean) =>
      world.ctx.db
        .updateTable('projects')
        .set({ pending_delete })
        .where('id', '=', projectId)
        .execute()
    // A project that is being deleted gives nothing any more.
    await setDeleted(true)
    expect((await world.nobody.get(path(GROUP), asked())).status).toBe(404)
    expect((await world.nobody.get(path(nuget), asked())).status).toBe(403)
    await setDeleted(false)
    await ana.delete(`${at}/${row.id}`)
    expect((await world.nobody.get(path(nuget), asked())).status).toBe(404)
    await ana.put('/groups/acme/packages/settings', { nuget_symbol_server_enabled: false })
  })

  test('that are refused leave nothing of what they hold, however much that is', async () => {
    const large = Object.fromEntries(
      Array.from({ length: 9 }, (_, number) => {
        const file = Buffer.alloc(300 * 1024)
        pdbOf(id(`0${number}`)).copy(file)
        return [`lib/${number}.pdb`, file] as const
      }),
    )
    const stored = () =>
      readdirSync(join(world.folder, 'files'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
    const before = stored()
    const early = await pushSymbols(await snupkgOf('Absent', '1.0.0', large))
    expect(early.status).toBe(404)
    expect((await pushNuget(ana, at, await nupkgOf('Large', '1.0.0'))).status).toBe(201)
    const limit = async (nuget_max_file_size: number) =>
      await world.root.put('/application/plan_limits', {
        plan_name: 'default',
        nuget_max_file_size,
      })
    expect((await limit(2 * 1024 * 1024)).status).toBe(200)
    const refused = await pushSymbols(await snupkgOf('Large', '1.0.0', large))
    await limit(500 * 1024 * 1024)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      '400 Bad request - The symbol files are too large',
    ])
    expect(stored() - before).toBeLessThan(1024 * 1024)
    expect((await pushSymbols(await snupkgOf('Large', '1.0.0', large))).status).toBe(201)
  })

  test('that no debugger could ask for stay within their package', async () => {
    await push('Odd', '1.0.0')
    const snupkg = await snupkgOf('Odd', '1.0.0', {
      'lib/Windows.pdb': Buffer.from('Microsoft C/C++ MSF 7.00'),
      'lib/Cut.pdb': pdbOf(id('00')).subarray(0, 50),
      'lib/Empty.pdb': Buffer.alloc(0),
      'lib/caf\u00e9.pdb': pdbOf(id('01')),
      'lib/a b.pdb': pdbOf(id('02')),
      'lib/net/UP.pdb': pdbOf(id('03')),
      'lib/readme.txt': Buffer.from('x'),
    })
    expect((await pushSymbols(snupkg)).status).toBe(201)
    const [row] = (await ana.get(`${at}?package_name=odd&package_type=nuget`)).body
    const files = (await ana.get(`${at}/${row.id}/package_files`)).body
    expect(files.map((one: { file_name: string }) => one.file_name)).toEqual([
      'odd.1.0.0.nupkg',
      'odd.1.0.0.snupkg',
      'up.pdb',
    ])
  })

  test('are pushed again, or not, as packages are', async () => {
    await push('SymTwice', '1.0.0')
    const snupkg = await snupkgOf('SymTwice', '1.0.0', { 'a.pdb': pdbOf(id('00')) })
    expect((await pushSymbols(snupkg)).status).toBe(201)
    expect((await pushSymbols(snupkg)).status).toBe(201)
    await ana.put('/groups/acme/packages/settings', { nuget_duplicates_allowed: false })
    expect((await pushSymbols(snupkg)).status).toBe(409)
    await ana.put('/groups/acme/packages/settings', { nuget_duplicates_allowed: true })
    const many = Object.fromEntries(
      Array.from({ length: 101 }, (_one, index) => [`${index}.pdb`, pdbOf(id('00'))]),
    )
    expect((await pushSymbols(await snupkgOf('SymTwice', '1.0.0', many))).status).toBe(400)
  })
})

describe('the feed of protocol 2', () => {
  const feed = async (path: string) => await ana.get(`${nuget}/v2/${path}`)
  const values = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`<d:${name}[^>]*>([^<]*)</d:${name}>`, 'g'))].map((one) => one[1])

  beforeAll(async () => {
    const more = `<authors>A &amp; B</authors><description>&lt;d&gt;</description>
      <dependencies><group targetFramework="net8.0"><dependency id="X" version="1.0"/></group>
      <group><dependency id="Y" version="2.0"/></group></dependencies>`
    for (const version of ['1.0.0', '1.2.0', '2.0.0-beta']) await push('Feed.Tool', version, more)
  })

  test('says at its address and in its metadata which collections it has', async () => {
    for (const root of [nuget, GROUP]) {
      const service = await world.nobody.get(`${root}/v2`)
      expect([service.status, service.headers.get('content-type')]).toEqual([
        200,
        'application/xml; charset=utf-8',
      ])
      expect(service.body).toContain(`xml:base="${urlOf(`${root}/v2`)}"`)
      expect(service.body).toContain('<collection href="Packages">')
      expect((await world.nobody.get(`${root}/v2/`)).body).toBe(service.body)
      const metadata = await world.nobody.get(`${root}/v2/$metadata`)
      expect(metadata.status).toBe(200)
      expect(metadata.body).toContain('EntityType="NuGet.V2FeedPackage"')
    }
  })

  test('has the versions of a name, each with its file, and which is the latest', async () => {
    for (const path of [
      "FindPackagesById()?id='Feed.Tool'",
      "FindPackagesById()?id='feed.tool'&semVerLevel=2.0.0",
      "FindPackagesById?id='FEED.TOOL'",
      "Packages()?$filter=tolower(Id)%20eq%20'feed.tool'",
      "Packages()?$filter=Id%20eq%20'Feed.Tool'",
    ]) {
      const { status, body, headers } = await feed(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
      expect(values(body, 'Version')).toEqual(['1.0.0', '1.2.0', '2.0.0-beta'])
      expect(values(body, 'IsLatestVersion')).toEqual(['false', 'true', 'false'])
      expect(values(body, 'IsAbsoluteLatestVersion')).toEqual(['false', 'false', 'true'])
      expect(values(body, 'IsPrerelease')).toEqual(['false', 'false', 'true'])
      expect(values(body, 'Dependencies')[0]).toBe('X:1.0:net8.0|Y:2.0:')
      expect([values(body, 'Authors')[0], values(body, 'Description')[0]]).toEqual([
        'A &amp; B',
        '&lt;d&gt;',
      ])
      const sources = [...body.matchAll(/src="([^"]+)"/g)].map((one) => one[1])
      expect(sources).toHaveLength(3)
      const { bytes } = await downloaded(below(sources[1] ?? ''))
      const hash = createHash('sha512').update(bytes).digest('base64')
      expect([values(body, 'PackageHash')[1], values(body, 'PackageSize')[1]]).toEqual([
        hash,
        String(bytes.length),
      ])
    }
    const none = await feed("FindPackagesById()?id='none'")
    expect([none.status, values(none.body, 'Id')]).toEqual([200, []])
  })

  test.each([
    ["FindPackagesById()?id='feed.tool'&$filter=IsLatestVersion", '1.2.0'],
    ["FindPackagesById()?id='feed.tool'&$filter=IsAbsoluteLatestVersion", '2.0.0-beta'],
    ["Packages()?$filter=(tolower(Id)%20eq%20'feed.tool')%20and%20IsLatestVersion", '1.2.0'],
    ["Packages()?$filter=IsLatestVersion%20and%20Id%20eq%20'Feed.Tool'", '1.2.0'],
    ["Packages()?$filter=Id%20eq%20'feed.tool'%20and%20IsAbsoluteLatestVersion", '2.0.0-beta'],
  ])('has the one version of a name that is asked for: %s', async (path, version) => {
    const { status, body } = await feed(path)
    expect([status, values(body, 'Version')]).toEqual([200, [version]])
  })

  test('has one version by its id and version', async () => {
    for (const path of [
      "Packages(Id='Feed.Tool',Version='1.2.0')",
      "Packages(Id='feed.tool',Version='1.2')",
      "Packages(Id='feed.tool',%20Version='1.2.0.0')",
    ]) {
      const { status, body } = await feed(path)
      expect([path, status, values(body, 'Version')]).toEqual([path, 200, ['1.2.0']])
    }
    for (const path of [
      "Packages(Id='Feed.Tool',Version='9.9.9')",
      "Packages(Id='none',Version='1.0.0')",
      'Nothing()',
      "Packages(Id='Feed.Tool')",
    ])
      expect([path, (await feed(path)).status]).toEqual([path, 404])
  })

  test('is searched by a word, with pre-releases where they are wanted', async () => {
    const search = async (query: string) =>
      values((await feed(`Search()?${query}`)).body, 'Version')
    expect(await search("searchTerm='feed.t'")).toEqual(['1.2.0'])
    expect(await search("searchTerm='FEED.T'&includePrerelease=true")).toEqual(['2.0.0-beta'])
    expect(await search("searchTerm='feed''t'")).toEqual([])
    expect((await feed('Search()?$skip=-1')).status).toBe(400)
  })

  test('leads on to what follows', async () => {
    const made = await ana.post('/projects', { name: 'feed', namespace_id: groupId })
    const place = `/projects/${made.body.id}/packages`
    const { db } = world.ctx
    await pushNuget(ana, place, await nupkgOf('Page.000', '1.0.0'))
    const { id: _, ...row } = await db
      .selectFrom('packages')
      .selectAll()
      .where('name', '=', 'Page.000')
      .executeTakeFirstOrThrow()
    const names = Array.from(
      { length: 120 },
      (_one, index) => `Page.${String(index + 1).padStart(3, '0')}`,
    )
    const rows = names.map((name) => ({ ...row, name, name_key: name.toLowerCase() }))
    const ids = await db.insertInto('packages').values(rows).returning('id').execute()
    await db
      .insertInto('package_metadata')
      .values(ids.map(({ id }) => ({ package_id: id, content: '{"groups":[]}' })))
      .execute()
    const seen: (string | undefined)[] = []
    let next: string | undefined = `${place}/nuget/v2/Packages()?$filter=IsLatestVersion`
    let pages = 0
    while (next !== undefined) {
      const body: string = (await ana.get(next)).body
      seen.push(...values(body, 'Id'))
      pages += 1
      const link: string | undefined = /<link rel="next" href="([^"]+)"/.exec(body)?.[1]
      next = link && below(link.replaceAll('&amp;', '&'))
    }
    expect([pages, seen]).toEqual([2, ['Page.000', ...names]])
  })
})

test('odd addresses are nothing, for reading and for writing', async () => {
  for (const path of [
    'download/../../npm/x',
    'download/%2e%2e/1.2.0/x.nupkg',
    'download/got.it%00/index.json',
    'metadata/%ff/index.json',
    'metadata/..%2fgot.it/index.json',
    `metadata/${'n'.repeat(500)}/index.json`,
    "v2/FindPackagesById()%2f..?id='x'",
    'symbolfiles/x/y',
    'nothing',
  ]) {
    const { status } = await plainRequest(world, ana, 'GET', `${nuget}/${path}`)
    expect([path, [400, 404].includes(status)]).toEqual([path, true])
  }
  const nupkg = await nupkgOf('Elsewhere', '1.0.0')
  for (const path of ['/nuget/index.json', '/nuget/query', '/nuget/v2/x'])
    expect((await pushNuget(ana, at, nupkg, path)).status).toBe(405)
  const inGroup = await pushNuget(ana, '/groups/acme/-/packages', nupkg, '/nuget')
  expect([404, 405]).toContain(inGroup.status)
})
