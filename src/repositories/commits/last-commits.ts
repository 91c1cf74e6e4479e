import { readFolderCommits } from '../../git/history/folder-commits.ts'
import { readCommits } from '../../git/objects/commit.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit, TreeEntry } from '../../git/types.ts'

/** The last commits of entries of a folder, by the name of the entry. */
export async function lastCommitsOf(
  repo: Repo,
  { ref, path }: { readonly ref: string; readonly path: string },
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Commit>> {
  const names = entries.map(({ name }) => name)
  if (names.length === 0) return new Map()
  const last = await readFolderCommits(repo, { ref, path, names }, signal)
  const ids = [...new Set(names.flatMap((name) => last.get(name) ?? []))]
  const commits = new Map((await readCommits(repo, ids, signal)).map((one) => [one.id, one]))
  return new Map(
    names.flatMap((name) => {
      const commit = commits.get(last.get(name) ?? '')
      return commit ? [[name, commit] as const] : []
    }),
  )
}
