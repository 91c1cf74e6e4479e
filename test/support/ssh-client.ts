import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientRun, runGitClient } from './git-client.ts'
import { runProgramBeside } from './run-program.ts'

/** OpenSSH's client with one key and nothing of whoever runs the tests. */
export interface SshIdentity {
  /** The file of the private key. */
  readonly file: string
  readonly publicKey: string
}

/** A new key, as `ssh-keygen` makes it. */
export async function makeIdentity(
  folder: string,
  name: string,
  args: readonly string[] = ['-t', 'ed25519'],
): Promise<SshIdentity> {
  const file = join(folder, name)
  await keygen(['-q', '-N', '', '-C', name, '-f', file, ...args])
  await chmod(file, 0o600)
  return { file, publicKey: (await keygen(['-y', '-f', file])).trim() }
}

async function keygen(args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '' }
  const { status, stdout, stderr } = await runProgramBeside({
    program: 'ssh-keygen',
    args,
    cwd: '/',
    env,
  })
  if (status !== 0) throw new Error(`ssh-keygen ${args.join(' ')}: ${stderr.toString()}`)
  return stdout.toString()
}

/** The arguments of `ssh` that keep the machine's own settings out. */
export function sshArguments(
  identity: SshIdentity | undefined,
  known: string,
  agent = 'none',
): string[] {
  const options = {
    UserKnownHostsFile: known,
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'accept-new',
    IdentitiesOnly: 'yes',
    IdentityAgent: agent,
    PreferredAuthentications: 'publickey',
    BatchMode: 'yes',
    LogLevel: 'ERROR',
    ConnectTimeout: '20',
  }
  const given = Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`])
  return ['-F', '/dev/null', ...given, ...(identity ? ['-i', identity.file] : [])]
}

/** The environment in which git speaks by such a client. */
export function sshEnvironment(identity: SshIdentity, known: string): Record<string, string> {
  const words = ['ssh', ...sshArguments(identity, known)]
  return { GIT_SSH_COMMAND: words.map((word) => `'${word}'`).join(' '), GIT_SSH_VARIANT: 'ssh' }
}

export interface SshRunOptions {
  readonly port: number
  readonly identity?: SshIdentity | undefined
  readonly known: string
  /** The socket of a program that holds keys. */
  readonly agent?: string
  readonly args?: readonly string[]
  readonly user?: string
  readonly command?: readonly string[]
  readonly env?: Record<string, string>
}

/** Runs `ssh` against a port of this machine. */
export async function runSsh(options: SshRunOptions): Promise<ClientRun> {
  const { port, identity, known, agent, args = [], user = 'git', command = [], env = {} } = options
  const { status, stdout, stderr } = await runProgramBeside({
    program: 'ssh',
    args: [
      ...sshArguments(identity, known, agent),
      ...args,
      '-p',
      String(port),
      `${user}@127.0.0.1`,
      ...command,
    ],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
  })
  return { code: status ?? -1, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** Writes a file of known hosts that is empty. */
export async function noKnownHosts(folder: string): Promise<string> {
  const file = join(folder, 'known_hosts')
  await writeFile(file, '')
  return file
}

export { runGitClient }
