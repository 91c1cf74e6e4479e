import { execFile } from 'node:child_process'
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { type ClientFolders, makeProject, openClientFolders } from '../../support/git-client.ts'
import {
  makeIdentity,
  noKnownHosts,
  runGitClient,
  runSsh,
  type SshIdentity,
  sshEnvironment,
} from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const run = promisify(execFile)

let world: World
let folders: ClientFolders
let folder: string
let port: number
let known: string
let ana: Caller
let authority: SshIdentity
let key: SshIdentity
let revoked: string

// Debian's ssh-keygen makes them, and its ssh shows them.
beforeAll(async () => {
  port = await freePort()
  folders = openClientFolders()
  folder = await folders.folder()
  known = await noKnownHosts(folder)
  authority = await makeIdentity(folder, 'authority')
  key = await makeIdentity(folder, 'ana')
  revoked = join(folder, 'revoked')
  const trusted = join(folder, 'trusted')
  await writeFile(trusted, `# those who certify\n\n${authority.publicKey}\n`)
  await writeFile(revoked, '')
  world = await openWorld({ sshPort: port, sshTrustedCa: trusted, sshRevokedKeys: revoked })
  ana = await world.user('ana')
  await world.user('ben')
})
beforeEach(() => writeFile(revoked, ''))
afterAll(async () => {
  await world.close()
  await folders.clear()
})

// The clock of the world stands on this day; ssh-keygen takes moments of the machine's zone.
const validity = ['-V', '20260501:20260601']

async function certify(
  args: readonly string[],
  { by = authority, of = key }: { by?: SshIdentity; of?: SshIdentity } = {},
): Promise<SshIdentity> {
  await rm(`${of.file}-cert.pub`, { force: true })
  await writeFile(`${of.file}.pub`, `${of.publicKey}\n`)
  await run('ssh-keygen', ['-q', '-s', by.file, '-I', 'a name', ...args, `${of.file}.pub`])
  return of
}

const greet = async (identity: SshIdentity) =>
  (await runSsh({ port, known, identity, args: ['-T'] })).stdout

const welcome = 'Welcome to Gitstead, @ana!\n'

test('a certificate stands for the user whom it names, for ssh, git and git-lfs', async () => {
  await certify(['-n', 'ana,some-role', ...validity])
  expect(await greet(key)).toBe(welcome)
  const project = await makeProject(world, ana, 'certified')
  const url = `ssh://git@127.0.0.1:${port}/${project.path}.git`
  const listed = await runGitClient(folder, ['ls-remote', url], sshEnvironment(key, known))
  expect([listed.stderr, listed.code]).toEqual(['', 0])
  const command = ['git-lfs-authenticate', `${project.path}.git`, 'upload']
  const lfs = await runSsh({ port, known, identity: key, command })
  const { href, header } = JSON.parse(lfs.stdout)
  const { pathname } = new URL(href)
  const asked = await fetch(`${world.url}${pathname}/objects/batch`, {
    method: 'POST',
    headers: { ...header, 'Content-Type': 'application/vnd.git-lfs+json' },
    body: JSON.stringify({ operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 1 }] }),
  })
  expect(asked.status).toBe(200)
})

test.each([
  ['rsa', ['-t', 'rsa', '-b', '2048']],
  ['ecdsa', ['-t', 'ecdsa', '-b', '384']],
])('keys and authorities of %s too', async (name, args) => {
  const of = await makeIdentity(folder, `of-${name}`, args)
  await certify(['-n', 'ana', ...validity], { of })
  expect(await greet(of)).toBe(welcome)
})

test.each<[string, readonly string[]]>([
  ['for nobody in particular', validity],
  ['for somebody unknown', ['-n', 'nobody', ...validity]],
  ['for the id of a user', ['-n', '1', ...validity]],
  ['for two users', ['-n', 'ana,ben', ...validity]],
  ['of a host', ['-h', '-n', 'ana', ...validity]],
  ['that is over', ['-n', 'ana', '-V', '20260401:20260501']],
  ['that is not valid yet', ['-n', 'ana', '-V', '20260601:20260701']],
  ['that forces a command', ['-n', 'ana', ...validity, '-O', 'force-command=ls']],
  ['for another address', ['-n', 'ana', ...validity, '-O', 'source-address=10.0.0.0/8']],
  ['with an option that is unknown', ['-n', 'ana', ...validity, '-O', 'critical:what=1']],
])('a certificate %s is refused', async (_, args) => {
  await certify(args)
  expect(await greet(key)).toBe('')
})

test('a certificate for this address is taken', async () => {
  await certify(['-n', 'ana', ...validity, '-O', 'source-address=10.0.0.0/8,127.0.0.0/8'])
  expect(await greet(key)).toBe(welcome)
})

test('nobody but a trusted authority certifies, and a certificate is of use with its key alone', async () => {
  const stranger = await makeIdentity(folder, 'stranger')
  await certify(['-n', 'ana', ...validity], { by: stranger })
  expect(await greet(key)).toBe('')
  await certify(['-n', 'ana', ...validity])
  const thief = await makeIdentity(folder, 'thief')
  await copyFile(`${key.file}-cert.pub`, `${thief.file}-cert.pub`)
  expect(await greet(thief)).toBe('')
  const text = await run('cat', [`${key.file}-cert.pub`])
  const [type = '', data = ''] = text.stdout.split(' ')
  const bytes = Buffer.from(data, 'base64')
  // Another name in it, and the signature holds no more.
  const at = bytes.indexOf('ana', 100)
  bytes.write('ben', at)
  await writeFile(`${key.file}-cert.pub`, `${type} ${bytes.toString('base64')}\n`)
  expect(await greet(key)).toBe('')
})

test('what is revoked is refused: a key, a serial, an id, a fingerprint, an authority', async () => {
  await certify(['-n', 'ana', '-z', '7', ...validity])
  const { stdout } = await run('ssh-keygen', ['-l', '-f', `${key.file}.pub`])
  const print = /SHA256:\S+/.exec(stdout)?.[0]
  for (const line of [
    key.publicKey,
    'serial: 7',
    'serial: 5-9',
    'id: a name',
    `sha256: ${print}`,
    authority.publicKey,
  ]) {
    await writeFile(revoked, `# taken back\n${line}\n`)
    expect([line, await greet(key)]).toEqual([line, ''])
  }
  await writeFile(revoked, 'serial: 8\nid: another\n')
  expect(await greet(key)).toBe(welcome)
  await rm(revoked)
  expect(await greet(key)).toBe('')
})

test('who is blocked is refused, with a certificate too', async () => {
  await certify(['-n', 'ana', ...validity])
  await world.root.post(`/users/${ana.id}/block`)
  expect(await greet(key)).toBe('')
  await world.root.post(`/users/${ana.id}/unblock`)
  expect(await greet(key)).toBe(welcome)
})
