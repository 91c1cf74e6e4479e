import type { Ctx } from '../../ctx.ts'
import { scopeFit } from '../environments/scope-fit.ts'
import { listInheritedVariables, type VariableRow } from './queries.ts'

/** What is sealed as the value of a variable of the instance, a group or a project. */
export const CI_VARIABLE_PURPOSE = 'ci_variables.value'

/** A variable as a job gets it. */
export interface CollectedVariable {
  readonly key: string
  readonly value: string
  readonly file: boolean
  readonly masked: boolean
  readonly raw: boolean
}

/**
 * The variables of the instance, the groups and the project for one job: the later lies over the earlier. Protected ones
 * go only to protected refs, and of those of one place with the same key the one whose scope fits the environment best.
 */
export async function collectVariables(
  ctx: Pick<Ctx, 'db' | 'vault'>,
  project: { readonly id: number; readonly namespace_id: number },
  at: { readonly protected: boolean; readonly environment?: string | undefined },
): Promise<CollectedVariable[]> {
  const rows = await listInheritedVariables(ctx.db, project)
  const best = new Map<string, { readonly row: VariableRow; readonly fit: number }>()
  for (const row of rows) {
    if (row.protected === 1 && !at.protected) continue
    const fit = scopeFit(row.environment_scope, at.environment)
    const place = `${row.group_id ?? 0} ${row.project_id ?? 0} ${row.key}`
    const known = best.get(place)
    if (fit !== undefined && fit >= (known?.fit ?? 0)) best.set(place, { row, fit })
  }
  return [...best.values()].map(({ row }) => ({
    key: row.key,
    value: ctx.vault.open(row.sealed_value, CI_VARIABLE_PURPOSE),
    file: row.variable_type === 'file',
    masked: row.masked === 1,
    raw: row.raw === 1,
  }))
}
