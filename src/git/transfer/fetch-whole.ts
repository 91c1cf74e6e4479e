import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitCommand, gitLines, runGit } from '../command.ts'
import { GitError } from '../error.ts'
import { isBranchName } from '../names.ts'
import { formatIn } from '../objects/packs/object-format.ts'
import type { Repo } from '../repo.ts'
import { layOut, syncFolder } from '../repo-layout.ts'
import type { Ref } from '../types.ts'

/** Bytes of refs that are taken from a server which a user named: some half a million of them. */
const mostForeign = 64 * 1024 * 1024

/** A repository that was fetched and checked, and is nobody's yet. */
export interface Fetched {
  /** Branches and tags. */
  readonly refs: readonly Ref[]
  /** Whether there was anything that was not known before. */
  readonly broughtObjects: boolean
  /** Moves the objects into a repository, whose refs do not move: that is for the caller. */
  moveInto(repo: Repo): Promise<void>
}

/** What another repository says about itself before anything is fetched. */
export interface RemoteHead {
  readonly objectFormat: 'sha1' | 'sha256'
  /** The branch that HEAD names, when it names one. */
  readonly branch: string | undefined
}

export interface FetchOptions {
  /** A folder of its own, which the caller removes afterwards. */
  readonly scratch: string
  /** Gets git's own words: `Receiving objects:  45% (450/1000)`. */
  readonly onProgress?: ((text: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** How git reaches a source that was checked before (remote.ts), instead of as the operator. */
  readonly access?: Pick<GitCommand, 'env' | 'config'> | undefined
  /** What this repository has already is not fetched again. */
  readonly known?: Repo | undefined
}

/**
 * Asks another repository (a folder or an address) what it is. Only for callers who may read every folder and reach every
 * address that this process may: an operator.
 */
export async function readRemoteHead(source: string, options: FetchOptions): Promise<RemoteHead> {
  const args = ['ls-remote', '--symref', '--end-of-options', source]
  const lines = await saidPlainly(gitLines({ ...(await asCaller(options)), args, timeout: 0 }))
  const head = lines.find((line) => line.startsWith('ref: refs/heads/') && line.endsWith('\tHEAD'))
  const branch = head?.slice('ref: refs/heads/'.length, -'\tHEAD'.length)
  const sha256 = lines.some((line) => /^[0-9a-f]{64}\t/.test(line))
  return {
    objectFormat: sha256 ? 'sha256' : 'sha1',
    branch: branch !== undefined && isBranchName(branch) ? branch : undefined,
  }
}

/**
 * Fetches all branches and tags of another repository and checks every object, in `scratch`: `git fetch` has no
 * quarantine, so that it must not work in a repository that is served.
 */
export async function fetchWhole(
  source: string,
  head: RemoteHead,
  options: FetchOptions,
): Promise<Fetched> {
  const draft = join(options.scratch, 'fetched.git')
  await layOut(draft, { defaultBranch: 'main', objectFormat: head.objectFormat }, 0)
  if (options.known) await lend(options.known, draft, head)
  const caller = await asCaller(options)
  const fetched = runGit({
    ...caller,
    repo: draft,
    args: [
      'fetch',
      '--progress',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--end-of-options',
      source,
      '+refs/heads/*:refs/heads/*',
      '+refs/tags/*:refs/tags/*',
    ],
    // Everything stays in packs, which can be moved; and nothing is believed.
    config: { ...caller.config, 'fetch.fsckObjects': 'true', 'fetch.unpackLimit': '1' },
    timeout: 0,
  })
  await saidPlainly(fetched)
  if (await isBundle(source)) await checkObjects(draft, caller)
  return {
    refs: await branchesAndTags(draft, options.access && mostForeign),
    broughtObjects: await hasObjects(draft),
    async moveInto(repo) {
      await movePacks(join(draft, 'objects/pack'), join(repo.path, 'objects/pack'))
      repo.engine.forget(repo.path)
    },
  }
}

/** Lets the draft use the objects of a repository: git then announces to the other side what it has. */
async function lend(known: Repo, draft: string, head: RemoteHead): Promise<void> {
  if (formatIn(known.path) !== head.objectFormat) {
    throw new GitError('invalid', `the other repository names its objects by ${head.objectFormat}`)
  }
  await writeFile(join(draft, 'objects/info/alternates'), `${join(known.path, 'objects')}\n`)
}

async function hasObjects(draft: string): Promise<boolean> {
  const names = await readdir(join(draft, 'objects'))
  const packs = await readdir(join(draft, 'objects/pack'))
  return packs.length > 0 || names.some((name) => /^[0-9a-f]{2}$/.test(name))
}

/** A repository is a folder or an address; what is a file can only be a bundle. */
async function isBundle(source: string): Promise<boolean> {
  const found = await stat(source).catch(() => undefined)
  return found?.isFile() ?? false
}

/** What comes in a bundle is checked by no fetch before git 2.48. */
async function checkObjects(repo: string, caller: Caller): Promise<void> {
  const args = ['fsck', '--strict', '--no-dangling', '--no-progress']
  try {
    await runGit({ ...caller, repo, args, timeout: 0 })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const fault = /^error in (.*)$/m.exec(String(error.detail.stderr ?? ''))?.[1]
    throw fault === undefined ? error : new GitError('invalid', `fsck error in ${fault}`)
  }
}

type Caller = Pick<GitCommand, 'env' | 'config' | 'onStderr' | 'signal'>

async function asCaller({ scratch, access, onProgress, signal }: FetchOptions): Promise<Caller> {
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const env = access ? access.env : await operatorEnvironment(scratch)
  return { env, config: access?.config, onStderr: lastLine(onProgress), signal }
}

/** An operator's own keys and known hosts count; their settings and hooks do not. */
async function operatorEnvironment(scratch: string): Promise<Record<string, string>> {
  // The git program at the other end of a local path refuses folders of other users, and reads this only from a file.
  const config = join(scratch, 'config')
  await writeFile(config, '[safe]\n\tdirectory = *\n')
  const own = ['HOME', 'SSH_AUTH_SOCK'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(own), GIT_CONFIG_GLOBAL: config }
}

/** The first line that git calls fatal says why; the last is often advice. */
export async function saidPlainly<T>(running: Promise<T>): Promise<T> {
  try {
    return await running
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const reason = plainReason(String(error.detail.stderr ?? ''))
    throw reason === undefined ? error : new GitError(error.code, reason, error.detail)
  }
}

function plainReason(stderr: string): string | undefined {
  if (/askpass|could not read (?:Username|Password)/.test(stderr)) {
    return 'the other server wants a name and a password: put them into the address, as in https://name:token@host/path'
  }
  const reason = /^(?:fatal|error): (.*)$/m.exec(stderr)?.[1]
  // Why is what ssh said before.
  const bySsh = /^(?!fatal: |error: )(.*\S)\s*\nfatal: Could not read from remote repository/m.exec(
    stderr,
  )?.[1]
  return bySsh ?? reason
}

/** Git rewrites its line of progress with carriage returns. */
function lastLine(say: FetchOptions['onProgress']): GitCommand['onStderr'] {
  if (say === undefined) return undefined
  return (text) => {
    const line = text
      .split(/[\r\n]/)
      .map((part) => part.trim())
      .filter((part) => /^(remote: )?[\w ]+: +\d+%/.test(part))
      .at(-1)
    if (line !== undefined) say(line)
  }
}

/** Branches and tags as git lists them; `too_large` beyond `limit` bytes of them. */
export async function branchesAndTags(path: string, limit = 1024 ** 3): Promise<Ref[]> {
  const format = '--format=%(objectname) %(refname)'
  const args = ['for-each-ref', format, 'refs/heads/', 'refs/tags/']
  const lines = await gitLines({ repo: path, args, limit, timeout: 0 })
  return lines.map((line) => {
    const space = line.indexOf(' ')
    return { id: line.slice(0, space), name: line.slice(space + 1) }
  })
}

/** The files of the packs in a folder. A pack counts from the moment its index is there, so that the index comes last. */
export async function listPackFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  const packs = names.filter((name) => /^pack-[0-9a-f]+\.(?:pack|rev|idx)$/.test(name))
  const order = (name: string) => (name.endsWith('.idx') ? 1 : 0)
  return packs.sort((a, b) => order(a) - order(b))
}

async function movePacks(from: string, to: string): Promise<void> {
  const names = await listPackFiles(from)
  try {
    for (const name of names) {
      await rename(join(from, name), join(to, name))
    }
  } catch (error) {
    throw new GitError('failed', `the fetched objects cannot be moved in (${String(error)})`)
  }
  await syncFolder(to)
}
