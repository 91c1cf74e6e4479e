import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createProject } from '../../support/create.ts'
import { newFolder } from '../../support/database.ts'
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts'
import { Caller, openWorld, type World } from '../../support/world.ts'

/** Another server that has an archive to give, with a certificate that is trusted only by a setting. */
let other: Server
let address: string
let world: World
let server: ServerProcess | undefined
let archive: Uint8Array = new Uint8Array()
const folder = newFolder()
const certificate = join(folder, 'other.pem')

beforeAll(async () => {
  const key = join(folder, 'other.key')
  const words = ['-subj', '/CN=other', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30']
  const files = ['-nodes', '-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...words, ...files], {
    stdio: 'ignore',
  })
  const identity = { key: readFileSync(key), cert: readFileSync(certificate) }
  other = createServer(identity, (_request, response) => void response.end(archive))
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  address = `https://127.0.0.1:${(other.address() as AddressInfo).port}/export.tar.gz`
  world = await openWorld({ outboundAllow: ['127.0.0.1'] })
})
afterAll(async () => {
  await server?.stop()
  await world.close()
  other.closeAllConnections()
  other.close()
  rmSync(folder, { recursive: true, force: true })
})

test('an archive at an address becomes a project', async () => {
  const data = join(folder, 'data')
  mkdirSync(data)
  server = await startServerProcess(data, {
    GITSTEAD_OUTBOUND_ALLOW: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: certificate,
  })
  const root = new Caller(server.url, 'root-token-of-this-test', 1, 'root')
  const source = await createProject(root, 'near', { initialize_with_readme: true })
  const path = `/projects/${source.id}/export`
  await root.post(path)
  const status = async (at: string) => (await root.get(at)).body
  await vi.waitFor(async () => expect((await status(path)).export_status).toBe('finished'), 20_000)
  const file = await fetch(`${server.url}/api/v4${path}/download`, {
    headers: { 'PRIVATE-TOKEN': 'root-token-of-this-test' },
  })
  archive = new Uint8Array(await file.arrayBuffer())
  const made = await root.post('/projects/remote-import', { url: address, path: 'far' })
  expect(made.status).toBe(201)
  const far = `/projects/${made.body.id}`
  await vi.waitFor(
    async () => expect((await status(`${far}/import`)).import_status).toBe('finished'),
    20_000,
  )
  const names = (await root.get(`${far}/repository/tree`)).body.map(
    (one: { name: string }) => one.name,
  )
  expect(names).toEqual(['README.md'])
}, 60_000)

test('a server whose certificate nobody vouches for is not believed', async () => {
  const ana = await world.user('ana')
  const made = await ana.post('/projects/remote-import', { url: address, path: 'far' })
  expect([made.status, made.body.import_status]).toEqual([201, 'scheduled'])
  await world.runTasks()
  const state = await ana.get(`/projects/${made.body.id}/import`)
  expect(state.body.import_status).toBe('failed')
})
