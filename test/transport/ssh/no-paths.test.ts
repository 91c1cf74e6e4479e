import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withoutPaths } from '../../../src/transport/ssh/fetch.ts'
import { freePort } from '../../support/free-port.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
} from '../../support/git-client.ts'
import {
  makeIdentity,
  noKnownHosts,
  type SshIdentity,
  sshEnvironment,
} from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let folders: ClientFolders
let ana: Caller
let port: number
let known: string
let key: SshIdentity

beforeAll(async () => {
  port = await freePort()
  world = await openWorld({ sshPort: port })
  folders = openClientFolders()
  const folder = await folders.folder()
  known = await noKnownHosts(folder)
  key = await makeIdentity(folder, 'ana')
  ana = await world.user('ana')
  await ana.post('/user/keys', { title: 'key', key: key.publicKey })
})
afterAll(async () => {
  await world.close()
  await folders.clear()
})

async function filled(name: string) {
  const source = await folders.repository()
  writeFileSync(join(source, 'noise.bin'), randomBytes(200_000))
  await gitClient(source, ['add', '-A'])
  await gitClient(source, ['commit', '-qm', 'Noise'])
  return await makeProject(world, ana, name, { from: source })
}

test.each<[string, (repository: string) => void]>([
  [
    'a pack that was cut',
    (repository) => {
      const packs = join(repository, 'objects/pack')
      for (const pack of readdirSync(packs).filter((one) => one.endsWith('.pack'))) {
        chmodSync(join(packs, pack), 0o600)
        truncateSync(join(packs, pack), 1000)
      }
    },
  ],
  [
    'objects that are gone',
    (repository) => rmSync(join(repository, 'objects/pack'), { recursive: true }),
  ],
  ['a repository that is none', (repository) => rmSync(join(repository, 'HEAD'))],
])('who fetches from %s is told no folder of the server', async (what, damage) => {
  const project = await filled(what.replaceAll(' ', '-'))
  damage(project.repository)
  const url = `ssh://git@127.0.0.1:${port}/${project.path}.git`
  const into = join(await folders.folder(), 'copy')
  for (const version of [0, 2]) {
    const args = ['-c', `protocol.version=${version}`, 'clone', url, `${into}-${version}`]
    const { code, stderr } = await runGitClient('/', args, sshEnvironment(key, known))
    expect(code).not.toBe(0)
    expect(stderr).not.toContain(world.folder)
    expect(stderr).not.toContain('/repositories/')
  }
})

test('paths are taken out of what git says', () => {
  const said =
    "fatal: '/data/r/1.git' is none\nerror: /data/r/1.git/objects/pack/x and /data/files/y"
  expect(withoutPaths(said, ['/data/r/1.git', '/data'])).toBe(
    "fatal: '.' is none\nerror: objects/pack/x and files/y",
  )
})
