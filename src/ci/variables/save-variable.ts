import { audit } from '../../access/audit.ts'
import { planLimit } from '../../access/plan-limits.ts'
import { conflict, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { brokenKey } from '../../store/unique.ts'
import { assertVariable } from './check-variable.ts'
import { CI_VARIABLE_PURPOSE } from './collect.ts'
import {
  countVariablesOf,
  deleteVariable,
  findVariable,
  insertVariable,
  updateVariable,
  type VariablePlace,
  type VariableRow,
} from './queries.ts'

/** What may be said of a variable. */
export interface VariableInput {
  readonly value?: string | undefined
  readonly variable_type?: 'env_var' | 'file' | undefined
  readonly protected?: boolean | undefined
  readonly masked?: boolean | undefined
  readonly masked_and_hidden?: boolean | undefined
  readonly raw?: boolean | undefined
  readonly environment_scope?: string | undefined
  readonly description?: string | null | undefined
}

/** Variables that a place may have (docs/contract/D §5.7); those of the instance are a limit of the plan. */
function mostOf({ settings }: Ctx, place: VariablePlace): number {
  if (place.projectId !== null) return 8000
  if (place.groupId !== null) return 30_000
  return planLimit(settings, 'ci_instance_level_variables') || Number.POSITIVE_INFINITY
}

/** Adds a variable; its value is sealed. */
export async function createVariable(
  ctx: Ctx,
  place: VariablePlace,
  key: string,
  input: VariableInput & { readonly value: string },
): Promise<VariableRow> {
  const hidden = input.masked_and_hidden ?? false
  const given = {
    key,
    value: input.value,
    masked: hidden || (input.masked ?? false),
    raw: input.raw ?? false,
    environment_scope: input.environment_scope ?? '*',
    description: input.description ?? null,
  }
  assertVariable(given)
  const { value, ...columns } = given
  return await once(key, () =>
    inTransaction(ctx, async (ctx) => {
      const most = mostOf(ctx, place)
      if ((await countVariablesOf(ctx.db, place)) >= most) {
        throw invalid({ base: [`Maximum number of CI/CD variables (${most}) exceeded`] })
      }
      const row = await insertVariable(ctx.db, place, {
        ...columns,
        hidden,
        sealed_value: ctx.vault.seal(value, CI_VARIABLE_PURPOSE),
        variable_type: input.variable_type ?? 'env_var',
        protected: input.protected ?? false,
        created_at: ctx.now(),
        updated_at: ctx.now(),
      })
      await noteVariable(ctx, place, 'ci_variable_created', row)
      return row
    }),
  )
}

/** Changes what is given of a variable. What was hidden once is never shown again. */
export async function changeVariable(
  ctx: Ctx,
  place: VariablePlace,
  { id, key }: VariableRow,
  input: VariableInput,
): Promise<VariableRow> {
  return await once(key, () =>
    inTransaction(ctx, async (ctx) => {
      // Read here, so that what others change at the same moment stays, and fits together with this.
      const row = await findVariable(ctx.db, id)
      if (!row) throw notFound('Variable')
      const { value, ...columns } = valuesOf(ctx, row, input)
      const changed = await updateVariable(ctx.db, id, {
        ...columns,
        ...(input.value === undefined
          ? {}
          : { sealed_value: ctx.vault.seal(value, CI_VARIABLE_PURPOSE) }),
        variable_type: input.variable_type ?? row.variable_type,
        protected: input.protected ?? row.protected === 1,
        updated_at: ctx.now(),
      })
      await noteVariable(ctx, place, 'ci_variable_updated', changed)
      return changed
    }),
  )
}

/** What a variable will be, as far as it must fit together. */
function valuesOf(ctx: Ctx, row: VariableRow, input: VariableInput) {
  const masked = input.masked ?? row.masked === 1
  if (row.hidden === 1 && !masked) {
    throw invalid({
      base: ['The visibility setting cannot be changed for masked and hidden variables.'],
    })
  }
  const values = {
    key: row.key,
    value: input.value ?? ctx.vault.open(row.sealed_value, CI_VARIABLE_PURPOSE),
    masked,
    raw: input.raw ?? row.raw === 1,
    environment_scope: input.environment_scope ?? row.environment_scope,
    description: input.description === undefined ? row.description : input.description,
  }
  assertVariable(values)
  return values
}

export async function removeVariable(
  ctx: Ctx,
  place: VariablePlace,
  row: VariableRow,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteVariable(ctx.db, row.id)
    await noteVariable(ctx, place, 'ci_variable_deleted', row)
  })
}

async function noteVariable(
  ctx: Ctx,
  place: VariablePlace,
  action: string,
  row: VariableRow,
): Promise<void> {
  const entity =
    place.projectId !== null
      ? { type: 'Project' as const, id: place.projectId }
      : place.groupId !== null
        ? { type: 'Group' as const, id: place.groupId }
        : { type: 'Instance' as const, id: 1 }
  await audit(ctx, {
    entity,
    action,
    details: { key: row.key, environment_scope: row.environment_scope },
  })
}

/** Answers a second variable of a key and scope in the words of the model. */
async function once<T>(key: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (brokenKey(error) === undefined) throw error
    throw invalid({ key: [`(${key}) has already been taken`] })
  }
}

/** The variable of a scope among those of one key: the only one when no scope is given (docs/contract/D §1.19). */
export function pickVariable(rows: readonly VariableRow[], scope: string | undefined): VariableRow {
  const found = scope === undefined ? rows : rows.filter((row) => row.environment_scope === scope)
  const [only] = found
  if (!only) throw notFound('Variable')
  if (found.length > 1) {
    throw conflict(
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
    )
  }
  return only
}
