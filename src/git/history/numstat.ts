import { gitRecords } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { CommitStats, ObjectId } from '../types.ts'

export const nothing: CommitStats = { additions: 0, deletions: 0, files: 0 }

/** One git process counts the lines of all these commits, each against its first parent, renames found. */
export async function countByGit(
  repository: OpenRepository,
  ids: readonly ObjectId[],
  into: Map<ObjectId, CommitStats>,
  signal: AbortSignal,
  timeout?: number,
): Promise<void> {
  if (ids.length === 0) return
  const firstParents = '--diff-merges=first-parent'
  const args = ['diff-tree', '--stdin', '-r', '-M', '--root', '--numstat', firstParents]
  const stdin = `${ids.join('\n')}\n`
  let id: ObjectId = ''
  const command = { repo: repository.path, args, stdin, signal, timeout }
  for await (const line of gitRecords(command, 0x0a)) {
    const text = line.toString('latin1')
    // A file's line has tabs; any other names the commit that follows.
    const [added, deleted, path] = text.split('\t', 3)
    if (path === undefined) {
      id = text.trim()
      continue
    }
    const before = into.get(id) ?? nothing
    into.set(id, {
      // Binary files count as `-`.
      additions: before.additions + (Number(added) || 0),
      deletions: before.deletions + (Number(deleted) || 0),
      files: before.files + 1,
    })
  }
}
