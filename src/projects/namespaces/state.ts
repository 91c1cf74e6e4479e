import { type Day, dayOf, type Instant } from '../../base/clock.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

/** What can be done to a project or group as a whole, and undone. */
export type StateChange = 'archived' | 'unarchived' | 'marked_for_deletion' | 'restored'

/** The columns that a change of state sets. */
export function stateAfter(change: StateChange, now: Instant) {
  switch (change) {
    case 'archived':
      return { archived: true }
    case 'unarchived':
      return { archived: false }
    case 'marked_for_deletion':
      return { marked_for_deletion_on: dayOf(now) }
    case 'restored':
      return { marked_for_deletion_on: null }
  }
}

/** How somebody wants a project or group deleted. */
export interface WantedRemoval {
  readonly permanently: boolean
  readonly fullPath: string | undefined
}

/**
 * Whether a project or group that is to be deleted goes at once, and is not only marked, as where the instance delays
 * deletions. A marked one goes at once by naming its full path (docs/contract/D §1.2).
 */
export function goesAtOnce(
  ctx: Ctx,
  subject: { readonly marked_for_deletion_on: Day | null; readonly full_path: string },
  wanted: WantedRemoval,
  what: 'project' | 'group',
): boolean {
  const marked = subject.marked_for_deletion_on !== null
  const name = what === 'project' ? 'Project' : 'Group'
  if (wanted.permanently) {
    if (!marked) throw badRequest(`${name} must be marked for deletion first.`)
    if (wanted.fullPath === subject.full_path) return true
    throw badRequest(
      `\`full_path\` is incorrect. You must enter the complete path for the ${what}.`,
    )
  }
  if (!ctx.settings.get('delayed_project_removal')) return true
  if (!marked) return false
  const has = what === 'project' ? 'has already been' : 'has been already'
  throw badRequest(`${name} ${has} marked for deletion`)
}
