import { isAncestor, listBranchesContaining } from '../../git/ancestry.ts'
import type { Repo } from '../../git/repo.ts'

/** What rules ask about commits, answered before or after they are part of the repository. */
export interface ObjectFacts {
  /** Whether going from `oldId` to `newId` leaves commits behind. */
  rewinds(oldId: string, newId: string): Promise<boolean>
  /** Names of the branches that contain a commit. */
  branchesContaining(id: string): Promise<readonly string[]>
}

/** Facts about the objects of a repository and, during a push, of the quarantine beside it. */
export function objectFacts(repo: Repo, quarantine?: string): ObjectFacts {
  return {
    rewinds: async (oldId, newId) => !(await isAncestor(repo, oldId, newId, quarantine)),
    branchesContaining: (id) => listBranchesContaining(repo, id),
  }
}
