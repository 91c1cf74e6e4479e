import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, helmProgram, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { tarballOf } from './tarball.ts'

let world: World
let ana: Caller
let at: string
let root: string
let helm: string

beforeAll(async () => {
  helm = await helmProgram()
  world = await openReachableWorld()
  ana = await world.user('ana')
  const project = await createProject(ana, 'p')
  at = `/projects/${project.id}/packages/helm`
  root = newFolder()
  mkdirSync(root, { recursive: true })
}, 900_000)
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

async function upload(bytes: Uint8Array<ArrayBuffer>, channel = 'stable', who = ana) {
  const form = new FormData()
  form.set('chart', new Blob([bytes]), 'chart.tgz')
  return await who.post(`${at}/api/${channel}/charts`, undefined, { raw: form })
}

const CORE = [
  { name: 'services', singularName: 'service', kind: 'Service' },
  { name: 'serviceaccounts', singularName: 'serviceaccount', kind: 'ServiceAccount' },
]
const APPS = [{ name: 'deployments', singularName: 'deployment', kind: 'Deployment' }]
const apps = { groupVersion: 'apps/v1', version: 'v1' }
const resources = (groupVersion: string, list: readonly object[]) => ({
  kind: 'APIResourceList',
  groupVersion,
  resources: list.map((one) => ({ ...one, namespaced: true, verbs: ['get', 'create'] })),
})
/** What an empty cluster of Kubernetes says of itself. */
const CLUSTER: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '31', gitVersion: 'v1.31.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [{ name: 'apps', versions: [apps], preferredVersion: apps }],
  },
  '/api/v1': resources('v1', CORE),
  '/apis/apps/v1': resources('apps/v1', APPS),
}
const MISSING = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
}

/** helm installs nowhere without a cluster, not even in a dry run: it asks what the cluster is and has. */
async function startCluster(asked: string[]): Promise<Server> {
  const cluster = createServer((request, reply) => {
    const path = new URL(request.url ?? '/', 'http://cluster').pathname
    asked.push(`${request.method} ${path}`)
    const found = CLUSTER[path]
    reply.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' })
    reply.end(JSON.stringify(found ?? MISSING))
  })
  cluster.listen(0, '127.0.0.1')
  await once(cluster, 'listening')
  return cluster
}

const chart = (yaml: string, more = {}) => tarballOf({ 'c/Chart.yaml': yaml, ...more })

test('helm packages a chart, finds it in the repository, renders it and installs it in a dry run', async () => {
  await client(helm, ['create', 'web'], { cwd: root })
  await client(helm, ['package', 'web', '--app-version', '1.10'], { cwd: root })
  const bytes = readFileSync(join(root, 'web-0.1.0.tgz'))
  expect((await upload(Buffer.from(bytes))).status).toBe(201)
  const url = `${world.url}/api/v4${at}/stable`
  const user = ['--username', 'any', '--password', ana.token ?? '']
  await client(helm, ['repo', 'add', 'svc', url, ...user], { cwd: root })
  const found = await client(helm, ['search', 'repo', 'svc/web', '-o', 'json'], { cwd: root })
  expect(JSON.parse(found)).toMatchObject([
    { name: 'svc/web', version: '0.1.0', app_version: '1.10' },
  ])
  const rendered = await client(helm, ['template', 'r', 'svc/web'], { cwd: root })
  expect(rendered).toContain('kind: Deployment')
  const asked: string[] = []
  const cluster = await startCluster(asked)
  try {
    const to = `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`
    const dryRun = ['--dry-run=client', '--disable-openapi-validation', '--kube-apiserver', to]
    const said = await client(helm, ['install', 'r', 'svc/web', ...dryRun], { cwd: root })
    expect(said).toContain('STATUS: pending-install')
    expect(said).toContain('name: r-web')
    expect(asked).toContain('GET /apis/apps/v1/namespaces/default/deployments/r-web')
    expect(asked.filter((one) => !one.startsWith('GET'))).toEqual([])
  } finally {
    cluster.close()
  }
  mkdirSync(join(root, 'got'))
  await client(helm, ['pull', 'svc/web', '--destination', 'got'], { cwd: root })
  expect(readFileSync(join(root, 'got', 'web-0.1.0.tgz')).equals(bytes)).toBe(true)
}, 120_000)

test('the index is ready-made, known by its tag, and new after a publication', async () => {
  await upload(
    await chart('apiVersion: v2\nname: lib\nversion: 1.0.0\nappVersion: "1.10"\n'),
    'edge',
  )
  const index = await ana.get(`${at}/edge/index.yaml`)
  const read = parse(index.body)
  expect(read).toMatchObject({
    apiVersion: 'v1',
    entries: { lib: [{ version: '1.0.0', appVersion: '1.10', urls: ['charts/lib-1.0.0.tgz'] }] },
  })
  const etag = { headers: { 'If-None-Match': index.headers.get('etag') ?? '' } }
  expect((await ana.get(`${at}/edge/index.yaml`, etag)).status).toBe(304)
  await upload(await chart('apiVersion: v2\nname: lib\nversion: 1.1.0\n'), 'edge')
  const next = await ana.get(`${at}/edge/index.yaml`, etag)
  expect(parse(next.body).entries.lib.map((one: { version: string }) => one.version)).toEqual([
    '1.1.0',
    '1.0.0',
  ])
  expect(parse((await ana.get(`${at}/none/index.yaml`)).body).entries).toEqual({})
})

test('the newest file of a version is served, whole or in part', async () => {
  const yaml = 'apiVersion: v2\nname: again\nversion: 1.0.0\n'
  await upload(await chart(yaml))
  const second = await chart(yaml, { 'c/values.yaml': 'a: 1\n' })
  await upload(second)
  const file = `${world.url}/api/v4${at}/stable/charts/again-1.0.0.tgz`
  const headers = { 'PRIVATE-TOKEN': ana.token ?? '' }
  const got = Buffer.from(await (await fetch(file, { headers })).arrayBuffer())
  expect(got.equals(second)).toBe(true)
  expect(gunzipSync(got).toString()).toContain('values.yaml')
  const part = await fetch(file, { headers: { ...headers, Range: 'bytes=0-1' } })
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 2])
  expect((await ana.get(`${at}/edge/charts/again-1.0.0.tgz`)).status).toBe(404)
})

describe('what is refused, and leaves nothing', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nname: [*b,*b,*b,*b]\n`
  test.each<[string, () => Promise<Buffer<ArrayBuffer>>]>([
    ['no chart', async () => Buffer.from('text')],
    ['a tarball without Chart.yaml', () => tarballOf({ 'c/values.yaml': 'a: 1' })],
    ['a Chart.yaml at the top', () => tarballOf({ 'Chart.yaml': 'name: a\nversion: 1.0.0\n' })],
    ['broken YAML', () => chart('name: [\n')],
    ['aliases that expand', () => chart(bomb)],
    ['deep nesting', () => chart(`name: ${'['.repeat(10_000)}`)],
    ['a name with a step up', () => chart('name: ../x\nversion: 1.0.0\n')],
    ['a version that is none', () => chart('name: x\nversion: one\n')],
    ['a Chart.yaml of 2 MB', () => chart(`name: x\nversion: 1.0.0\n# ${'x'.repeat(2_000_000)}`)],
  ])('%s', async (_what, make) => {
    const answer = await upload(await make(), 'bad')
    expect([answer.status, typeof answer.body.error]).toEqual([400, 'string'])
    expect(parse((await ana.get(`${at}/bad/index.yaml`)).body).entries).toEqual({})
  })

  test('strangers, guests and channels with a step up', async () => {
    const good = await chart('name: x\nversion: 1.0.0\n')
    expect((await upload(good, 'stable', world.nobody)).status).toBe(401)
    const bob = await world.user('bob')
    expect((await upload(good, 'stable', bob)).status).toBe(404)
    expect((await upload(good, 'a%2f..')).status).toBe(400)
    expect((await ana.get(`${at}/a%2f../index.yaml`)).status).toBe(404)
  })
})
