import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { CI_VARIABLE_PURPOSE } from './collect.ts'
import type { VariableRow } from './queries.ts'

/** A variable of the instance; those of groups and projects have a scope besides (docs/contract/D §1.19). */
export const instanceVariableEntity = z.strictObject({
  variable_type: z.enum(['env_var', 'file']),
  key: z.string(),
  value: z.string().nullable(),
  hidden: z.boolean(),
  protected: z.boolean(),
  masked: z.boolean(),
  raw: z.boolean(),
  description: z.string().nullable(),
})

export const variableEntity = z.strictObject({
  ...instanceVariableEntity.shape,
  environment_scope: z.string(),
})

export function presentInstanceVariable(
  ctx: Pick<Ctx, 'vault'>,
  row: VariableRow,
): z.input<typeof instanceVariableEntity> {
  return {
    variable_type: row.variable_type,
    key: row.key,
    value: row.hidden === 1 ? null : ctx.vault.open(row.sealed_value, CI_VARIABLE_PURPOSE),
    hidden: row.hidden === 1,
    protected: row.protected === 1,
    masked: row.masked === 1,
    raw: row.raw === 1,
    description: row.description,
  }
}

export function presentVariable(
  ctx: Pick<Ctx, 'vault'>,
  row: VariableRow,
): z.input<typeof variableEntity> {
  return { ...presentInstanceVariable(ctx, row), environment_scope: row.environment_scope }
}
