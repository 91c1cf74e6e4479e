import { gitLines, runGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

export interface FileSearch {
  readonly commitId: ObjectId
  /** Taken literally, letter case aside; empty: only names of files count. */
  readonly text: string
  /** Pathspecs that narrow the search; they keep git's glob magic and nothing else. */
  readonly paths: readonly string[]
  /** Lines shown before and after each hit. */
  readonly context: number
  /** Hits after which the search ends. */
  readonly limit: number
}

/** Lines of a file around what was found. */
export interface FoundLines {
  readonly path: string
  /** The first line, from 1. */
  readonly startline: number
  readonly data: string
}

/** Letters beyond ASCII have two cases only where git knows what they are. */
function localeFor(text: string): Record<string, string> {
  return /[\u0080-\uffff]/.test(text) ? { LC_ALL: 'C.UTF-8' } : {}
}

const TIME_MS = 10_000
const MOST_BYTES = 16 * 1024 * 1024

/** The lines of a commit's text files that contain a text, in the order of paths. */
export async function searchFiles(
  repo: Repo,
  search: FileSearch,
  signal?: AbortSignal,
): Promise<FoundLines[]> {
  const { stdout } = await runGit({
    repo: repo.path,
    args: [
      'grep',
      '-I',
      '-i',
      '-n',
      '-z',
      '-F',
      `--context=${search.context}`,
      '--max-count=50',
      '--threads=1',
      '-e',
      search.text,
      assertObjectId(search.commitId),
      '--',
      ...search.paths.map((path) => `:(glob,icase)${path}`),
    ],
    env: localeFor(search.text),
    accept: [0, 1],
    timeout: TIME_MS,
    limit: MOST_BYTES,
    signal,
  })
  return chunksOf(stdout.toString('utf8'), search.limit)
}

function chunksOf(output: string, limit: number): FoundLines[] {
  const found: FoundLines[] = []
  let open: { path: string; startline: number; lines: string[] } | undefined
  const close = () => {
    if (open)
      found.push({ path: open.path, startline: open.startline, data: `${open.lines.join('\n')}\n` })
    open = undefined
  }
  for (const line of output.split('\n')) {
    const [name, number, ...rest] = line.split('\0')
    if (number === undefined || name === undefined) {
      close()
      if (found.length >= limit) break
      continue
    }
    const path = name.slice(name.indexOf(':') + 1)
    if (open && (open.path !== path || Number(number) !== open.startline + open.lines.length))
      close()
    open ??= { path, startline: Number(number), lines: [] }
    open.lines.push(rest.join('\0'))
  }
  close()
  return found.slice(0, limit)
}

export interface MessageSearch {
  readonly commitId: ObjectId
  readonly text: string
  readonly skip: number
  readonly limit: number
}

/** Ids of the commits up to one whose message contains a text, letter case aside, newest first. */
export function searchMessages(
  repo: Repo,
  search: MessageSearch,
  signal?: AbortSignal,
): Promise<ObjectId[]> {
  return gitLines({
    repo: repo.path,
    args: [
      'log',
      '--format=%H',
      '-i',
      '-F',
      `--grep=${search.text}`,
      `--skip=${search.skip}`,
      `--max-count=${search.limit}`,
      assertObjectId(search.commitId),
      '--',
    ],
    env: localeFor(search.text),
    timeout: TIME_MS,
    signal,
  })
}
