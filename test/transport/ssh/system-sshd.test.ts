import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../../support/git-client.ts'
import { isThere } from '../../support/needed.ts'
import {
  makeIdentity,
  noKnownHosts,
  runGitClient,
  runSsh,
  type SshIdentity,
  sshEnvironment,
} from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const SSHD = '/usr/sbin/sshd'
const hasSshd = isThere('sshd', existsSync(SSHD))
const main = fileURLToPath(new URL('../../../dist/cli/system-ssh/main.js', import.meta.url))
const user = userInfo().username

describe.skipIf(!hasSshd)('Debian’s sshd', () => {
  let world: World
  let folders: ClientFolders
  let folder: string
  let port: number
  let known: string
  let sshd: ChildProcess
  let ana: Caller
  let key: SshIdentity
  let project: TestProject

  beforeAll(async () => {
    port = await freePort()
    world = await openWorld({ sshPort: 0, sshExternalPort: port })
    folders = openClientFolders()
    folder = await folders.folder()
    known = await noKnownHosts(folder)
    const host = await makeIdentity(folder, 'host')
    key = await makeIdentity(folder, 'ana')
    ana = await world.user('ana')
    await ana.post('/user/keys', { title: 'key', key: key.publicKey })
    project = await makeProject(world, ana, 'demo')
    const config = join(folder, 'sshd_config')
    const command = [process.execPath, main, 'ssh-keys', '%u', '%t', '%k', '--data', world.folder]
    await writeFile(
      config,
      `ListenAddress 127.0.0.1
Port ${port}
HostKey ${host.file}
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
AuthorizedKeysFile none
AcceptEnv GIT_PROTOCOL
AuthorizedKeysCommand ${command.join(' ')}
AuthorizedKeysCommandUser ${user}
`,
    )
    // Where Debian's service would have made it.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
    sshd = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: 'ignore' })
    await listening()
  })
  afterAll(async () => {
    sshd.kill()
    await world.close()
    await folders.clear()
  })

  async function listening(): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      if (sshd.exitCode !== null) throw new Error(`sshd ended with ${sshd.exitCode}`)
      const socket = connect(port, '127.0.0.1')
      const isThere = await new Promise((resolve) => {
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      })
      socket.destroy()
      if (isThere) return
      await sleep(50)
    }
    throw new Error('sshd does not listen')
  }

  const ssh = (identity: SshIdentity, args: readonly string[], command: readonly string[] = []) =>
    runSsh({ port, known, identity, user, args, command })
  const url = () => `ssh://${user}@127.0.0.1:${port}/${project.path}.git`

  test('greets who has a key, and runs nothing but git', async () => {
    expect((await ssh(key, ['-T'])).stdout).toBe('Welcome to Gitstead, @ana!\n')
    const shell = await ssh(key, [], ['cat /etc/passwd; sh'])
    expect([shell.code, shell.stdout]).toEqual([1, ''])
    expect(shell.stderr).toContain('remote: ERROR: Disallowed command')
    const forward = await ssh(key, ['-W', '127.0.0.1:22'])
    expect(forward.code).not.toBe(0)
  })

  test('takes a push and gives it back, with the messages and rules of the server', async () => {
    const env = sshEnvironment(key, known)
    const source = join(folder, 'source')
    await mkdir(source)
    await gitClient(source, ['init', '-qb', 'main'])
    await writeFile(join(source, 'large'), Buffer.alloc(3_000_000, 'text that is large\n'))
    await gitClient(source, ['add', '-A'])
    await gitClient(source, ['commit', '-qm', 'One'])
    expect((await runGitClient(source, ['push', url(), 'main'], env)).code).toBe(0)
    await gitClient(source, ['checkout', '-qb', 'topic'])
    await gitClient(source, ['commit', '-q', '--allow-empty', '-m', 'Two'])
    const pushed = await runGitClient(source, ['push', url(), 'topic'], env)
    expect([pushed.code, pushed.stderr]).toEqual([0, expect.stringContaining('topic')])
    expect(pushed.stderr).toContain('remote: To create a merge request for topic')
    await gitClient(source, ['checkout', '-q', 'main'])
    const copy = join(folder, 'copy')
    await gitClient(folder, ['-c', 'protocol.version=2', 'clone', '-q', url(), copy], env)
    const head = await gitClient(source, ['rev-parse', 'HEAD'])
    expect(await gitClient(copy, ['rev-parse', 'HEAD'])).toBe(head)
    await gitClient(source, ['commit', '-q', '--amend', '-m', 'Other'])
    const forced = await runGitClient(source, ['push', '-f', url(), 'main'], env)
    expect([forced.code, forced.stderr]).toEqual([1, expect.stringContaining('protected branch')])
    const { body } = await ana.get(`/projects/${project.id}/repository/commits`)
    expect(body[0].id).toBe(head)
    const command = ['git-lfs-authenticate', `${project.path}.git`, 'download']
    expect(JSON.parse((await ssh(key, [], command)).stdout).href).toContain('/info/lfs')
  })

  test('a deploy key is one here too, and an unknown, removed or foreign key is none', async () => {
    const deploy = await makeIdentity(folder, 'deploy', ['-t', 'ecdsa', '-b', '256'])
    await ana.post(`/projects/${project.id}/deploy_keys`, { title: 'd', key: deploy.publicKey })
    const read = await runGitClient(folder, ['ls-remote', url()], sshEnvironment(deploy, known))
    expect(read.code).toBe(0)
    const stranger = await makeIdentity(folder, 'stranger')
    expect((await ssh(stranger, ['-T'])).code).toBe(255)
    const { body: keys } = await ana.get('/user/keys')
    await ana.delete(`/user/keys/${keys[0].id}`)
    expect((await ssh(key, ['-T'])).code).toBe(255)
  })
})
