import type { Project } from '../../access/subjects.ts'
import type { Push } from './moves.ts'
import type { ObjectFacts } from './object-facts.ts'
import type { BranchRule, Mover, TagRule } from './protection.ts'

/** A push as the rules see it. Without `objects` what needs to look at new commits is left for a second call. */
export interface CheckedPush {
  readonly project: Project
  readonly push: Push
  readonly mover: Mover
  readonly branchRules: readonly BranchRule[]
  readonly tagRules: readonly TagRule[]
  /** Whether Developers may push the first branch of an empty repository, though it will be protected. */
  readonly developersStart: boolean
  readonly objects: ObjectFacts | undefined
}
