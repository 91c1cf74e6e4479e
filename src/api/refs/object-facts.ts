import { isAncestor, listBranchesContaining } from '../../git/ancestry.ts'
import {
  type NewCommit,
  type NewFile,
  readNewCommits,
  readNewFiles,
} from '../../git/new-commits.ts'
import type { Repo } from '../../git/repo.ts'

/** What rules ask about commits, answered before or after they are part of the repository. */
export interface ObjectFacts {
  /** Whether going from `oldId` to `newId` leaves commits behind. */
  rewinds(oldId: string, newId: string): Promise<boolean>
  /** Names of the branches that contain a commit. */
  branchesContaining(id: string): Promise<readonly string[]>
  /** The commits that a tip brings and no ref has yet. */
  newCommits(tip: string): Promise<readonly NewCommit[]>
  /** The files that they add or change. */
  newFiles(tip: string, options: { readonly sizes: boolean }): Promise<readonly NewFile[]>
}

/** Facts about the objects of a repository and, during a push, of the quarantine beside it. */
export function objectFacts(repo: Repo, quarantine?: string): ObjectFacts {
  return {
    rewinds: async (oldId, newId) => !(await isAncestor(repo, oldId, newId, quarantine)),
    branchesContaining: (id) => listBranchesContaining(repo, id),
    newCommits: (tip) => readNewCommits(repo, tip, quarantine),
    newFiles: (tip, options) => readNewFiles(repo, tip, options, quarantine),
  }
}
