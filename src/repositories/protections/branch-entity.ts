import { z } from 'zod'
import type { Source } from '../../access/sources.ts'
import type { Ctx } from '../../ctx.ts'
import {
  type Action,
  type BranchLevelRow,
  type BranchRuleRow,
  listLevelRows,
} from './branch-queries.ts'
import { keyLevelEntity, levelEntity, presentKeyLevel, presentLevel } from './levels.ts'

export const protectedBranchEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  push_access_levels: z.array(keyLevelEntity),
  merge_access_levels: z.array(levelEntity),
  unprotect_access_levels: z.array(levelEntity),
  allow_force_push: z.boolean(),
  code_owner_approval_required: z.boolean(),
  inherited: z.boolean(),
})

/** Rules with their levels, in the order given. */
export async function presentRules(ctx: Ctx, owner: Source, rows: readonly BranchRuleRow[]) {
  const levels = await listLevelRows(
    ctx.db,
    rows.map((row) => row.id),
  )
  return rows.map((row) => presentRule(owner, row, levels))
}

function presentRule(
  owner: Source,
  row: BranchRuleRow,
  levels: readonly BranchLevelRow[],
): z.input<typeof protectedBranchEntity> {
  const levelsFor = (action: Action) =>
    levels.filter((level) => level.protected_branch_id === row.id && level.action === action)
  return {
    id: row.id,
    name: row.name,
    push_access_levels: levelsFor('push').map(presentKeyLevel),
    merge_access_levels: levelsFor('merge').map(presentLevel),
    unprotect_access_levels: levelsFor('unprotect').map(presentLevel),
    allow_force_push: row.allow_force_push === 1,
    code_owner_approval_required: row.code_owner_approval_required === 1,
    inherited: owner.type === 'project' && row.group_id !== null,
  }
}
