import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { saidPlainly } from './fetch-whole.ts'
import type { Remote } from './remote.ts'

/** What a ref of another server is to hold. */
export interface RefToPush {
  /** The full name. */
  readonly name: string
  /** None deletes it. */
  readonly id: ObjectId | undefined
  /** Whether what is there may be lost. */
  readonly force: boolean
}

/** A ref that the other server did not change. */
export interface RejectedRef {
  readonly name: string
  /** In git's words: `non-fast-forward`, or what a hook over there says. */
  readonly reason: string
}

/** Refs of one run of git: their names are arguments, of which a system takes so many bytes. */
const atOnce = 500

/** Pushes to another server's repository; gives the refs that were not taken there, each for its own reason. */
export async function pushRefs(
  repo: Repo,
  { url, access }: Remote,
  refs: readonly RefToPush[],
  signal?: AbortSignal,
): Promise<RejectedRef[]> {
  const rejected: RejectedRef[] = []
  for (let from = 0; from < refs.length; from += atOnce) {
    const some = refs.slice(from, from + atOnce)
    const args = ['push', '--porcelain', '--no-verify', '--end-of-options', url, ...some.map(spec)]
    const options = { ...access, repo: repo.path, args, signal, timeout: 0, accept: [0, 1] }
    const { code, stdout, stderr } = await saidPlainly(runGit(options))
    const found = rejectedIn(stdout.toString('utf8'))
    if (code !== 0 && found.length === 0) {
      throw new GitError('failed', lastLine(stderr) ?? 'the other server took nothing')
    }
    rejected.push(...found)
  }
  return rejected
}

function spec({ name, id, force }: RefToPush): string {
  return `${force ? '+' : ''}${id ?? ''}:${name}`
}

/** A line of `--porcelain`: `!<tab><from>:<to><tab>[rejected] (non-fast-forward)`. */
function rejectedIn(text: string): RejectedRef[] {
  return text.split('\n').flatMap((line) => {
    const [mark, refs = '', summary = ''] = line.split('\t')
    if (mark !== '!') return []
    const name = refs.slice(refs.indexOf(':') + 1)
    return { name, reason: /\((.*)\)$/.exec(summary)?.[1] ?? summary }
  })
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1) || undefined
}
