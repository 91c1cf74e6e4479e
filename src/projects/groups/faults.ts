import { restrictionFaults } from '../../access/restricted-visibility.ts'
import { type Visibility, visibilityRank } from '../../access/roles.ts'
import { type FieldTexts, invalidText, type Problem, refuseFaults } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

/** Groups are nested no deeper (docs/contract/D §1.3 Rules). */
export const MAX_DEPTH = 20

/** `{:path=>["has already been taken"]}`: how group routes write what is wrong (docs/contract/D §1.3 Rules). */
function inspect(faults: FieldTexts): string {
  const pairs = Object.entries(faults).map(
    ([field, texts]) => `:${field}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`,
  )
  return `{${pairs.join(', ')}}`
}

/** 400 `Failed to save group {...}` with the fields that have faults; nothing when none has. */
export function refuseGroupFaults(faults: FieldTexts): void {
  refuseFaults(faults, groupProblem)
}

/** Refuses a group below one that has this many levels, itself among them. */
export function assertDepth(levels: number): void {
  refuseGroupFaults({
    parent_id: levels >= MAX_DEPTH ? [`has too many ancestors (maximum is ${MAX_DEPTH})`] : [],
  })
}

function groupProblem(faults: FieldTexts): Problem {
  return invalidText(`Failed to save group ${inspect(faults)}`)
}

/** What a full path that somebody else has answers to a new group. */
export const pathTaken = {
  'routes.path': () => groupProblem({ path: ['has already been taken'] }),
}

/** A group is no more visible than its parent, and not as the instance forbids. */
export function groupVisibilityFaults(
  ctx: Ctx,
  visibility: Visibility,
  parent: { readonly visibility: Visibility } | null,
): string[] {
  const faults: string[] = []
  if (parent && visibilityRank[visibility] > visibilityRank[parent.visibility]) {
    faults.push(
      `${visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`,
    )
  }
  return [...faults, ...restrictionFaults(ctx, visibility)]
}
