import { runGit } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import type { LogRange } from './log-range.ts'

export interface GitLogQuery {
  readonly range: LogRange
  /** Taken literally; empty for all. */
  readonly path: string
  readonly author: string | undefined
  readonly firstParent: boolean
  readonly topological: boolean
  /** Seconds, inclusive. */
  readonly since: number | undefined
  readonly until: number | undefined
  readonly skip: number
  readonly count: number
}

/** Back references and counted repetitions can take all time, or all memory. */
const costly = /(?:^|[^\\])(?:\\\\)*\\[1-9{]/

/**
 * Ids as `git log` lists them, for what only git does: it finds authors by an expression of its own kind, and simplifies
 * the history of a path while it marks ranges or sorts.
 */
export async function gitLog(
  repository: OpenRepository,
  query: GitLogQuery,
  signal: AbortSignal,
): Promise<ObjectId[]> {
  const { range, path, author, firstParent, topological, since, until, skip, count } = query
  if (author !== undefined && (costly.test(author) || author.includes('\0'))) throw notUnderstood()
  // As git itself puts a range: among commits of one second the order of arguments counts.
  const revisions = [...range.exclude.map((id) => `^${id}`), ...range.include]
  try {
    const { stdout } = await runGit({
      repo: repository.path,
      args: [
        '--literal-pathspecs',
        'log',
        '--format=%H',
        `--skip=${skip}`,
        `--max-count=${count}`,
        ...(firstParent ? ['--first-parent'] : []),
        ...(topological ? ['--topo-order'] : []),
        ...(since === undefined ? [] : [`--max-age=${since}`]),
        ...(until === undefined ? [] : [`--min-age=${until}`]),
        ...(author === undefined ? [] : [`--author=${author}`]),
        '--stdin',
        '--',
        ...(path === '' ? [] : [path]),
      ],
      stdin: revisions.map((revision) => `${revision}\n`).join(''),
      signal,
    })
    return stdout.toString('latin1').split('\n').filter(Boolean)
  } catch (error) {
    const said = error instanceof GitError ? String(error.detail.stderr ?? '') : ''
    throw /^fatal: (?:header|command line), /m.test(said) ? notUnderstood() : error
  }
}

function notUnderstood(): GitError {
  return new GitError('invalid', 'the author pattern is not understood')
}
