import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareVersions, normalVersion } from '../../src/packages/nuget/version.ts'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { zipOf } from './zip-file.ts'

let world: World
let ana: Caller
let groupId: number
let at: string
let root: string

beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'acme')).id
  const project = await createProject(ana, 'p', { namespace_id: groupId })
  at = `/projects/${project.id}/packages/nuget`
  root = newFolder()
  mkdirSync(root, { recursive: true })
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

function nuspec(id: string, version: string, more = '') {
  return `<?xml version="1.0"?>
<package xmlns="http://schemas.microsoft.com/packaging/2010/07/nuspec.xsd"><metadata>
  <id>${id}</id><version>${version}</version><authors>Ana &amp; co</authors>
  <description>A &lt;tool&gt;</description>${more}
</metadata></package>`
}

async function push(bytes: Uint8Array<ArrayBuffer>, path = at, who = ana) {
  const form = new FormData()
  form.set('package', new Blob([bytes]), 'package.nupkg')
  return await who.put(path, undefined, { raw: form })
}

const nupkg = (id: string, version: string, more?: string) =>
  zipOf({ [`${id}.nuspec`]: nuspec(id, version, more), 'lib/net40/a.txt': 'a' })

test('nuget packs, pushes and deletes with a key alone, signs in, and installs with what a package depends on, by protocol 2', async () => {
  const folder = join(root, 'client')
  mkdirSync(folder)
  const files = '<files><file src="readme.txt" target="readme.txt"/></files></package>'
  const source = `${world.url}/api/v4${at}/v2-sign-in`
  const feed = `${world.url}/api/v4${at}/v2`
  // This client waits for a terminal; script gives it one, which must have a size.
  const nuget = (...args: string[]) =>
    client(
      'script',
      ['-qec', `stty cols 200 rows 50; ${['nuget', ...args].join(' ')}`, '/dev/null'],
      {
        cwd: folder,
      },
    )
  writeFileSync(
    join(folder, 'nuget.config'),
    `<?xml version="1.0"?><configuration>
      <packageSources><add key="acme" value="${source}"/></packageSources>
      <packageSourceCredentials><acme><add key="Username" value="ana"/>
        <add key="ClearTextPassword" value="${ana.token}"/></acme></packageSourceCredentials>
    </configuration>`,
  )
  const from = ['-Source', 'acme', '-ConfigFile', 'nuget.config', '-NonInteractive']
  // Of this address it knows no name and token: it must not be asked for any.
  const byKey = [String(ana.token), '-Source', feed, '-NonInteractive']
  writeFileSync(join(folder, 'readme.txt'), 'hello')
  const needs = '<dependencies><dependency id="Acme.Base" version="1.0.0"/></dependencies>'
  for (const [id, more] of [
    ['Acme.Base', ''],
    ['Acme.Tool', needs],
  ] as const) {
    // This client reads texts as markup once more.
    const plain = nuspec(id, '1.0.0', more).replaceAll(/&\w+;/g, '')
    writeFileSync(join(folder, `${id}.nuspec`), plain.replace('</package>', files))
    await nuget('pack', `${id}.nuspec`)
  }
  await nuget('push', "'*.nupkg'", ...byKey)
  expect((await push(await nupkg('Acme.Gone', '1.0.0'))).status).toBe(201)
  await nuget('delete', 'Acme.Gone', '1.0.0', ...byKey)
  expect((await ana.get(`${at}/download/acme.gone/index.json`)).status).toBe(404)
  const got = await ana.get(`${at}/v2/FindPackagesById()?id='acme.tool'`)
  expect([got.status, got.body]).toEqual([
    200,
    expect.stringContaining('<d:Version>1.0.0</d:Version>'),
  ])
  await nuget('install', 'Acme.Tool', ...from, '-NoCache', '-OutputDirectory', 'installed')
  for (const id of ['Acme.Tool', 'Acme.Base']) {
    const path = join(folder, 'installed', `${id}.1.0.0`, 'readme.txt')
    expect(readFileSync(path, 'utf8')).toBe('hello')
  }
}, 240_000)

test('a feed without a filter holds the latest version of each name, page by page', async () => {
  const first = await ana.get(`${at}/v2/Packages()?$top=1`)
  expect(first.body).toContain('<d:Id>Acme.Base</d:Id>')
  expect(first.body).not.toContain('Acme.Tool')
  const second = await ana.get(`${at}/v2/Packages?$filter=IsAbsoluteLatestVersion&$skip=1`)
  expect(second.body).toContain('<d:Id>Acme.Tool</d:Id>')
})

test('the feed of protocol 2 answers everybody, and asks whoever wants to be asked to sign in', async () => {
  const old = { headers: { 'User-Agent': 'NuGet/2.8.7.0 (Unix 6.1)' } }
  for (const path of ['v2', 'v2/$metadata'])
    expect((await world.nobody.get(`${at}/${path}`, old)).status).toBe(200)
  const asked = await world.nobody.get(`${at}/v2-sign-in`, old)
  expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('Basic'),
  ])
  const led = await ana.get(`${at}/v2-sign-in`, old)
  expect([led.status, led.headers.get('location')]).toEqual([302, `${world.url}/api/v4${at}/v2`])
  const stranger = await world.user('stranger')
  expect((await stranger.get(`${at}/v2-sign-in`)).status).toBe(404)
})

test('the flat container has the nuspec and the package by their names, and nothing by another', async () => {
  const spec = nuspec('Flat.Lib', '1.0')
  await push(await zipOf({ 'Flat.Lib.nuspec': spec, 'lib/net40/a.txt': 'a' }))
  const below = `${at}/download/flat.lib/1.0.0`
  for (const name of ['flat.lib.nuspec', 'Flat.Lib.nuspec']) {
    const { status, body, headers } = await ana.get(`${below}/${name}`)
    expect([status, body, headers.get('content-type')]).toEqual([
      200,
      spec,
      'application/xml; charset=utf-8',
    ])
  }
  expect((await ana.head(`${below}/flat.lib.nuspec`)).status).toBe(200)
  for (const name of ['flat.lib.1.0.0.nupkg', 'Flat.Lib.1.0.nupkg'])
    expect([name, (await ana.get(`${below}/${name}`)).status]).toEqual([name, 200])
  for (const name of [
    'x.nupkg',
    'other.1.0.0.nupkg',
    'flat.lib.2.0.0.nupkg',
    'flat.lib.nupkg',
    'flat.lib.1.0.0.snupkg',
    'other.nuspec',
    'flat.lib.1.0.0.nuspec',
  ])
    expect([name, (await ana.get(`${below}/${name}`)).status]).toEqual([name, 404])
  expect((await world.nobody.get(`${below}/flat.lib.nuspec`)).status).toBe(401)
})

test('protocol 3: index, search, registration and files', async () => {
  for (const version of ['1.0', '1.10.0', '1.2.0', '2.0.0-rc.1']) {
    const dependency =
      '<dependencies><group targetFramework="net40"><dependency id="Other" version="[1.0,2.0)"/></group></dependencies>'
    expect((await push(await nupkg('Big.Lib', version, dependency))).status).toBe(201)
  }
  const index = await world.nobody.get(`${at}/index.json`)
  const addresses = Object.fromEntries(
    index.body.resources.map((one: Record<string, string>) => [one['@type'], one['@id']]),
  )
  const path = (url: string) => new URL(url).pathname.replace('/api/v4', '')
  const found = await ana.get(
    `${path(addresses.SearchQueryService)}?q=big&prerelease=false&take=50`,
  )
  expect(found.body).toMatchObject({ totalHits: 1, data: [{ id: 'Big.Lib', version: '1.10.0' }] })
  const registration = `${path(addresses.RegistrationsBaseUrl)}/big.lib/index.json`
  const { body, headers } = await ana.get(registration)
  expect(body.items[0]).toMatchObject({ lower: '1.0', upper: '2.0.0-rc.1', count: 4 })
  expect(body.items[0].items[0].catalogEntry).toMatchObject({
    authors: 'Ana & co',
    description: 'A <tool>',
    dependencyGroups: [
      { targetFramework: 'net40', dependencies: [{ id: 'Other', range: '[1.0,2.0)' }] },
    ],
  })
  const known = { headers: { 'If-None-Match': headers.get('etag') ?? '' } }
  expect((await ana.get(registration, known)).status).toBe(304)
  const base = path(addresses['PackageBaseAddress/3.0.0'])
  expect((await ana.get(`${base}/big.lib/index.json`)).body.versions).toEqual([
    '1.0.0',
    '1.2.0',
    '1.10.0',
    '2.0.0-rc.1',
  ])
  expect((await ana.get(`${base}/Big.Lib/1.0/big.lib.1.0.0.nupkg`)).status).toBe(200)
  const leaf = await ana.get(`${path(addresses.RegistrationsBaseUrl)}/Big.Lib/1.2.0.json`)
  expect(leaf.body.catalogEntry.version).toBe('1.2.0')
  const group = `/groups/${groupId}/-/packages/nuget`
  expect((await ana.get(`${group}/metadata/big.lib/index.json`)).body.items[0].count).toBe(4)
  expect((await ana.get(`${group}/query`)).body.totalHits).toBeGreaterThan(0)
  expect((await world.nobody.get(`${group}/query`)).status).toBe(401)
  expect((await world.nobody.get(`${at}/query`)).headers.get('www-authenticate')).toContain('Basic')
})

test('a version may be published again where the group allows it, and its newest file is served', async () => {
  const first = await nupkg('Twice', '1.0.0')
  await push(first)
  expect((await push(await zipOf({ 'Twice.nuspec': nuspec('twice', '1.0') }))).status).toBe(201)
  await ana.put(`/groups/${groupId}/packages/settings`, { nuget_duplicates_allowed: false })
  const refused = await push(first)
  expect(refused.status).toBe(409)
  expect(JSON.stringify(refused.body)).toContain('A package with the same name and version')
  await ana.put(`/groups/${groupId}/packages/settings`, { nuget_duplicates_allowed: true })
  const gone = await ana.delete(`${at}/TWICE/1.0`)
  expect([gone.status, (await ana.get(`${at}/download/twice/index.json`)).status]).toEqual([
    204, 404,
  ])
})

/** The least that a portable PDB can be: a root with one stream, which holds its id. */
function pdb(id: Buffer): Buffer {
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

test('a debugger gets a symbol file by its id and hash, where the group says so', async () => {
  const id = Buffer.from('00112233445566778899aabbccddeeff01020304', 'hex')
  const snupkg = await zipOf({
    'Sym.nuspec': nuspec('Sym', '1.0.0'),
    'lib/net40/Sym.pdb': pdb(id),
  })
  expect((await push(await nupkg('Sym', '1.0.0'))).status).toBe(201)
  expect((await push(snupkg, `${at}/symbolpackage`)).status).toBe(201)
  const signature = '33221100554477668899aabbccddeeffFFFFFFFF'
  const path = `${at}/symbolfiles/Sym.pdb/${signature}/Sym.pdb`
  const checksum = createHash('sha256')
    .update(pdb(Buffer.alloc(20)))
    .digest('hex')
  const headers = { headers: { Symbolchecksum: `SHA256:${checksum}` } }
  expect((await world.nobody.get(path, headers)).status).toBe(403)
  await ana.put(`/groups/${groupId}/packages/settings`, { nuget_symbol_server_enabled: true })
  expect((await world.nobody.get(path)).status).toBe(400)
  const got = await world.nobody.get(path, headers)
  expect(got.status).toBe(200)
  const ofGroup = path.replace(at, `/groups/${groupId}/-/packages/nuget`)
  expect((await world.nobody.get(ofGroup, headers)).status).toBe(200)
  const wrong = { headers: { Symbolchecksum: `SHA256:${'0'.repeat(64)}` } }
  expect((await world.nobody.get(path, wrong)).status).toBe(404)
  expect((await ana.get(`${at}/download/sym/1.0.0/sym.1.0.0.snupkg`)).status).toBe(200)
})

describe('what is refused, and leaves nothing', () => {
  test.each<[string, () => Promise<Buffer<ArrayBuffer>>]>([
    ['no zip file', async () => Buffer.from('text')],
    ['no nuspec', () => zipOf({ 'a.txt': 'a' })],
    ['a nuspec in a folder', () => zipOf({ 'lib/Bad.nuspec': nuspec('Bad', '1.0.0') })],
    ['broken XML', () => zipOf({ 'Bad.nuspec': '<package><metadata>' })],
    [
      'an entity',
      () =>
        zipOf({
          'Bad.nuspec': `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${nuspec('Bad', '1.0.0')}`,
        }),
    ],
    [
      'deep nesting',
      () => zipOf({ 'Bad.nuspec': `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}` }),
    ],
    [
      'a character that no XML has',
      () => zipOf({ 'Bad.nuspec': nuspec('Bad', '1.0.0', '<summary>a\u0001b</summary>') }),
    ],
    ['an id with a step up', () => zipOf({ 'Bad.nuspec': nuspec('../Bad', '1.0.0') })],
    ['a version that is none', () => zipOf({ 'Bad.nuspec': nuspec('Bad', 'one') })],
    [
      'a nuspec of 5 MB',
      () => zipOf({ 'Bad.nuspec': nuspec('Bad', '1.0.0', 'x'.repeat(5_000_000)) }),
    ],
  ])('%s', async (_what, make) => {
    expect((await push(await make())).status).toBe(400)
    expect((await ana.get(`${at}/download/bad/index.json`)).status).toBe(404)
  })

  test('strangers, and a zip file that breaks off', async () => {
    const good = await nupkg('Bad', '1.0.0')
    expect((await push(Buffer.from(good.subarray(0, good.length - 30)))).status).toBe(400)
    expect((await push(good, at, world.nobody)).status).toBe(401)
    expect((await push(good, at, await world.user('bob'))).status).toBe(404)
    expect((await ana.put(at, { package: 'x' })).status).toBe(400)
  })
})

test.each([
  ['1.0', '1.0.0'],
  ['01.02.03', '1.2.3'],
  ['1.0.0.0', '1.0.0'],
  ['1.0.0.1', '1.0.0.1'],
  ['1.0.0-Beta+build', '1.0.0-Beta'],
  ['one', undefined],
])('the version %s compares as %s', (version, normal) => {
  expect(normalVersion(version)).toBe(normal)
})

test('versions are ordered by their numbers and labels', () => {
  const order = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-rc.2',
    '1.0.0-rc.10',
    '1.0.0',
    '1.0.0.1',
    '1.2.0',
    '1.10.0',
  ]
  expect(order.toReversed().sort(compareVersions)).toEqual(order)
})
