import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../../support/git-client.ts'
import {
  makeIdentity,
  noKnownHosts,
  runSsh,
  type SshIdentity,
  sshEnvironment,
} from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let folders: ClientFolders
let port: number
let known: string
let ana: Caller
let key: SshIdentity
let reader: SshIdentity
let project: TestProject

beforeAll(async () => {
  port = await freePort()
  world = await openWorld({ port: await freePort(), sshPort: port })
  folders = openClientFolders()
  const folder = await folders.folder()
  known = await noKnownHosts(folder)
  ana = await world.user('ana')
  key = await makeIdentity(folder, 'ana')
  reader = await makeIdentity(folder, 'reader')
  await ana.post('/user/keys', { title: 'key', key: key.publicKey })
  project = await makeProject(world, ana, 'large')
  await ana.post(`/projects/${project.id}/deploy_keys`, { title: 'r', key: reader.publicKey })
})

afterAll(async () => {
  await world.close()
  await folders.clear()
})

const authenticate = (identity: SshIdentity, operation: string, path = project.path) =>
  runSsh({ port, known, identity, command: ['git-lfs-authenticate', `${path}.git`, operation] })

async function batch(authorization: string, operation: string, path = project.path) {
  const body = { operation, objects: [{ oid: 'a'.repeat(64), size: 3 }] }
  const headers = {
    Authorization: authorization,
    'Content-Type': 'application/vnd.git-lfs+json',
    Accept: 'application/vnd.git-lfs+json',
  }
  const url = `/${path}.git/info/lfs/objects/batch`
  return await world.nobody.post(url, body, { host: true, headers })
}

test('git-lfs brings large files and fetches them, with nothing but a key', async () => {
  const env = { ...sshEnvironment(key, known), HOME: await folders.folder() }
  const url = `ssh://git@127.0.0.1:${port}/${project.path}.git`
  const source = await folders.repository()
  await gitClient(source, ['lfs', 'install', '--local'], env)
  await gitClient(source, ['lfs', 'track', '*.bin'], env)
  await writeFile(join(source, 'a.bin'), 'large\n'.repeat(1000))
  await gitClient(source, ['add', '-A'], env)
  await gitClient(source, ['commit', '-qm', 'Large'], env)
  await gitClient(source, ['remote', 'add', 'origin', url])
  await gitClient(source, ['push', '-q', 'origin', 'main'], env)
  const back = join(await folders.folder(), 'back')
  await mkdir(back)
  await gitClient(back, ['clone', '-q', url, '.'], env)
  await gitClient(back, ['lfs', 'install', '--local'], env)
  await gitClient(back, ['lfs', 'pull'], env)
  expect(await readFile(join(back, 'a.bin'), 'utf8')).toBe('large\n'.repeat(1000))
})

test('what a key gets opens its project alone, for what was asked, as long as the key is good', async () => {
  const given = JSON.parse((await authenticate(reader, 'download')).stdout)
  expect(given).toMatchObject({
    href: `${world.url}/${project.path}.git/info/lfs`,
    expires_in: 7200,
  })
  const { Authorization } = given.header
  expect((await batch(Authorization, 'download')).status).toBe(200)
  expect((await batch(Authorization, 'upload')).status).toBe(403)
  const other = await makeProject(world, ana, 'other', { visibility: 'public' })
  expect((await batch(Authorization, 'download', other.path)).status).toBe(404)
  // It is for large files, and opens nothing else.
  const headers = { Authorization }
  expect((await world.nobody.get('/user', { headers })).status).toBe(401)
  const refs = `/${project.path}.git/info/refs?service=git-upload-pack`
  expect((await world.nobody.get(refs, { host: true, headers })).status).toBe(401)
  const { body } = await ana.get(`/projects/${project.id}/deploy_keys`)
  await ana.delete(`/projects/${project.id}/deploy_keys/${body[0].id}`)
  expect((await batch(Authorization, 'download')).status).toBe(401)
})

test('a download for its own user does not let them upload', async () => {
  const { header } = JSON.parse((await authenticate(key, 'download')).stdout)
  expect((await batch(header.Authorization, 'upload')).status).toBe(403)
  const upload = JSON.parse((await authenticate(key, 'upload')).stdout)
  expect((await batch(upload.header.Authorization, 'upload')).status).toBe(200)
  world.setNow('2026-05-04T12:00:01.000Z')
  expect((await batch(upload.header.Authorization, 'upload')).status).toBe(401)
})
