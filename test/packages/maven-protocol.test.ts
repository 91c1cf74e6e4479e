import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { plainRequest } from './publishing.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string
let maven: string
const GROUP = '/groups/acme/-/packages/maven'
const SERVER = '/packages/maven'

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
  maven = `${at}/maven`
})

const hash = (kind: string, text: string) => createHash(kind).update(text).digest('hex')
const put = (path: string, raw: string, who = ana) =>
  who.put(`${maven}/${path}`, undefined, { raw })
const get = (path: string) => ana.get(`${maven}/${path}`)

interface Shown {
  readonly id: number
  readonly name: string
  readonly version: string | null
}

async function listed(name: string): Promise<Shown[]> {
  const { body } = await ana.get(`${at}?package_name=${name}&include_versionless=true&per_page=100`)
  return body
}

async function filesOf(id: number | undefined): Promise<string[]> {
  const { body } = await ana.get(`${at}/${id}/package_files?per_page=100`)
  return body.map((one: { file_name: string }) => one.file_name)
}

async function remove(name: string, version: string | null): Promise<void> {
  const row = (await listed(name)).find((one) => one.name === name && one.version === version)
  expect((await ana.delete(`${at}/${row?.id}`)).status).toBe(204)
  await world.runTasks()
}

const versioning = (versions: readonly string[], more = '') =>
  `<?xml version="1.0"?><metadata><groupId>g</groupId><artifactId>a</artifactId><versioning>
<latest>${versions.at(-1)}</latest><release>${versions.at(-1)}</release>
<versions>${versions.map((one) => `<version>${one}</version>`).join('')}</versions>
<lastUpdated>20200101000000</lastUpdated>${more}</versioning></metadata>`

describe('what mvn deploy sends', () => {
  const jar = 'the jar'
  const pom =
    '<project><modelVersion>4.0.0</modelVersion><groupId>com.x</groupId><artifactId>lib</artifactId><version>1.0</version></project>'
  const metadata = versioning(['1.0'])

  test('is answered as Maven expects, file by file, and becomes a package and its metadata', async () => {
    const base = 'com/x/lib/1.0/lib-1.0'
    for (const path of [`${base}.jar`, `${base}.pom`, 'com/x/lib/maven-metadata.xml'])
      expect((await get(path)).status).toBe(404)
    const answers: (readonly [number, unknown])[] = []
    for (const [path, text] of [
      [`${base}.jar`, jar],
      [`${base}.pom`, pom],
      ['com/x/lib/maven-metadata.xml', metadata],
    ] as const) {
      const file = await put(path, text)
      answers.push([file.status, file.body])
      const sha1 = await put(`${path}.sha1`, hash('sha1', text))
      answers.push([sha1.status, sha1.body])
      const md5 = await put(`${path}.md5`, hash('md5', text))
      answers.push([md5.status, md5.body])
    }
    const ok = { message: '200 OK' }
    const one = [
      [200, ok],
      [204, ''],
      [200, ok],
    ]
    expect(answers).toEqual([...one, ...one, ...one])
    expect((await listed('com/x/lib')).map((row) => [row.name, row.version])).toEqual([
      ['com/x/lib', '1.0'],
      ['com/x/lib', null],
    ])
    const [version, versionless] = await listed('com/x/lib')
    expect(await filesOf(version?.id)).toEqual(['lib-1.0.jar', 'lib-1.0.pom'])
    expect(await filesOf(versionless?.id)).toEqual(['maven-metadata.xml'])
  })

  test('is served with digests, types and names, at each level that knows it', async () => {
    const types = {
      'com/x/lib/1.0/lib-1.0.jar': ['application/java-archive', jar],
      'com/x/lib/1.0/lib-1.0.pom': ['application/xml', pom],
      'com/x/lib/maven-metadata.xml': ['application/xml', metadata],
    } as const
    for (const [path, [type, text]] of Object.entries(types)) {
      for (const root of [maven, GROUP]) {
        const got = await ana.get(`${root}/${path}`)
        const { headers } = got
        expect([got.status, got.body]).toEqual([200, text])
        expect(headers.get('content-type')).toBe(type)
        expect(headers.get('x-checksum-sha1')).toBe(hash('sha1', text))
        expect(headers.get('x-checksum-md5')).toBe(hash('md5', text))
        expect(headers.get('content-length')).toBe(String(text.length))
        expect(headers.get('content-disposition')).toBe(
          `attachment; filename="${path.split('/').at(-1)}"`,
        )
        expect(headers.get('location')).toBeNull()
        for (const kind of ['sha1', 'md5']) {
          const sum = await ana.get(`${root}/${path}.${kind}`)
          expect([sum.status, sum.body]).toEqual([200, hash(kind, text)])
          expect(sum.headers.get('content-type')).toBe('text/plain')
        }
        for (const kind of ['sha256', 'sha512', 'asc'])
          expect((await ana.get(`${root}/${path}.${kind}`)).status).toBe(404)
      }
      expect((await ana.get(`${SERVER}/${path}`)).status).toBe(403)
    }
  })

  test('is asked for by HEAD, in parts, and by those who have it', async () => {
    const path = 'com/x/lib/1.0/lib-1.0.jar'
    for (const one of [path, `${path}.sha1`]) {
      const head = await ana.head(`${maven}/${one}`)
      const size = one === path ? jar.length : 40
      expect([head.status, head.body, head.headers.get('content-length')]).toEqual([
        200,
        '',
        String(size),
      ])
    }
    expect((await ana.head(`${maven}/com/x/lib/9/lib-9.jar`)).status).toBe(404)
    const got = await get(path)
    const known = { headers: { 'If-None-Match': got.headers.get('etag') ?? '' } }
    expect((await ana.get(`${maven}/${path}`, known)).status).toBe(304)
    const part = await ana.get(`${maven}/${path}`, { headers: { Range: 'bytes=4-' } })
    expect([part.status, part.body]).toEqual([206, 'jar'])
  })
})

describe('a checksum', () => {
  test('of SHA-1 is compared with the newest file of its name', async () => {
    const path = 'com/x/sums/1.0/sums-1.0.jar'
    const none = await put(`${path}.sha1`, hash('sha1', 'first'))
    expect([none.status, none.body]).toEqual([404, { message: '404 Package file Not Found' }])
    await put(path, 'first')
    await put(path, 'second')
    const old = await put(`${path}.sha1`, hash('sha1', 'first'))
    expect([old.status, old.body]).toEqual([409, { message: '409 Conflict' }])
    const sum = hash('sha1', 'second')
    for (const text of [sum, sum.toUpperCase(), `${sum}\n`, `${sum}  sums-1.0.jar\n`])
      expect((await put(`${path}.sha1`, text)).status).toBe(204)
    for (const text of ['', sum.slice(1), `x${sum}`])
      expect((await put(`${path}.sha1`, text)).status).toBe(409)
    expect(await filesOf((await listed('com/x/sums'))[0]?.id)).toEqual([
      'sums-1.0.jar',
      'sums-1.0.jar',
    ])
  })

  test('of MD5 is taken as it is, and the others are files like any', async () => {
    const path = 'com/x/others/1.0/others-1.0.jar'
    expect((await put(`${path}.md5`, 'no md5')).status).toBe(200)
    expect(await listed('com/x/others')).toEqual([])
    await put(path, 'jar')
    for (const end of ['sha256', 'sha512', 'asc', 'asc.sha256']) {
      expect((await put(`${path}.${end}`, `given ${end}`)).status).toBe(200)
      const got = await get(`${path}.${end}`)
      expect([got.status, got.body]).toEqual([200, `given ${end}`])
      expect((await get(`${path}.${end}.sha1`)).body).toBe(hash('sha1', `given ${end}`))
    }
    expect(await filesOf((await listed('com/x/others'))[0]?.id)).toHaveLength(5)
  })

  test('is for those who may publish, and of files of the same project', async () => {
    const other = (await createProject(ana, 'sums', { namespace_id: groupId })).id
    const path = 'com/x/lib/1.0/lib-1.0.jar.sha1'
    const elsewhere = await ana.put(`/projects/${other}/packages/maven/${path}`, undefined, {
      raw: hash('sha1', 'the jar'),
    })
    expect(elsewhere.status).toBe(404)
    const reporter = await world.user('sum-reporter')
    await addMember(world, projectId, reporter.id, 20)
    expect((await put(path, hash('sha1', 'the jar'), reporter)).status).toBe(403)
    expect((await put(path.replace('sha1', 'md5'), 'x', reporter)).status).toBe(403)
  })
})

describe('a path', () => {
  const good: readonly (readonly [path: string, name: string, version: string | null])[] = [
    ['a/b/1/b-1.jar', 'a/b', '1'],
    ['b/1/b-1.jar', 'b', '1'],
    ['a.b/c_d/1.0+x/c_d-1.0+x-sources.jar', 'a.b/c_d', '1.0+x'],
    ['a/b/1-SNAPSHOT/maven-metadata.xml', 'a/b', '1-SNAPSHOT'],
    ['a/b/maven-metadata.xml', 'a/b', null],
    ['a/maven-metadata.xml.sha256', 'a', null],
    ['a/b/1/maven-metadata.xml.bak', 'a/b', '1'],
    ['a/b/.hidden/x', 'a/b', '.hidden'],
  ]
  test.each(good)('%s is of %s %s', async (path, name, version) => {
    const made = await ana.post('/projects', { name: `path-${path.replaceAll(/\W/g, '-')}` })
    const place = `/projects/${made.body.id}/packages`
    const text = path.endsWith('.xml') ? '<metadata/>' : 'x'
    const sent = await ana.put(`${place}/maven/${path}`, undefined, { raw: text })
    expect(sent.status).toBe(200)
    const [row] = (await ana.get(`${place}?include_versionless=true`)).body
    expect([row.name, row.version]).toEqual([name, version])
    expect((await ana.get(`${place}/maven/${path}`)).body).toBe(text)
  })

  test.each([
    'one.jar',
    '1/one.jar',
    'maven-metadata.xml',
    'a/b/1/b%201.jar',
    'a/b/1/b~1.jar',
    'a/b/1/b-1.jar%00',
    'a/b/1/%D0%B0.jar',
    'a/b/1/..',
    'a/b/../b-1.jar',
    'a/%2e%2e/1/b-1.jar',
    'a/./1/b-1.jar',
    'a/b/1/..%2fb-1.jar',
    'a/b/1/.../b-1.jar',
    'a%5cb/c/1/c-1.jar',
    'a/b/1/b:1.jar',
    'a/b/1/$%7Bx%7D.jar',
    `a/b/1/${'n'.repeat(256)}`,
    `${'g/'.repeat(2500)}b/1/b-1.jar`,
  ])('%s is refused, for reading and for writing', async (path) => {
    const begin = (await ana.get(`${at}?include_versionless=true`)).headers.get('x-total')
    for (const method of ['PUT', 'GET', 'HEAD']) {
      const { status } = await plainRequest(
        world,
        ana,
        method,
        `${maven}/${path}`,
        method === 'PUT' ? 'x' : undefined,
      )
      expect([method, [400, 404].includes(status)]).toEqual([method, true])
      if (method === 'PUT' && !path.includes('%00')) expect(status).toBe(400)
    }
    const end = (await ana.get(`${at}?include_versionless=true`)).headers.get('x-total')
    expect(end).toBe(begin)
  })

  test('of the whole server is that of a project, and 403 for whatever else', async () => {
    await put('acme/p/1.0/p-1.0.jar', 'own')
    await put('acme/p/maven-metadata.xml', versioning(['1.0']))
    await put('acme/p/2-SNAPSHOT/maven-metadata.xml', '<metadata/>')
    for (const path of ['1.0/p-1.0.jar', 'maven-metadata.xml', '2-SNAPSHOT/maven-metadata.xml'])
      expect((await ana.get(`${SERVER}/acme/p/${path}`)).status).toBe(200)
    expect((await ana.get(`${SERVER}/acme/p/1.0/p-1.0.jar.sha1`)).body).toBe(hash('sha1', 'own'))
    expect((await ana.get(`${SERVER}/acme/p/9.0/p-9.0.jar`)).status).toBe(404)
    const stranger = await world.user('path-stranger')
    for (const path of ['acme/p/1.0/p-1.0.jar', 'acme/none/1/none-1.jar', 'com/x/lib/1.0/l.jar']) {
      const refused = await stranger.get(`${SERVER}/${path}`)
      expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
      expect((await world.nobody.get(`${SERVER}/${path}`)).status).toBe(401)
    }
    const put405 = await ana.put(`${SERVER}/acme/p/1.0/x.jar`, undefined, { raw: 'x' })
    expect(put405.status).toBe(405)
    expect((await ana.put(`${GROUP}/acme/p/1.0/x.jar`, undefined, { raw: 'x' })).status).toBe(405)
  })
})

describe('a snapshot', () => {
  const base = 'com/x/snap/1-SNAPSHOT'

  test('keeps the files of its builds beside each other, with metadata of its own', async () => {
    for (const [build, text] of [
      ['20260504.100000-1', 'one'],
      ['20260504.110000-2', 'two'],
    ]) {
      await put(`${base}/snap-1-${build}.jar`, text ?? '')
      await put(`${base}/maven-metadata.xml`, `<metadata><b>${build}</b></metadata>`)
    }
    await put('com/x/snap/maven-metadata.xml', versioning(['1-SNAPSHOT']))
    expect((await get(`${base}/snap-1-20260504.100000-1.jar`)).body).toBe('one')
    expect((await get(`${base}/snap-1-20260504.110000-2.jar`)).body).toBe('two')
    expect((await get(`${base}/maven-metadata.xml`)).body).toContain('110000-2')
    expect((await get(`${base}/snap-1-SNAPSHOT.jar`)).status).toBe(404)
    const rows = await listed('com/x/snap')
    expect(rows.map((row) => row.version)).toEqual(['1-SNAPSHOT', null])
    expect(await filesOf(rows[0]?.id)).toEqual([
      'snap-1-20260504.100000-1.jar',
      'maven-metadata.xml',
      'snap-1-20260504.110000-2.jar',
      'maven-metadata.xml',
    ])
  })

  test('may be sent metadata first, as Gradle does, with its own description of modules', async () => {
    const path = 'com/x/gradle/2-SNAPSHOT'
    for (const file of [
      'maven-metadata.xml',
      'gradle-2-20260504.100000-1.module',
      'gradle-2-20260504.100000-1.jar',
    ]) {
      const text = file.endsWith('.xml') ? '<metadata/>' : `{"of":"${file}"}`
      expect((await put(`${path}/${file}`, text)).status).toBe(200)
      for (const kind of ['sha256', 'sha512'])
        expect((await put(`${path}/${file}.${kind}`, hash(kind, text))).status).toBe(200)
      expect((await put(`${path}/${file}.sha1`, hash('sha1', text))).status).toBe(204)
      expect((await get(`${path}/${file}.sha256`)).body).toBe(hash('sha256', text))
    }
    expect(await filesOf((await listed('com/x/gradle'))[0]?.id)).toHaveLength(9)
  })
})

describe('where duplicates are forbidden', () => {
  beforeAll(() => ana.put('/groups/acme/packages/settings', { maven_duplicates_allowed: false }))
  afterAll(() => ana.put('/groups/acme/packages/settings', { maven_duplicates_allowed: true }))

  test('every file of a version is published once, and all of them may be', async () => {
    const path = 'com/x/once/1.0/once-1.0'
    for (const end of ['.jar', '.pom', '-sources.jar', '.jar.sha256', '.jar.asc']) {
      const text = end === '.pom' ? '<project><artifactId>once</artifactId></project>' : `of ${end}`
      expect([end, (await put(path + end, text)).status]).toEqual([end, 200])
      const again = await put(path + end, text)
      expect([again.status, again.body]).toEqual([
        400,
        { message: '400 Bad request - Duplicate package is not allowed' },
      ])
      if (end === '.jar')
        expect((await put(`${path}.jar.sha1`, hash('sha1', text))).status).toBe(204)
    }
    for (const file of ['maven-metadata.xml', 'maven-metadata.xml.sha256'])
      for (let turn = 0; turn < 2; turn += 1)
        expect((await put(`com/x/once/${file}`, versioning(['1.0']))).status).toBe(200)
  })

  test('a version that was deleted is published again', async () => {
    const path = 'com/x/once-more/1.0/once-more-1.0.jar'
    await put(path, 'first')
    expect((await put(path, 'second')).status).toBe(400)
    await remove('com/x/once-more', '1.0')
    expect((await put(path, 'second')).status).toBe(200)
    expect((await get(path)).body).toBe('second')
  })

  test('of several who send one file at once, one is taken', async () => {
    const path = 'com/x/raced/1.0/raced-1.0.jar'
    const texts = ['a', 'b', 'c', 'd']
    const replies = await Promise.all(texts.map((text) => put(path, text)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 400, 400, 400])
    const won = texts[replies.findIndex((reply) => reply.status === 200)]
    expect((await get(path)).body).toBe(won)
  })

  test('another build of a snapshot is refused, with each of its classifiers', async () => {
    const place = 'com/x/snap-once/1-SNAPSHOT/snap-once-1'
    expect((await put(`${place}-20260101.000000-1.jar`, 'a')).status).toBe(200)
    expect((await put(`${place}-20260101.000000-1-sources.jar`, 'a')).status).toBe(200)
    expect((await put(`${place}-20260102.000000-2.jar`, 'b')).status).toBe(400)
    expect((await put(`${place}-20260102.000000-2-sources.jar`, 'b')).status).toBe(400)
    expect((await put(`${place}-20260102.000000-2-javadoc.jar`, 'b')).status).toBe(200)
  })
})

describe('the metadata of an artifact, after one of its versions was deleted', () => {
  test('names the versions that are left in the order in which they came, with new checksums', async () => {
    const name = 'com/x/list'
    for (const version of ['2.0', '1.0', '3.0-SNAPSHOT', '1.5'])
      await put(`${name}/${version}/list-${version}.jar`, version)
    const given = versioning(['9.9'], '<snapshot><buildNumber>3</buildNumber></snapshot>')
    await put(`${name}/maven-metadata.xml`, given)
    world.setNow('2026-05-04T12:34:56.789Z')
    await remove(name, '1.5')
    world.setNow('2026-05-04T10:00:00.000Z')
    const { body } = await get(`${name}/maven-metadata.xml`)
    const flat = String(body).replaceAll(/\s+/g, '')
    expect(flat).toContain('<latest>3.0-SNAPSHOT</latest>')
    expect(flat).toContain('<release>1.0</release>')
    expect(flat).toContain(
      '<versions><version>2.0</version><version>1.0</version><version>3.0-SNAPSHOT</version></versions>',
    )
    expect(flat).toContain('<lastUpdated>20260504123456</lastUpdated>')
    expect(flat).toContain('<groupId>g</groupId><artifactId>a</artifactId>')
    expect(flat).toContain('<snapshot><buildNumber>3</buildNumber></snapshot>')
    for (const kind of ['md5', 'sha1', 'sha256', 'sha512'])
      expect((await get(`${name}/maven-metadata.xml.${kind}`)).body).toBe(hash(kind, body))
    await remove(name, '1.0')
    await remove(name, '2.0')
    const last = String((await get(`${name}/maven-metadata.xml`)).body)
    expect(last).toContain('<latest>3.0-SNAPSHOT</latest>')
    expect(last).not.toContain('<release>')
    await remove(name, '3.0-SNAPSHOT')
    expect((await get(`${name}/maven-metadata.xml`)).status).toBe(404)
    expect(await listed(name)).toEqual([])
  })

  test('is left alone where there is none, or where only the metadata itself was deleted', async () => {
    await put('com/x/bare/1.0/bare-1.0.jar', 'x')
    await put('com/x/bare/2.0/bare-2.0.jar', 'x')
    await remove('com/x/bare', '1.0')
    expect((await listed('com/x/bare')).map((row) => row.version)).toEqual(['2.0'])
    await put('com/x/bare/maven-metadata.xml', versioning(['2.0']))
    await remove('com/x/bare', null)
    expect((await get('com/x/bare/maven-metadata.xml')).status).toBe(404)
    expect((await get('com/x/bare/2.0/bare-2.0.jar')).status).toBe(200)
  })

  test('of plugins names the plugins that are left, and goes with the last one', async () => {
    for (const plugin of ['one-maven-plugin', 'two-maven-plugin'])
      await put(`com/plug/${plugin}/1.0/${plugin}-1.0.jar`, plugin)
    const entry = (name: string) =>
      `<plugin><name>R&amp;D_${name}</name><prefix>${name}</prefix><artifactId>${name}-maven-plugin</artifactId></plugin>`
    const plugins = `<metadata><plugins>${entry('one')}${entry('two')}</plugins></metadata>`
    await put('com/plug/maven-metadata.xml', plugins)
    const shown = async () =>
      String((await get('com/plug/maven-metadata.xml')).body).replaceAll(/\s+/g, '')
    await put('com/plug/two-maven-plugin/2.0/two-maven-plugin-2.0.jar', 'two')
    await remove('com/plug/two-maven-plugin', '1.0')
    expect(await shown()).toContain(entry('two'))
    await remove('com/plug/two-maven-plugin', '2.0')
    expect(await shown()).toContain(`<plugins>${entry('one')}</plugins>`)
    const body = (await get('com/plug/maven-metadata.xml')).body
    for (const kind of ['sha1', 'sha256'])
      expect((await get(`com/plug/maven-metadata.xml.${kind}`)).body).toBe(hash(kind, body))
    await remove('com/plug/one-maven-plugin', '1.0')
    expect((await get('com/plug/maven-metadata.xml')).status).toBe(404)
  })

  test('follows also where rules let nobody but administrators publish it', async () => {
    const name = 'com/x/ruled'
    for (const version of ['1.0', '2.0']) await put(`${name}/${version}/ruled-${version}.jar`, 'x')
    await put(`${name}/maven-metadata.xml`, versioning(['1.0', '2.0']))
    await ana.post(`${at}/protection/rules`, {
      package_name_pattern: name,
      package_type: 'maven',
      minimum_access_level_for_push: 'admin',
      minimum_access_level_for_delete: 'owner',
    })
    await remove(name, '2.0')
    expect(String((await get(`${name}/maven-metadata.xml`)).body)).toContain('<latest>1.0</latest>')
    await remove(name, '1.0')
    expect((await get(`${name}/maven-metadata.xml`)).status).toBe(404)
  })
})

describe('one artifact in several projects of a group', () => {
  test('is served as it was published last, of what the caller may read', async () => {
    const other = (await createProject(ana, 'other', { namespace_id: groupId })).id
    const bob = await world.user('bob')
    await addMember(world, projectId, bob.id, 10)
    const path = 'com/x/twice/1.0/twice-1.0.jar'
    await put(path, 'of p')
    await ana.put(`/projects/${other}/packages/maven/${path}`, undefined, { raw: 'of other' })
    expect((await ana.get(`${GROUP}/${path}`)).body).toBe('of other')
    expect((await ana.get(`${GROUP}/${path}.sha1`)).body).toBe(hash('sha1', 'of other'))
    expect((await bob.get(`${GROUP}/${path}`)).body).toBe('of p')
    expect((await get(path)).body).toBe('of p')
    const stranger = await world.user('twice-stranger')
    expect((await stranger.get(`${GROUP}/${path}`)).status).toBe(404)
    await ana.delete(`/projects/${other}`)
    expect((await ana.get(`${GROUP}/${path}`)).body).toBe('of p')
  })
})

describe('what Maven reads itself is looked into', () => {
  test.each([
    ['an artifact id', '<project><artifactId>other</artifactId></project>'],
    ['a group id', '<project><artifactId>m</artifactId><groupId>com.y</groupId></project>'],
    ['a version', '<project><artifactId>m</artifactId><version>2</version></project>'],
  ])('a pom is refused that has %s of another artifact', async (_what, pom) => {
    const refused = await put('com/x/m/1/m-1.pom', pom)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/^400 Bad request - The pom is of another artifact: its \w+ is not /),
    ])
    expect(await listed('com/x/m')).toEqual([])
  })

  test.each([
    ['what comes from a parent', '<project><artifactId>in</artifactId></project>'],
    ['properties', `<project><artifactId>in</artifactId><version>\${revision}</version></project>`],
    ['a name space', '<project xmlns="http://maven.apache.org/POM/4.0.0"/>'],
    [
      'comments and sections',
      '<!-- x --><project><description><![CDATA[<a>]]></description></project>',
    ],
  ])('a pom is taken with %s', async (_what, pom) => {
    expect((await put('com/x/in/1/in-1.pom', pom)).status).toBe(200)
  })

  test('of a snapshot the pom has the version of the folder', async () => {
    const pom = (version: string) =>
      `<project><artifactId>sp</artifactId><version>${version}</version></project>`
    const path = 'com/x/sp/1-SNAPSHOT/sp-1-20260101.000000-1.pom'
    expect((await put(path, pom('1-SNAPSHOT'))).status).toBe(200)
    expect((await put(path, pom('1'))).status).toBe(400)
  })
})
