import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import type { SideRow } from './queries.ts'

/** A move of the branch of a wiki or snippet, for those who follow it. */
export interface SettledMove {
  readonly repo: Repo
  readonly side: SideRow
  /** All zeros before the first commit. */
  readonly oldId: ObjectId
  readonly newId: ObjectId
  /** The file that an edit of ours renamed. */
  readonly renamed: { readonly from: string; readonly to: string } | null
}
