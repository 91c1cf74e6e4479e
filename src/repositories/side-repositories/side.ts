import type { ObjectId } from '../../git/types.ts'
import type { Via } from '../../store/schema/refs.ts'
import type { ObjectFacts } from '../refs/object-facts.ts'
import type { SideRow } from './queries.ts'

/** A wiki or snippet with its repository, as whoever moves its branch needs to know it. */
export interface Side extends SideRow {
  /** Why the caller may not write at all. */
  readonly refusal: string | undefined
  /** What is wrong with a commit as the new state of the branch, which came by this way. */
  check(objects: ObjectFacts, tip: ObjectId, via: Via): Promise<string | undefined>
}
