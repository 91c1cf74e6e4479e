import { listChangedPaths } from '../../git/diff/changed-paths.ts'
import { isAncestor } from '../../git/history/ancestry.ts'
import { listRefsContaining } from '../../git/history/contains.ts'
import {
  type NewCommit,
  type NewFile,
  readChangedPaths,
  readNewCommits,
  readNewFiles,
} from '../../git/history/new-commits.ts'
import type { LfsPointer } from '../../git/objects/lfs-pointer.ts'
import { sizeOfQuarantine } from '../../git/objects/quarantine.ts'
import { listTipFiles, type TipFile } from '../../git/objects/tip-files.ts'
import type { Repo } from '../../git/repo.ts'
import { readNewPointers } from '../../git/transfer/new-pointers.ts'

/** What rules ask about commits, answered before or after they are part of the repository. */
export interface ObjectFacts {
  /** Whether going from `oldId` to `newId` leaves commits behind. */
  rewinds(oldId: string, newId: string): Promise<boolean>
  /** The paths that differ between two commits, old and new names of renamed files alike. */
  differingPaths(oldId: string, newId: string): Promise<readonly string[]>
  /** Names of the branches that contain a commit. */
  branchesContaining(id: string): Promise<readonly string[]>
  /** The commits that a tip brings and no ref has yet. */
  newCommits(tip: string): Promise<readonly NewCommit[]>
  /** The files that they add or change. */
  newFiles(tip: string, options: { readonly sizes: boolean }): Promise<readonly NewFile[]>
  /** Every path that they touch, deletions too. */
  changedPaths(tip: string): Promise<readonly string[]>
  /** The large files that a push's objects stand for; none outside of pushes. */
  newPointers(): Promise<readonly LfsPointer[]>
  /** The bytes that a push brings, as they lie on the disk; none outside of pushes. */
  newBytes(): Promise<number>
  /** All files that a tip has. */
  tipFiles(tip: string): Promise<readonly TipFile[]>
}

/** Facts about the objects of a repository and, during a push, of the quarantine beside it. */
export function objectFacts(repo: Repo, quarantine?: string): ObjectFacts {
  return {
    rewinds: async (oldId, newId) => !(await isAncestor(repo, oldId, newId, quarantine)),
    async differingPaths(oldId, newId) {
      const changed = await listChangedPaths(repo, oldId, newId, undefined, quarantine)
      return [...new Set(changed.flatMap(({ oldPath, newPath }) => [oldPath, newPath]))]
    },
    async branchesContaining(id) {
      const refs = await listRefsContaining(repo, { revision: id, prefixes: ['refs/heads/'] })
      return refs.map(({ name }) => name.slice('refs/heads/'.length))
    },
    newCommits: (tip) => readNewCommits(repo, tip, quarantine),
    newFiles: (tip, options) => readNewFiles(repo, tip, options, quarantine),
    changedPaths: (tip) => readChangedPaths(repo, tip, quarantine),
    newPointers: async () =>
      quarantine === undefined ? [] : await readNewPointers(repo, quarantine),
    newBytes: async () => (quarantine === undefined ? 0 : await sizeOfQuarantine(quarantine)),
    tipFiles: (tip) => listTipFiles(repo, tip, quarantine),
  }
}
