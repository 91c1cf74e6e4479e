import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'

let world: World
let ana: Caller
let projectId: number
let at: string
let root: string

/** Stands for the public registry, and knows what it was asked for. */
const publicFiles = new Map<string, string | Buffer>()
const publicly: string[] = []
const publicRegistry = createServer(({ url = '' }, response) => {
  publicly.push(url)
  const file = publicFiles.get(url)
  response.writeHead(file === undefined ? 404 : 200).end(file)
})

beforeAll(async () => {
  await new Promise<void>((done) => publicRegistry.listen(0, '127.0.0.1', done))
  const { port } = publicRegistry.address() as AddressInfo
  world = await openReachableWorld({ mavenUrl: `http://127.0.0.1:${port}` })
  ana = await world.user('ana')
  const group = await createGroup(ana, 'acme')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${projectId}/packages/maven`
  root = newFolder()
  mkdirSync(root, { recursive: true })
})
afterAll(async () => {
  await world.close()
  publicRegistry.close()
  rmSync(root, { recursive: true, force: true })
})

const put = (path: string, raw: string | Uint8Array<ArrayBuffer>) =>
  ana.put(`${at}/${path}`, undefined, { raw })
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

/** The plugins that Maven is made of come from Maven Central, once for all runs on the machine. */
const local = join(homedir(), '.cache', 'gitstead-test-clients', 'maven')

function pom(artifactId: string, version: string, more: string): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.gitstead.acme</groupId><artifactId>${artifactId}</artifactId><version>${version}</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  ${more}
</project>`
}

/** The folder of a project; gives its name. */
function folder(name: string, text: string, sources: Readonly<Record<string, string>>): string {
  const path = join(root, name)
  const java = join(path, 'src', 'main', 'java', 'acme')
  mkdirSync(java, { recursive: true })
  writeFileSync(join(path, 'pom.xml'), text)
  for (const [file, source] of Object.entries(sources)) writeFileSync(join(java, file), source)
  return name
}

/** Does the same with some projects: to begin takes Maven longer than each of them does. */
function maven(projects: readonly string[], ...words: string[]) {
  const modules = projects.map((name) => `<module>${name}</module>`).join('')
  const all = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.gitstead.acme</groupId><artifactId>all</artifactId><version>1</version>
  <packaging>pom</packaging><modules>${modules}</modules>
  <properties><maven.deploy.skip>true</maven.deploy.skip></properties>
</project>`
  const settings = `<settings><servers>
  <server><id>header</id><configuration><httpHeaders><property>
    <name>Private-Token</name><value>${ana.token}</value></property></httpHeaders></configuration></server>
  <server><id>basic</id><username>ana</username><password>${ana.token}</password></server>
</servers></settings>`
  writeFileSync(join(root, 'pom.xml'), all)
  writeFileSync(join(root, 'settings.xml'), settings)
  const same = ['-B', '-q', '-Dmaven.test.skip=true', `-Dmaven.repo.local=${local}`]
  return client('mvn', [...same, '-s', 'settings.xml', ...words], { cwd: root })
}

const forget = () =>
  rmSync(join(local, 'com', 'gitstead', 'acme'), { recursive: true, force: true })

const app = { 'App.java': 'package acme; public class App { int answer = Lib.answer(); }' }

test('Maven deploys a release and a snapshot, and builds with them through the group', async () => {
  const url = `${world.url}/api/v4${at}`
  const target = `<distributionManagement>
    <repository><id>header</id><url>${url}</url></repository>
    <snapshotRepository><id>basic</id><url>${url}</url></snapshotRepository>
  </distributionManagement>`
  const source = {
    'Lib.java': 'package acme; public class Lib { public static int answer() { return 42; } }',
  }
  const next = folder('lib-next', pom('lib', '1.1-SNAPSHOT', target), source)
  await maven([folder('lib', pom('lib', '1.0', target), source), next], 'deploy')
  const shown = await ana.get(`/projects/${projectId}/packages?package_type=maven&order_by=version`)
  expect(shown.body.map((one: { version: string }) => one.version)).toEqual(['1.0', '1.1-SNAPSHOT'])
  forget()
  const from = `<repositories><repository><id>basic</id>
      <url>${world.url}/api/v4/groups/acme/-/packages/maven</url>
      <snapshots><enabled>true</enabled></snapshots></repository></repositories>
    <dependencies><dependency><groupId>com.gitstead.acme</groupId><artifactId>lib</artifactId>
      <version>VERSION</version></dependency></dependencies>`
  const apps = ['1.0', '1.1-SNAPSHOT'].map((version) =>
    folder(`app-${version}`, pom(`app-${version}`, '1', from.replace('VERSION', version)), app),
  )
  await maven(apps, 'package')
  for (const name of apps)
    expect(readdirSync(join(root, name, 'target'))).toContain(`${name}-1.jar`)
  forget()
}, 240_000)

test('Maven gets no version from elsewhere of an artifact that is here, and others from there', async () => {
  for (const name of ['lib', 'far']) {
    const base = `/com/gitstead/acme/${name}/9.0/${name}-9.0`
    publicFiles.set(`${base}.pom`, pom(name, '9.0', ''))
    publicFiles.set(`${base}.jar`, readFileSync(join(root, 'lib', 'target', 'lib-1.0.jar')))
  }
  await world.root.put('/application/settings', { maven_package_requests_forwarding: true })
  const apps = ['lib', 'far'].map((name) => {
    const more = `<repositories><repository><id>basic</id>
        <url>${world.url}/api/v4/groups/acme/-/packages/maven</url></repository></repositories>
      <dependencies><dependency><groupId>com.gitstead.acme</groupId><artifactId>${name}</artifactId>
        <version>9.0</version></dependency></dependencies>`
    return folder(`app-of-${name}`, pom(`app-of-${name}`, '1', more), app)
  })
  await expect(maven(apps, 'package', '--fail-at-end')).rejects.toThrow(/lib:(jar|pom):9\.0/)
  expect(readdirSync(join(root, 'app-of-far', 'target'))).toContain('app-of-far-1.jar')
  expect(readdirSync(join(root, 'app-of-lib'))).not.toContain('target')
  expect(publicly).toContain('/com/gitstead/acme/far/9.0/far-9.0.jar')
  expect(publicly.filter((url) => url.includes('/lib/'))).toEqual([])
  await world.root.put('/application/settings', { maven_package_requests_forwarding: false })
  forget()
}, 240_000)

test('a checksum is compared with what is stored, and worked out for those who ask', async () => {
  const path = 'org/x/tool/1.0/tool-1.0.jar'
  expect((await put(`${path}.sha1`, sha1('bytes'))).status).toBe(404)
  expect((await put(path, 'bytes')).status).toBe(200)
  expect((await put(`${path}.sha1`, sha1('bytes'))).status).toBe(204)
  expect((await put(`${path}.sha1`, sha1('other'))).status).toBe(409)
  expect((await put(`${path}.md5`, 'whatever')).status).toBe(200)
  const got = await ana.get(`${at}/${path}`)
  expect([got.status, got.body, got.headers.get('x-checksum-sha1')]).toEqual([
    200,
    'bytes',
    sha1('bytes'),
  ])
  expect((await ana.get(`${at}/${path}.sha1`)).body).toBe(sha1('bytes'))
  expect((await ana.head(`${at}/${path}`)).headers.get('content-length')).toBe('5')
  expect((await ana.get(`${at}/org/x/tool/maven-metadata.xml`)).status).toBe(404)
  const missing = `org/x/tool/9/tool-9.jar`
  expect((await ana.get(`${at}/${missing}`)).status).toBe(404)
  expect((await ana.get(`/groups/acme/-/packages/maven/${missing}`)).status).toBe(404)
  expect((await world.nobody.get(`/groups/acme/-/packages/maven/${missing}`)).status).toBe(401)
  expect((await ana.get(`/packages/maven/${missing}`)).status).toBe(403)
  expect((await world.nobody.get(`${at}/${path}`)).status).toBe(401)
})

test('a package that is named after its project is found on the whole server', async () => {
  await put('acme/p/1.0/p-1.0.jar', 'own')
  expect((await ana.get('/packages/maven/acme/p/1.0/p-1.0.jar')).body).toBe('own')
  const stranger = await world.user('stranger')
  expect((await stranger.get('/packages/maven/acme/p/1.0/p-1.0.jar')).status).toBe(403)
})

test('the metadata of all versions follows when one is deleted', async () => {
  const metadata = (versions: readonly string[]) =>
    `<metadata><groupId>org.y</groupId><artifactId>gone</artifactId><versioning>
      <latest>2.0</latest><release>2.0</release>
      <versions>${versions.map((one) => `<version>${one}</version>`).join('')}</versions>
    </versioning></metadata>`
  for (const version of ['1.0', '2.0']) await put(`org/y/gone/${version}/gone-${version}.jar`, 'x')
  await put('org/y/gone/maven-metadata.xml', metadata(['1.0', '2.0']))
  const remove = async (version: string) => {
    const found = await ana.get(
      `/projects/${projectId}/packages?package_name=org/y/gone&package_version=${version}`,
    )
    await ana.delete(`/projects/${projectId}/packages/${found.body[0].id}`)
    await world.runTasks()
  }
  await remove('2.0')
  const left = (await ana.get(`${at}/org/y/gone/maven-metadata.xml`)).body
  expect(left).toContain('<release>1.0</release>')
  expect(left).toContain('<groupId>org.y</groupId>')
  expect(left).not.toContain('2.0')
  expect((await ana.get(`${at}/org/y/gone/maven-metadata.xml.sha1`)).body).toBe(sha1(left))
  await remove('1.0')
  expect((await ana.get(`${at}/org/y/gone/maven-metadata.xml`)).status).toBe(404)
})

test('where duplicates are forbidden, another build of a snapshot counts as one', async () => {
  await ana.put('/groups/acme/packages/settings', { maven_duplicates_allowed: false })
  const place = 'org/z/snap/1-SNAPSHOT/snap-1'
  expect((await put(`${place}-20260101.000000-1.jar`, 'a')).status).toBe(200)
  const refused = await put(`${place}-20260102.000000-2.jar`, 'b')
  expect([refused.status, refused.body.message]).toEqual([
    400,
    '400 Bad request - Duplicate package is not allowed',
  ])
  const metadata = '<metadata><versioning></versioning></metadata>'
  for (let i = 0; i < 2; i += 1) {
    expect((await put('org/z/snap/1-SNAPSHOT/maven-metadata.xml', metadata)).status).toBe(200)
  }
  await ana.put('/groups/acme/packages/settings', { maven_duplicates_allowed: true })
})

describe('what is refused, and leaves nothing', () => {
  const pomOf = (artifactId: string) =>
    `<project><groupId>org.bad</groupId><artifactId>${artifactId}</artifactId><version>1</version></project>`
  const laughs = `<!DOCTYPE a [<!ENTITY a "ha">${[...'bcdefghij'].map((one, at) => `<!ENTITY ${one} "&${'abcdefghij'[at]};&${'abcdefghij'[at]};">`).join('')}]><metadata>&j;</metadata>`
  test.each<[string, string, string]>([
    ['a pom of another artifact', 'org/bad/one/1/one-1.pom', pomOf('other')],
    ['a pom that is no XML', 'org/bad/one/1/one-1.pom', 'nonsense <'],
    [
      'metadata with a document type',
      'org/bad/one/maven-metadata.xml',
      '<!DOCTYPE x SYSTEM "file:///etc/passwd"><metadata/>',
    ],
    ['metadata with a billion laughs', 'org/bad/one/maven-metadata.xml', laughs],
    ['metadata nested too deeply', 'org/bad/one/maven-metadata.xml', '<metadata>'.repeat(50_000)],
    ['metadata that is something else', 'org/bad/one/maven-metadata.xml', '<html></html>'],
    ['a step up', 'org/bad/one/1/..%2f..%2fx.jar', 'x'],
    ['a backslash', 'org/bad/one/1/a%5cb.jar', 'x'],
    ['a name beyond ASCII', 'org/bad/one/1/caf%C3%A9.jar', 'x'],
    ['a path without an artifact', 'one.jar', 'x'],
  ])('%s', async (_what, path, text) => {
    expect((await put(path, text)).status).toBe(400)
    const listed = await ana.get(
      `/projects/${projectId}/packages?package_name=org/bad&include_versionless=true`,
    )
    expect(listed.body).toEqual([])
  })
})
