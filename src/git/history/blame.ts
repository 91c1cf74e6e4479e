import { gitRecords } from '../command.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { assertObjectId, cleanPath } from '../names.ts'
import { loadCommits, treeOfCommit } from '../objects/commit.ts'
import { findEntry } from '../objects/tree-walk.ts'
import type { Repo } from '../repo.ts'
import type { Commit, ObjectId } from '../types.ts'

export interface BlameInput {
  readonly commitId: ObjectId
  readonly path: string
  /** First and last line, counted from 1. */
  readonly range?: { readonly start: number; readonly end: number } | undefined
}

/** Lines that stand together and come from one commit. */
export interface BlameRange {
  readonly commitId: ObjectId
  readonly lines: readonly string[]
}

export interface Blame {
  readonly ranges: readonly BlameRange[]
  /** The commits of all ranges, each once. */
  readonly commits: readonly Commit[]
}

const header = /^([0-9a-f]{40}|[0-9a-f]{64}) \d+ \d+(?: \d+)?$/
const tab = 0x09

/** Longer answers are refused: blame of a file that large is a program's doing. */
const mostLines = 500_000

async function readRanges(path: string, input: BlameInput, signal: AbortSignal) {
  const { range } = input
  const lines = range ? [`-L${range.start},${range.end}`] : []
  const args = ['blame', '--porcelain', ...lines, assertObjectId(input.commitId), '--', input.path]
  const ranges: { commitId: ObjectId; lines: string[] }[] = []
  let commitId = ''
  let count = 0
  for await (const line of gitRecords({ repo: path, args, signal, timeout: 60_000 }, 0x0a)) {
    if (line[0] !== tab) {
      commitId = header.exec(line.toString('latin1'))?.[1] ?? commitId
      continue
    }
    count += 1
    if (count > mostLines) throw new GitError('too_large', 'the file has too many lines')
    const text = line.toString('utf8', 1)
    const last = ranges.at(-1)
    if (last?.commitId === commitId) last.lines.push(text)
    else ranges.push({ commitId, lines: [text] })
  }
  return ranges
}

const readBlameOperation = operation({
  name: 'readBlame',
  lane: 'heavy',
  async run({ repository, signal }, given: BlameInput): Promise<Blame> {
    const input = { ...given, path: cleanPath(given.path) }
    const entry = await findEntry(
      repository,
      await treeOfCommit(repository, input.commitId),
      input.path,
    )
    if (entry?.type !== 'blob') throw new GitError('not_found', 'no file at this path')
    try {
      const ranges = await readRanges(repository.path, input, signal)
      const ids = [...new Set(ranges.map((range) => range.commitId))]
      return { ranges, commits: await loadCommits(repository, ids) }
    } catch (error) {
      if (error instanceof GitError && /has only \d+ lines?/.test(String(error.detail.stderr))) {
        throw new GitError('invalid', 'the file has fewer lines', { reason: 'range' })
      }
      throw error
    }
  },
})

/**
 * Which commit each line of a file comes from, by the git program: libgit2's blame is sixty times
 * slower. `invalid` when the range starts after the last line.
 */
export function readBlame(repo: Repo, input: BlameInput, signal?: AbortSignal): Promise<Blame> {
  const { range } = input
  if (range && !(range.start >= 1 && range.start <= range.end)) {
    return Promise.reject(new GitError('invalid', 'the range is empty', { reason: 'range' }))
  }
  return repo.engine.run(readBlameOperation, repo.path, input, signal)
}
