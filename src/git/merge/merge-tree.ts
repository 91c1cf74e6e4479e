import { type GitOutput, runGit } from '../command.ts'
import type { ObjectId } from '../types.ts'
import type { DraftFolder } from '../write/draft-folder.ts'

/** Merges two commits by `git merge-tree` into a folder. It ends with 0 or, where they conflict, with 1. */
export function mergeTree(
  { repository, env }: DraftFolder,
  sides: { readonly ours: ObjectId; readonly theirs: ObjectId },
  options: {
    readonly args: readonly string[]
    readonly config?: Readonly<Record<string, string>>
    readonly signal: AbortSignal
  },
): Promise<GitOutput> {
  return runGit({
    repo: repository,
    args: ['merge-tree', '--write-tree', '-z', ...options.args, sides.ours, sides.theirs],
    // What is accepted is brought onto the disk then.
    config: { 'core.fsync': 'none', ...options.config },
    env,
    accept: [0, 1],
    signal: options.signal,
  })
}
