import type { Readable } from 'node:stream'
import { downloads } from '../engine/reader-programs.ts'
import { gitStream } from '../git-stream.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

export interface RawDiffInput {
  /** Left out, the change of `to` alone against its first parent. */
  readonly from?: ObjectId | undefined
  readonly to: ObjectId
  /** `patch` is a mail for each commit (`git format-patch`), `diff` the change alone. */
  readonly format: 'patch' | 'diff'
}

const forDownloads = ['--no-ext-diff', '--no-textconv', '--no-color', '--binary', '--full-index']

function diffArguments(from: ObjectId | undefined, to: ObjectId): string[] {
  const options = ['-r', '-p', '-M', ...forDownloads]
  if (from !== undefined) return ['diff-tree', ...options, from, to]
  return ['diff-tree', '--root', '-m', '--first-parent', '--no-commit-id', ...options, to]
}

function patchArguments(from: ObjectId | undefined, to: ObjectId): string[] {
  // Fixed text instead of git's version, so that the same commits give the same bytes.
  const options = ['--stdout', '--signature=', '--no-attach', '--no-thread', ...forDownloads]
  const range = from === undefined ? ['-1', to] : [`${from}..${to}`]
  return ['format-patch', ...options, ...range]
}

/** The `.patch` or `.diff` of a commit or a range, byte for byte as git writes it. */
export async function streamRawDiff(
  repo: Repo,
  input: RawDiffInput,
  signal?: AbortSignal,
): Promise<Readable> {
  const from = input.from === undefined ? undefined : assertObjectId(input.from)
  const to = assertObjectId(input.to)
  const args = input.format === 'diff' ? diffArguments(from, to) : patchArguments(from, to)
  const run = () => gitStream({ repo: repo.path, args, signal, timeout: 10 * 60_000 })
  return await downloads.start(repo, run, signal)
}
