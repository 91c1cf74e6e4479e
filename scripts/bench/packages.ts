import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { listPackages } from '../../src/packages/management/queries.ts'
import { documentOf } from '../../test/packages/npm-document.ts'
import { tarballOf } from '../../test/packages/tarball.ts'
import { zipOf } from '../../test/packages/zip-file.ts'
import { openTestStore } from '../../test/support/database.ts'
import { callApi } from './call-api.ts'
import { median, milliseconds, type Row } from './measure.ts'
import { startNginx, startPypiserver, startVerdaccio } from './package-servers.ts'
import { runLoad } from './run-load.ts'
import { type BenchServer, memoryOf, watchMemory } from './server.ts'
import { insertProject } from './stored-project.ts'

const run = promisify(execFile)
const mebibyte = 1024 * 1024
const megabyte = 1_000_000

interface Place {
  readonly server: BenchServer
  readonly folder: string
  say(line: string): void
}

interface Registry extends Place {
  readonly port: number
  /** Below the server's address. */
  readonly path: string
  readonly groupId: number
}

const parts = {
  files: fileRows,
  uploads: uploadRows,
  virtual: virtualRows,
  lists: listRows,
  pip: pipRows,
  npm: npmRows,
}

/** The package registries beside nginx, verdaccio and pypiserver on the same bytes; only these parts, if some are named. */
export async function* benchPackages(
  place: Place,
  only: readonly string[] = Object.keys(parts),
): AsyncGenerator<Row> {
  const { server, say } = place
  const { body: group } = await callApi(server, 'POST', '/groups', {
    name: 'packed',
    path: 'packed',
  })
  const body = { name: 'packed', namespace_id: group.id }
  const { body: project } = await callApi(server, 'POST', '/projects', body)
  const port = Number(new URL(server.url).port)
  const path = `/api/v4/projects/${project.id}/packages`
  const registry = { ...place, port, path, groupId: Number(group.id) }
  await mkdir(place.folder, { recursive: true })
  for (const [name, measure] of Object.entries(parts)) {
    if (!only.includes(name)) continue
    say(name)
    yield* measure(registry)
  }
}

async function put(
  url: string,
  token: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const headers = { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' }
  const reply = await fetch(url, { method: 'PUT', headers, body })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${text}`)
}

async function get(url: string, token: string): Promise<Response> {
  const reply = await fetch(url, { headers: { 'PRIVATE-TOKEN': token } })
  await reply.arrayBuffer()
  if (!reply.ok) throw new Error(`${url}: ${reply.status}`)
  return reply
}

const ratio = (what: string, ours: number, theirs: number, limit?: number, unit = '/s'): Row => ({
  what,
  ours: `${ours.toFixed(0)} ${unit}`,
  theirs: `${theirs.toFixed(0)} ${unit}`,
  value: ours / theirs,
  unit: 'x',
  limit,
  atLeast: unit === '/s',
})

const plain = (
  what: string,
  value: number,
  unit: Row['unit'],
  limit: number,
  atLeast = false,
): Row => ({ what, ours: '', theirs: '', value, unit, limit, atLeast })

async function* fileRows({ server, folder, port, path }: Registry): AsyncGenerator<Row> {
  const bytes = randomBytes(megabyte)
  const root = join(folder, 'www')
  await mkdir(root, { recursive: true })
  await writeFile(join(root, 'file.bin'), bytes)
  const own = `${path}/generic/file/1.0/file.bin`
  await put(server.url + own, server.token, bytes)
  const nginx = await startNginx(join(folder, 'nginx'), root)
  try {
    await runLoad({ port, token: server.token, paths: [own] })
    const before = memoryOf(server.pid)
    const ours = await runLoad({ port, token: server.token, paths: [own] })
    const growth = (memoryOf(server.pid) - before) / mebibyte
    const theirs = await runLoad({ port: nginx.port, token: '', paths: ['/file.bin'] })
    yield ratio('file of 1 MB, 16 clients; nginx', ours.perSecond, theirs.perSecond, 0.6)
    yield plain('file of 1 MB, 16 clients, memory growth', growth, 'MB', 32)
  } finally {
    await nginx.stop()
  }
}

/** The time that a copy of the same bytes to the same disk takes. */
async function copyTime(folder: string, bytes: Buffer): Promise<number> {
  const path = join(folder, 'copy')
  return await milliseconds(async () => {
    const file = await open(path, 'w')
    await file.write(bytes)
    await file.sync()
    await file.close()
  })
}

async function* uploadRows({ server, folder, path }: Registry): AsyncGenerator<Row> {
  const over = { generic: [] as number[], npm: [] as number[] }
  for (let round = 0; round < 10; round += 1) {
    const bytes = randomBytes(5 * megabyte)
    const copy = await copyTime(folder, bytes)
    const url = `${server.url}${path}/generic/five/1.0.${round}/five.bin`
    over.generic.push((await milliseconds(() => send(url, server.token, bytes))) - copy)
    const own = JSON.stringify({ name: 'five', version: `1.0.${round}` })
    const tarball = await tarballOf({ 'package/package.json': own, 'package/data': bytes })
    const document = await documentOf('five', `1.0.${round}`, { tarball })
    const body = new TextEncoder().encode(JSON.stringify(document))
    // What is measured is the server: this process still collects what making the document has left.
    await sleep(100)
    over.npm.push(
      (await milliseconds(() => send(`${server.url}${path}/npm/five`, server.token, body))) - copy,
    )
  }
  yield plain('generic publish of 5 MB, over the copy', median(over.generic), 'ms', 60)
  yield plain('npm publish of 5 MB, over the copy', median(over.npm), 'ms', 60)
  const before = memoryOf(server.pid)
  const most = watchMemory(server.pid)
  const took = await milliseconds(() =>
    upload(`${server.url}${path}/generic/big/1.0/big.bin`, server),
  )
  const growth = (most() - before) / mebibyte
  yield {
    ...plain('generic upload of 1 GB, memory growth', growth, 'MB', 32),
    ours: `${(took / 1000).toFixed(1)} s`,
  }
}

async function upload(url: string, server: BenchServer): Promise<void> {
  const piece = randomBytes(mebibyte)
  const { sent, answered } = sending(url, server.token, 1024 * mebibyte)
  await pipeline(Readable.from(Array.from({ length: 1024 }, () => piece)), sent)
  await answered
}

/** As npm and other clients send: through node's own client, which takes a third less time than `fetch` for a large body. */
async function send(url: string, token: string, body: Uint8Array): Promise<void> {
  const { sent, answered } = sending(url, token, body.length)
  sent.end(body)
  await answered
}

function sending(url: string, token: string, length: number) {
  const headers = { 'PRIVATE-TOKEN': token, 'Content-Length': String(length) }
  const sent = ask(url, { method: 'PUT', headers })
  const answered = new Promise<void>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (reply) => {
      const isTaken = reply.statusCode === 200 || reply.statusCode === 201
      if (!isTaken) reject(new Error(`${url}: ${reply.statusCode}`))
      reply.resume().on('end', resolve)
    })
  })
  return { sent, answered }
}

async function* npmRows({ server, folder, port, path }: Registry): AsyncGenerator<Row> {
  const verdaccio = await startVerdaccio(join(folder, 'verdaccio'))
  try {
    const ours = `${server.url}${path}/npm`
    const both = async (name: string, version: string, size = 100) => {
      const files = { 'package/data.js': randomBytes(size / 2).toString('hex') }
      const own = { 'package/package.json': JSON.stringify({ name, version }) }
      const tarball = await tarballOf({ ...own, ...files })
      const text = JSON.stringify(await documentOf(name, version, { tarball }))
      await put(`${ours}/${name}`, server.token, text)
      // verdaccio names the file as this address does.
      const named = text.replace('http://x/y', `http://x/${name}/-/${name}-${version}.tgz`)
      await put(`${verdaccio.url}/${name}`, '', named)
    }
    for (let n = 0; n < 500; n += 1) await both('many', `1.0.${n}`)
    const cold: number[] = []
    for (let round = 0; round < 20; round += 1) {
      await put(`${ours}/-/package/many/dist-tags/t${round}`, server.token, '"1.0.1"')
      cold.push(await milliseconds(() => get(`${ours}/many`, server.token)))
    }
    yield plain('npm metadata of 500 versions, cold', median(cold), 'ms', 15)
    const again = async (url: string, at: number, token: string) => {
      const etag = (await get(url, token)).headers.get('etag') ?? ''
      const paths = [new URL(url).pathname]
      return (await runLoad({ port: at, token, paths, headers: { 'If-None-Match': etag } }))
        .perSecond
    }
    const rate = await again(`${ours}/many`, port, server.token)
    yield plain('npm metadata of 500 versions, again', rate, '/s', 1500, true)
    const theirs = await again(`${verdaccio.url}/many`, verdaccio.port, '')
    yield ratio('npm metadata of 500 versions, again; verdaccio', rate, theirs, 3)
    const names = Array.from({ length: 200 }, (_, n) => `part-${n}`)
    for (const name of names) await both(name, '1.0.0', 20_000)
    const times = { ours: [] as number[], theirs: [] as number[] }
    for (let round = 0; round < 3; round += 1) {
      const { token } = server
      times.ours.push(await npmInstall({ folder, registry: `${ours}/`, names, token }))
      times.theirs.push(await npmInstall({ folder, registry: `${verdaccio.url}/`, names }))
    }
    const what = 'npm install of 200 packages; verdaccio'
    yield ratio(what, median(times.ours), median(times.theirs), 0.7, 'ms')
    const { token } = server
    const alone = await npmInstallFromCache({ folder, registry: `${ours}/`, names, token })
    yield ratio(
      "the same from npm's cache, no server; verdaccio",
      alone,
      median(times.theirs),
      undefined,
      'ms',
    )
  } finally {
    await verdaccio.stop()
  }
}

interface NpmInstall {
  readonly folder: string
  readonly registry: string
  readonly names: readonly string[]
  readonly token?: string
  /** A folder that stays; without one the install begins with nothing. */
  readonly cache?: string
  readonly isOffline?: boolean
}

async function npmInstall(given: NpmInstall): Promise<number> {
  const { folder, registry, names, token, isOffline = false } = given
  const at = join(folder, 'install')
  const cache = given.cache ?? join(at, 'cache')
  await mkdir(at, { recursive: true })
  const signIn = token === undefined ? '' : `${registry.slice(5)}:_authToken=${token}\n`
  await writeFile(join(at, '.npmrc'), `registry=${registry}\ncache=${cache}\n${signIn}`)
  const dependencies = Object.fromEntries(names.map((name) => [name, '^1.0.0']))
  await writeFile(join(at, 'package.json'), JSON.stringify({ name: 'app', dependencies }))
  const took = await milliseconds(() =>
    run('npm', isOffline ? [...npmArgs, '--offline'] : npmArgs, { cwd: at }),
  )
  await rm(at, { recursive: true })
  return took
}

const npmArgs = ['install', '--no-audit', '--no-fund', '--loglevel=error']

/** What the client takes for itself: no registry can make an install faster than this. */
async function npmInstallFromCache(given: NpmInstall): Promise<number> {
  const kept = { ...given, cache: join(given.folder, 'npm-cache') }
  await npmInstall(kept)
  const times: number[] = []
  for (let round = 0; round < 3; round += 1)
    times.push(await npmInstall({ ...kept, isOffline: true }))
  return median(times)
}

async function* pipRows({ server, folder, path }: Registry): AsyncGenerator<Row> {
  const wheels = join(folder, 'wheels')
  await mkdir(wheels)
  const names = Array.from({ length: 50 }, (_, n) => `piece-${n}`)
  for (const name of names) {
    const file = `${name.replace('-', '_')}-1.0-py3-none-any.whl`
    const wheel = await wheelOf(name.replace('-', '_'))
    await writeFile(join(wheels, file), wheel)
    const form = new FormData()
    form.set('name', name)
    form.set('version', '1.0')
    form.set('content', new Blob([wheel]), file)
    const headers = { 'PRIVATE-TOKEN': server.token }
    const reply = await fetch(`${server.url}${path}/pypi`, { method: 'POST', headers, body: form })
    if (!reply.ok) throw new Error(await reply.text())
  }
  const pypiserver = await startPypiserver(wheels)
  try {
    const own = `${server.url.replace('://', `://any:${server.token}@`)}${path}/pypi/simple`
    const times = { ours: [] as number[], theirs: [] as number[], alone: [] as number[] }
    for (let round = 0; round < 3; round += 1) {
      times.ours.push(await pipInstall(folder, ['-i', own], names))
      times.theirs.push(await pipInstall(folder, ['-i', `${pypiserver.url}/simple`], names))
      times.alone.push(await pipInstall(folder, ['--no-index', '--find-links', wheels], names))
    }
    const what = 'pip install of 50 packages; pypiserver'
    yield ratio(what, median(times.ours), median(times.theirs), 0.7, 'ms')
    // What the client takes for itself: no index can make an install faster than this.
    const alone = 'the same from a folder, no server; pypiserver'
    yield ratio(alone, median(times.alone), median(times.theirs), undefined, 'ms')
  } finally {
    await pypiserver.stop()
  }
}

async function wheelOf(name: string) {
  const info = `${name}-1.0.dist-info`
  const wheel = 'Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
  return await zipOf({
    [`${name}.py`]: `data = '${randomBytes(10_000).toString('hex')}'\n`,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: wheel,
    [`${info}/RECORD`]: `${name}.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  })
}

async function pipInstall(folder: string, from: readonly string[], names: readonly string[]) {
  const target = join(folder, 'site')
  const args = ['-m', 'pip', 'install', '-q', '--no-cache-dir', '--no-deps', '--no-compile']
  const env = { ...process.env, PIP_FIND_LINKS: '' }
  const took = await milliseconds(() =>
    run('python3', [...args, '--target', target, ...from, ...names], { env }),
  )
  await rm(target, { recursive: true })
  return took
}

async function* virtualRows({ server, port, path, groupId }: Registry): AsyncGenerator<Row> {
  const bytes = randomBytes(100_000)
  let asked = 0
  const upstream = createServer((request, reply) => {
    reply.writeHead(200, { 'Content-Length': bytes.length, ETag: '"1"' })
    if (request.method === 'HEAD') reply.end()
    else {
      asked += 1
      setTimeout(() => reply.end(bytes), request.url?.includes('slow') ? 50 : 0)
    }
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  try {
    const root = '/virtual_registries/packages/maven'
    const registries = `/groups/${groupId}/-${root}/registries`
    const { body: made } = await callApi(server, 'POST', registries, { name: 'r' })
    const upstreams = `${root}/registries/${made.id}/upstreams`
    await callApi(server, 'POST', upstreams, { url: `${url}/maven` })
    const at = `/api/v4${root}/${made.id}`
    const times = { miss: [] as number[], upstream: [] as number[] }
    for (let n = 0; n < 100; n += 1) {
      const file = `org/x/a/${n}/a-${n}.jar`
      times.upstream.push(await milliseconds(() => get(`${url}/maven/${file}`, '')))
      times.miss.push(await milliseconds(() => get(`${server.url}${at}/${file}`, server.token)))
    }
    const over = median(times.miss.slice(20)) - median(times.upstream.slice(20))
    yield plain('Maven virtual registry, miss over the upstream', over, 'ms', 10)
    await put(`${server.url}${path}/generic/plain/1.0/plain.bin`, server.token, bytes)
    const same = { port, token: server.token }
    const hit = await runLoad({ ...same, paths: [`${at}/org/x/a/1/a-1.jar`] })
    const file = await runLoad({ ...same, paths: [`${path}/generic/plain/1.0/plain.bin`] })
    yield ratio(
      'Maven virtual registry, hit; plain file of 100 kB',
      hit.perSecond,
      file.perSecond,
      0.5,
    )
    asked = 0
    const slow = `${server.url}${at}/org/x/slow/1/slow-1.jar`
    await Promise.all(Array.from({ length: 100 }, () => get(slow, server.token)))
    yield plain('100 clients of one missing file, requests upstream', asked, 'count', 1)
  } finally {
    upstream.closeAllConnections()
    upstream.close()
  }
}

const now = '2026-05-04T10:00:00.000Z'

/** A project of a hundred thousand packages, listed as its members do. */
async function* listRows(): AsyncGenerator<Row> {
  const store = openTestStore()
  try {
    const { db } = store
    const stamps = { created_at: now, updated_at: now }
    const project_id = await insertProject(db, now)
    for (let from = 0; from < 100_000; from += 1000) {
      const rows = Array.from({ length: 1000 }, (_, n) => {
        const name = `package-${(from + n) % 5000}`
        const version = `1.${Math.floor((from + n) / 5000)}.0`
        const key = { name, name_key: name, version, version_key: version }
        return { project_id, package_type: 'npm' as const, ...key, ...stamps }
      })
      await db.insertInto('packages').values(rows).execute()
    }
    const ctx = { db, now: () => now, actor: { kind: 'anonymous' } } as const
    const list = async (filters: object) => {
      const times: number[] = []
      const page = { kind: 'offset', number: 1, perPage: 20, offset: 0 } as const
      for (let round = 0; round < 20; round += 1) {
        times.push(
          await milliseconds(() => listPackages(ctx, { projectId: project_id }, filters, page)),
        )
      }
      return median(times)
    }
    yield plain('list of 100,000 packages', await list({}), 'ms', 20)
    yield plain('list of 100,000 packages, by name', await list({ order_by: 'name' }), 'ms', 20)
    const search = { package_name: 'package-4711' }
    yield plain('search among 100,000 packages', await list(search), 'ms', 20)
  } finally {
    await store.remove()
  }
}
