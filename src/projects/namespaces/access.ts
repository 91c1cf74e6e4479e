import { isAdmin } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isWithinInstance } from './artifact-limit.ts'

interface Placed {
  readonly settings: Readonly<Record<string, unknown>>
}

interface Limiting {
  readonly ctx: Ctx
  readonly body: {
    readonly max_artifacts_size?: number | null | undefined
    readonly repository_size_limit?: number | null | undefined
  }
  readonly project?: Placed
  readonly group?: Placed
}

/** The disk is the instance's. What an administrator has set may be sent along with other changes. */
export const limitsArtifacts: Condition<Limiting> = condition(
  'max_artifacts_size: admin, above that of the instance',
  ({ ctx, body, project, group }) => {
    const wanted = body.max_artifacts_size
    if (isWithinInstance(ctx, wanted) || isAdmin(ctx.actor)) return true
    const isKept = (project ?? group)?.settings.max_artifacts_size === wanted
    return isKept || forbidden('max_artifacts_size is above that of the instance')
  },
)

/** The same of repositories: whoever owns a project can neither raise nor lift the limit. */
export const limitsRepository: Condition<Limiting> = condition(
  'repository_size_limit: admin',
  ({ ctx, body, project, group }) => {
    const wanted = body.repository_size_limit
    if (wanted === undefined || isAdmin(ctx.actor)) return true
    const kept = (project ?? group)?.settings.repository_size_limit ?? null
    return kept === wanted || forbidden('repository_size_limit is set by administrators')
  },
)
