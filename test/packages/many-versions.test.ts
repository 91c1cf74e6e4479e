import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { zipOf } from './zip-file.ts'

/** Of a package with very many or very large versions, an answer reads only so much. */
const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
})

interface Copies {
  readonly versions: number
  /** Bytes that each gets in a member of its metadata. */
  readonly bytes?: number
  readonly member?: string
}

/** Gives a package the versions `1.1.<number>`, with metadata and files as those of the last one that was published. */
async function copyVersions({ versions, bytes = 0, member = '$.more' }: Copies): Promise<void> {
  const { db } = world.ctx
  const { id } = await db
    .selectFrom('packages')
    .select((is) => is.fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  await sql`
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${versions})
    INSERT INTO packages (project_id, package_type, name, name_key, version, version_key, created_at, updated_at)
    SELECT project_id, package_type, name, name_key, '1.1.' || n, '1.1.' || n, created_at, updated_at
    FROM packages, numbers WHERE id = ${id} ORDER BY n`.execute(db)
  await sql`
    INSERT INTO package_metadata (package_id, content)
    SELECT p.id, json_set(m.content, ${member}, ${'x'.repeat(bytes)})
    FROM packages p, package_metadata m WHERE p.id > ${id} AND m.package_id = ${id}`.execute(db)
  await sql`
    INSERT INTO package_files (project_id, package_id, file_name, size, file_sha256, file_sha1, file_md5, file_sha512, created_at, updated_at)
    SELECT f.project_id, p.id, replace(f.file_name, '1.0.0', p.version), f.size, f.file_sha256, f.file_sha1, f.file_md5, f.file_sha512,
      f.created_at, f.updated_at
    FROM packages p, package_files f WHERE p.id > ${id} AND f.package_id = ${id}`.execute(db)
}

const MEGABYTE = 1_000_000

describe('a Composer package of many large versions', () => {
  const SECOND = { headers: { 'User-Agent': 'Composer/2.7.1' } }
  let root: string

  beforeAll(async () => {
    root = `/group/${groupId}/-/packages/composer`
    const file = { branch: 'main', commit_message: 'one', content: '{"name":"acme/tool"}' }
    await ana.post(`/projects/${projectId}/repository/files/composer.json`, file)
    await ana.post(`${at}/composer`, { branch: 'main' })
    await copyVersions({ versions: 12, bytes: MEGABYTE, member: '$.json.more' })
  })

  test('lists the newest of them', async () => {
    const { body } = await ana.get(`${root}/p2/acme/tool.json`, SECOND)
    const versions = Object.keys(body.packages['acme/tool'])
    expect(versions).toHaveLength(9)
    expect(versions.at(-1)).toBe('1.1.12')
  })

  test('is listed for Composer 1 by its hash, which is read once', async () => {
    const first = (await ana.get(`${root}/packages.json`)).body
    const { sha256 } = first['provider-includes']['p/%hash%.json']
    const { providers } = (await ana.get(`${root}/p/${sha256}.json`)).body
    const hash = providers['acme/tool'].sha256
    const { body } = await ana.get(`${root}/acme/tool$${hash}.json`)
    expect(Object.keys(body.packages['acme/tool'])).toHaveLength(9)
    // Who asks again gets what was read before, whatever the metadata is now.
    await sql`UPDATE package_metadata SET content = '{"sha":"0","json":{}}'`.execute(world.ctx.db)
    expect((await ana.get(`${root}/packages.json`)).body).toEqual(first)
  })
})

describe('an npm package of many large versions', () => {
  beforeAll(async () => {
    await ana.put(`${at}/npm/tool`, await documentOf('tool', '1.0.0', { tag: 'old' }))
    await copyVersions({ versions: 20, bytes: MEGABYTE, member: '$.description' })
  })

  test('lists the newest of them', async () => {
    const headers = { Accept: 'application/vnd.npm.install-v1+json' }
    const versions = Object.keys((await ana.get(`${at}/npm/tool`, { headers })).body.versions)
    expect(versions.slice(1)).toHaveLength(17)
    expect(versions.at(-1)).toBe('1.1.20')
  })

  test('lists the versions that have tags, however old, and no tag of a version that it does not list', async () => {
    for (const [tag, version] of [
      ['latest', '1.1.2'],
      ['old', '1.0.0'],
    ] as const) {
      const put = await ana.put(`${at}/npm/-/package/tool/dist-tags/${tag}`, version)
      expect(put.status).toBe(204)
    }
    const { body } = await ana.get(`${at}/npm/tool`)
    expect(body['dist-tags']).toEqual({ latest: '1.1.2', old: '1.0.0' })
    const versions = Object.keys(body.versions)
    expect(versions).toEqual([
      '1.0.0',
      '1.1.2',
      ...Array.from({ length: 16 }, (_, n) => `1.1.${n + 5}`),
    ])
    for (let n = 1; n <= 19; n += 1)
      await ana.put(`${at}/npm/-/package/tool/dist-tags/t${n}`, `1.1.${n}`)
    const tagged = (await ana.get(`${at}/npm/tool`)).body
    expect(tagged['dist-tags'].latest).toBe('1.1.2')
    const shown = Object.values(tagged['dist-tags'])
    expect(shown).toHaveLength(18)
    for (const version of shown) expect(tagged.versions).toHaveProperty([String(version)])
  })

  test('has its tags, and a tarball that is missing is missed, without a look at any manifest', async () => {
    await sql`DELETE FROM package_metadata`.execute(world.ctx.db)
    const tags = await ana.get(`${at}/npm/-/package/tool/dist-tags`)
    expect(tags.body).toMatchObject({ old: '1.0.0', latest: '1.1.2', t1: '1.1.1' })
    expect((await ana.get(`${at}/npm/tool/-/tool-9.9.9.tgz`)).status).toBe(404)
    expect((await ana.get(`${at}/npm/tool/-/tool-1.0.0.tgz`)).status).toBe(200)
  })
})

describe('a Conan recipe of many large packages', () => {
  test('lists the newest of them, of the recipe and of a revision', async () => {
    const rrev = 'a'.repeat(32)
    const recipe = `${at}/conan/v2/conans/hello/1.0/org/beta`
    const info = `${recipe}/revisions/${rrev}/packages/p0/revisions/${'b'.repeat(32)}/files/conaninfo.txt`
    const manifest = `${recipe}/revisions/${rrev}/files/conanmanifest.txt`
    for (const [path, raw] of [
      [info, '[settings]\nos=Linux\n'],
      [manifest, 'm'],
    ] as const) {
      expect((await ana.put(path, undefined, { raw })).status).toBe(200)
    }
    await sql`
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12)
      INSERT INTO package_files (project_id, package_id, file_name, size, file_sha256, file_sha1, file_md5, file_sha512,
        metadata, created_at, updated_at)
      SELECT f.project_id, f.package_id, f.file_name, f.size, f.file_sha256, f.file_sha1, f.file_md5, f.file_sha512,
        json_set(f.metadata, '$.pid', 'p' || n, '$.info.content', ${'x'.repeat(MEGABYTE)}),
        f.created_at, f.updated_at
      FROM package_files f, numbers WHERE f.file_name = 'conaninfo.txt' ORDER BY n`.execute(
      world.ctx.db,
    )
    // Eight megabytes, and the one that crosses them.
    const newest = Array.from({ length: 9 }, (_, n) => `p${n + 4}`)
    for (const path of [`${recipe}/search`, `${recipe}/revisions/${rrev}/search`])
      expect(Object.keys((await ana.get(path)).body)).toEqual(newest)
  })
})

describe('a Terraform module of more than a thousand versions', () => {
  test('lists the newest thousand, and of two with one number the one that came first', async () => {
    const module = `${at}/terraform/modules/vpc/aws`
    const put = await ana.put(`${module}/1.0.0/file`, undefined, { raw: 'x' })
    expect(put.status).toBe(201)
    await copyVersions({ versions: 1005 })
    const other = (await createProject(ana, 'q', { namespace_id: groupId })).id
    await sql`
      INSERT INTO packages (project_id, package_type, name, name_key, version, version_key, created_at, updated_at)
      SELECT ${other}, package_type, name, name_key, version, version_key, created_at, updated_at
      FROM packages WHERE id = (SELECT max(id) FROM packages)`.execute(world.ctx.db)
    const { body } = await ana.get('/packages/terraform/modules/v1/acme/vpc/aws/versions')
    const versions = body.modules[0].versions.map((one: { version: string }) => one.version)
    const single = Array.from({ length: 999 }, (_, n) => `1.1.${1005 - n}`)
    expect(versions).toEqual(['1.1.1005', ...single])
    const one = (await ana.get('/packages/terraform/modules/v1/acme/vpc/aws')).body
    expect([one.version, one.source]).toEqual([
      '1.1.1005',
      `${world.ctx.config.externalUrl}/acme/p`,
    ])
  })
})

describe('a NuGet package of many large versions', () => {
  const idsIn = (feed: string) =>
    [...feed.matchAll(/<id>.*Version=(?:'|&apos;)([^'&]+)/g)].map((one) => one[1])
  const feed = async (rest: string) => {
    const answer = await fetch(`${world.url}/api/v4${at}/nuget/v2/${rest}`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    return await answer.text()
  }

  beforeAll(async () => {
    for (const name of ['huge', 'other']) {
      const nuspec = `<package><metadata><id>${name}</id><version>1.0.0</version><authors>a</authors>
        <description>d</description></metadata></package>`
      const form = new FormData()
      form.set('package', new Blob([await zipOf({ [`${name}.nuspec`]: nuspec })]), 'p.nupkg')
      await ana.put(`${at}/nuget`, undefined, { raw: form })
      await copyVersions({ versions: 12, bytes: 5 * MEGABYTE, member: '$.more' })
    }
  })

  test('lists the newest of them', async () => {
    const { items } = (await ana.get(`${at}/nuget/metadata/huge/index.json`)).body
    expect(
      items[0].items.map((one: { catalogEntry: { version: string } }) => one.catalogEntry.version),
    ).toEqual(['1.1.11', '1.1.12'])
    expect(idsIn(await feed(`FindPackagesById()?id='huge'`))).toEqual(['1.1.12'])
    expect(idsIn(await feed('Packages()'))).toEqual(['1.1.12'])
    expect(idsIn(await feed('Packages()?$skip=1'))).toEqual(['1.1.12'])
  })

  test('has an old version by its name, and the names of all, with nothing read of the others', async () => {
    await sql`DELETE FROM package_metadata WHERE package_id NOT IN (
      SELECT id FROM packages WHERE version IN ('1.1.2', '1.1.12'))`.execute(world.ctx.db)
    expect((await ana.get(`${at}/nuget/download/huge/index.json`)).body.versions).toHaveLength(13)
    const leaf = await ana.get(`${at}/nuget/metadata/huge/1.1.2.json`)
    expect(leaf.body.catalogEntry).toMatchObject({ id: 'huge', version: '1.1.2' })
    const old = idsIn(await feed(`Packages(Id='huge',Version='1.1.2')`))
    expect(old).toEqual(['1.1.2'])
    const found = (await ana.get(`${at}/nuget/query?q=huge`)).body
    expect(found.data).toMatchObject([{ id: 'huge', version: '1.1.12', description: 'd' }])
    expect(found.data[0].versions).toHaveLength(10)
  })
})
