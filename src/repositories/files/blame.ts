import { z } from 'zod'
import { badParameters } from '../../base/problem.ts'
import { GitError } from '../../git/error.ts'
import { readBlame } from '../../git/history/blame.ts'
import type { FileAt } from '../../git/history/file.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit } from '../../git/types.ts'

const blameCommitEntity = z.strictObject({
  id: z.string(),
  parent_ids: z.array(z.string()),
  message: z.string(),
  authored_date: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  committed_date: z.string(),
  committer_name: z.string(),
  committer_email: z.string(),
})

/** Lines that stand together and come from one commit (docs/contract/B-resolved §3). */
export const blameEntity = z.array(
  z.strictObject({ commit: blameCommitEntity, lines: z.array(z.string()) }),
)

interface LineRange {
  readonly start: number
  readonly end: number
}

export function assertRange(range: LineRange | undefined): void {
  if (range && range.start > range.end) {
    throw badParameters('range[start] must be less than or equal to range[end]')
  }
}

export async function readBlameOf(
  repo: Repo,
  file: FileAt,
  range: LineRange | undefined,
  signal: AbortSignal,
): Promise<z.input<typeof blameEntity>> {
  const input = { commitId: file.commitId, path: file.path, range }
  const blame = await readBlame(repo, input, signal).catch((error: unknown) => {
    // Lines behind the last one were written by nobody.
    if (error instanceof GitError && error.detail.reason === 'range') return undefined
    throw error
  })
  if (!blame) return []
  const commits = new Map(blame.commits.map((commit) => [commit.id, presentBlamed(commit)]))
  return blame.ranges.flatMap(({ commitId, lines }) => {
    const commit = commits.get(commitId)
    return commit ? [{ commit, lines: [...lines] }] : []
  })
}

function presentBlamed(commit: Commit): z.input<typeof blameCommitEntity> {
  return {
    id: commit.id,
    parent_ids: [...commit.parentIds],
    message: commit.message,
    authored_date: commit.author.date,
    author_name: commit.author.name,
    author_email: commit.author.email,
    committed_date: commit.committer.date,
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
  }
}
