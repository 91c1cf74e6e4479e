import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import { addRunner } from '../support/runner.ts'
import type { Caller, World } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { tarballOf } from './tarball.ts'
import { zipOf } from './zip-file.ts'

let world: World
let ana: Caller
let groupId: number
let projectId: number
let at: string
let root: string
const callers = new Map<string, { readonly caller: Caller; readonly basic: string }>()

beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
  const files = {
    '.svc-ci.yml': 'x: {script: make}',
    'composer.json': '{"name":"acme/tool"}',
    'go.mod': 'module 127.0.0.1/acme/p\n\ngo 1.20\n',
  }
  const actions = Object.entries(files).map(([file_path, content]) => {
    return { action: 'create', file_path, content }
  })
  const commit = { branch: 'main', commit_message: 'one', actions }
  expect((await ana.post(`/projects/${projectId}/repository/commits`, commit)).status).toBe(201)
  for (const tag of ['v1.0.0', 'v1.1.0']) {
    await ana.post(`/projects/${projectId}/repository/tags?tag_name=${tag}&ref=main`)
  }
  await world.runTasks()
  await ana.post(`/projects/${projectId}/pipeline`, { ref: 'main' })
  const given = await (await addRunner(world, ana, projectId)).request()
  if (!given) throw new Error('no job')
  const job = world.withHeader('JOB-TOKEN', given.token)
  callers.set('job', { caller: job, basic: `svc-ci-token:${given.token}` })
  const scopes = ['write_package_registry', 'read_registry', 'write_registry']
  const made = await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 't', scopes })
  const { token, username } = made.body
  const deploy = world.withHeader('DEPLOY-TOKEN', token)
  callers.set('deploy', { caller: deploy, basic: `${username}:${token}` })
  root = newFolder()
  mkdirSync(root, { recursive: true })
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

function formOf(fields: Readonly<Record<string, string | Blob>>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value)
    else form.set(name, value, `${name}.tgz`)
  }
  return form
}

type Exchange = (who: Caller, version: string) => Promise<readonly number[]>

const nuspec = (version: string) =>
  `<package><metadata><id>Tool</id><version>${version}</version><authors>a</authors><description>d</description></metadata></package>`

/** How each format is published and read back; what is not answered well shows in the statuses. */
const formats: Readonly<Record<string, Exchange>> = {
  async generic(who, version) {
    const path = `${at}/generic/tool/${version}/f`
    const put = await who.put(path, undefined, { raw: 'x' })
    return [put.status, (await who.get(path)).status]
  },
  async npm(who, version) {
    const put = await who.put(`${at}/npm/tool`, await documentOf('tool', version))
    const tag = `${at}/npm/-/package/tool/dist-tags/beta`
    const tagged = await who.put(tag, undefined, { raw: `"${version}"` })
    const got = await who.get(`${at}/npm/tool`)
    return [put.status, tagged.status, got.status]
  },
  async maven(who, version) {
    const path = `${at}/maven/com/acme/tool/${version}/tool-${version}.jar`
    const put = await who.put(path, undefined, { raw: 'x' })
    return [put.status, (await who.get(path)).status]
  },
  async pypi(who, version) {
    const raw = formOf({ ':action': 'file_upload', name: 'tool', version })
    raw.set('content', new Blob([`bytes ${version}`]), `tool-${version}.tar.gz`)
    const put = await who.post(`${at}/pypi`, undefined, { raw })
    return [put.status, (await who.get(`${at}/pypi/simple/tool`)).status]
  },
  async nuget(who, version) {
    const file = await zipOf({ 'Tool.nuspec': nuspec(version) })
    const raw = formOf({ package: new Blob([file]) })
    const put = await who.put(`${at}/nuget`, undefined, { raw })
    const got = await who.get(`${at}/nuget/download/tool/${version}/tool.${version}.nupkg`)
    return [put.status, got.status]
  },
  async composer(who, version) {
    const put = await who.post(`${at}/composer`, { tag: `v${version}` })
    const sha = (await ana.get(`/projects/${projectId}/repository/commits/main`)).body.id
    const got = await who.get(`${at}/composer/archives/acme/tool.zip?sha=${sha}`)
    return [put.status, got.status]
  },
  async conan(who, version) {
    const files = `${at}/conan/v2/conans/tool/${version}/_/_/revisions/${'a'.repeat(32)}/files`
    const first = await who.put(`${files}/conanfile.py`, undefined, { raw: 'x' })
    const last = await who.put(`${files}/conanmanifest.txt`, undefined, { raw: 'x' })
    return [first.status, last.status, (await who.get(`${files}/conanfile.py`)).status]
  },
  async helm(who, version) {
    const yaml = `apiVersion: v2\nname: web\nversion: ${version}\n`
    const chart = new Blob([await tarballOf({ 'web/Chart.yaml': yaml })])
    const put = await who.post(`${at}/helm/api/stable/charts`, undefined, {
      raw: formOf({ chart }),
    })
    const got = await who.get(`${at}/helm/stable/charts/web-${version}.tgz`)
    return [put.status, got.status]
  },
  async terraform(who, version) {
    const path = `${at}/terraform/modules/vpc/local/${version}`
    const raw = await tarballOf({ 'main.tf': '' })
    const put = await who.put(`${path}/file`, undefined, { raw })
    return [put.status, (await who.get(path)).status]
  },
}

describe.each(['job', 'deploy'])('with the token of a %s', (kind) => {
  const version = kind === 'job' ? '1.0.0' : '1.1.0'
  const who = () => callers.get(kind)?.caller as Caller

  test.each(Object.entries(formats))('%s is published and installed', async (_name, exchange) => {
    const statuses = await exchange(who(), version)
    expect(statuses.filter((status) => status >= 300)).toEqual([])
  })

  test('an image is pushed and pulled', async () => {
    const basic = Buffer.from(callers.get(kind)?.basic ?? '').toString('base64')
    const headers = { Authorization: `Basic ${basic}` }
    const digest = `sha256:${createHash('sha256').update(kind).digest('hex')}`
    const blobs = '/v2/acme/p/app/blobs'
    const upload = `${blobs}/uploads/?digest=${digest}`
    const options = { host: true, headers }
    const put = await world.nobody.post(upload, undefined, { ...options, raw: kind })
    expect(put.status).toBe(201)
    expect((await world.nobody.get(`${blobs}/${digest}`, options)).status).toBe(200)
  })
})

test('a job reads the versions of a go module', async () => {
  const list = `${at}/go/127.0.0.1/acme/p/@v/list`
  const got = await callers.get('job')?.caller.get(list)
  expect([got?.status, got?.body]).toEqual([200, 'v1.0.0\nv1.1.0\n'])
})

test('what a job published names its pipeline', async () => {
  const listed = (await ana.get(`${at}?package_name=tool&package_type=generic`)).body
  const built = listed.find((one: { version: string }) => one.version === '1.0.0')
  expect(built.pipeline).toMatchObject({ project_id: projectId, user: { username: 'ana' } })
})

test('a deploy token removes what it published: tags, versions and notes of age', async () => {
  const who = callers.get('deploy')?.caller as Caller
  const tag = await who.delete(`${at}/npm/-/package/tool/dist-tags/beta`)
  const deprecation = { name: 'tool', versions: { '1.1.0': { deprecated: 'old' } } }
  const headers = { 'npm-command': 'deprecate' }
  const deprecated = await who.put(`${at}/npm/tool`, deprecation, { headers })
  const version = await who.delete(`${at}/nuget/tool/1.1.0`)
  expect([tag.status, deprecated.status, version.status]).toEqual([204, 200, 204])
  expect((await ana.get(`${at}/npm/tool`)).body.versions['1.1.0'].deprecated).toBe('old')
  const reading = { name: 'r', scopes: ['read_package_registry'] }
  const reader = (await ana.post(`/projects/${projectId}/deploy_tokens`, reading)).body.token
  const refused = await world.withHeader('DEPLOY-TOKEN', reader).delete(`${at}/nuget/tool/1.0.0`)
  expect(refused.status).toBe(401)
})

test('npm publishes and installs in a job', async () => {
  const token = callers.get('job')?.caller.token ?? ''
  const folder = join(root, 'npm')
  mkdirSync(join(folder, 'app'), { recursive: true })
  const registry = `${world.url}/api/v4${at}/npm/`
  const npmrc = `@acme:registry=${registry}\n${registry.slice('http:'.length)}:_authToken=${token}\n`
  writeFileSync(join(folder, 'package.json'), '{"name":"@acme/built","version":"1.0.0"}')
  writeFileSync(join(folder, 'app', 'package.json'), '{"name":"app","version":"1.0.0"}')
  for (const place of [folder, join(folder, 'app')]) writeFileSync(join(place, '.npmrc'), npmrc)
  await client('npm', ['publish'], { cwd: folder })
  await client('npm', ['install', '@acme/built'], { cwd: join(folder, 'app') })
}, 120_000)

test('pip installs in a job what the job uploaded', async () => {
  const info = 'built-1.0.dist-info'
  const wheel = await zipOf({
    'built.py': 'answer = 42\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: built\nVersion: 1.0\n',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `built.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  })
  const raw = formOf({ ':action': 'file_upload', name: 'built', version: '1.0' })
  raw.set('content', new Blob([wheel]), 'built-1.0-py3-none-any.whl')
  const job = callers.get('job')
  expect((await job?.caller.post(`${at}/pypi`, undefined, { raw }))?.status).toBe(201)
  const index = `${world.url.replace('://', `://${job?.basic}@`)}/api/v4${at}/pypi/simple`
  const target = join(root, 'by-pip')
  const pip = ['-m', 'pip', 'install', '--no-cache-dir', '--no-deps', '--target', target]
  await client('python3', [...pip, '--index-url', index, 'built==1.0'], { cwd: root })
  expect(readFileSync(join(target, 'built.py'), 'utf8')).toBe('answer = 42\n')
}, 120_000)

test('Maven deploys in a job', async () => {
  const folder = join(root, 'maven')
  mkdirSync(folder)
  const repository = `<repository><id>own</id><url>${world.url}/api/v4${at}/maven</url></repository>`
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
      <groupId>com.gitstead.acme</groupId><artifactId>parent</artifactId><version>1.0</version>
      <packaging>pom</packaging><distributionManagement>${repository}</distributionManagement></project>`,
  )
  const header = `<property><name>Job-Token</name><value>${callers.get('job')?.caller.token}</value></property>`
  writeFileSync(
    join(folder, 'settings.xml'),
    `<settings><servers><server><id>own</id><configuration><httpHeaders>${header}</httpHeaders>
      </configuration></server></servers></settings>`,
  )
  // The plugins that Maven is made of come from Maven Central, once for all runs on the machine.
  const local = join(homedir(), '.cache', 'gitstead-test-clients', 'maven')
  const args = ['-B', '-q', '-s', 'settings.xml', `-Dmaven.repo.local=${local}`, 'deploy']
  await client('mvn', args, { cwd: folder })
  const pom = await ana.get(`${at}/maven/com/gitstead/acme/parent/1.0/parent-1.0.pom`)
  expect([pom.status, pom.body]).toEqual([200, readFileSync(join(folder, 'pom.xml'), 'utf8')])
}, 120_000)

test('guests of a group install from it, and see its sizes with the rest', async () => {
  const guest = await world.user('guest')
  const member = { user_id: guest.id, access_level: 10 }
  expect((await ana.post(`/groups/${groupId}/members`, member)).status).toBe(201)
  for (const path of ['npm/tool', 'pypi/simple/tool', 'nuget/metadata/tool/index.json']) {
    expect((await guest.get(`/groups/${groupId}/-/packages/${path}`)).status).toBe(200)
  }
  const { statistics } = (await ana.get(`/projects/${projectId}?statistics=true`)).body
  const files = await world.ctx.db.selectFrom('package_files').select('size').execute()
  const total = files.reduce((sum, file) => sum + file.size, 0)
  expect(statistics).toMatchObject({ packages_size: total, container_registry_size: 9 })
  expect(statistics.storage_size).toBe(statistics.repository_size + total)
  const [group] = (await world.root.get('/groups?statistics=true')).body
  expect(group.statistics.packages_size).toBe(total)
  const [first] = (await world.root.get('/projects?order_by=packages_size')).body
  expect(first.id).toBe(projectId)
})
