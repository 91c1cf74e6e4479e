import type { Ctx } from '../../../ctx.ts'
import type { WrittenVariable } from '../../config/variable-scope.ts'
import { listVariables } from '../queries.ts'
import type { RunVariable } from './pipeline-input.ts'
import { VARIABLE_PURPOSE } from './save-pipeline.ts'

/** The variables that a run was given, and over them those given when a job was played. */
export async function listRunVariables(
  ctx: Pick<Ctx, 'db' | 'vault'>,
  pipelineId: number,
  sealedOfJob: string | null,
): Promise<readonly (RunVariable & { readonly raw: boolean })[]> {
  const rows = await listVariables(ctx.db, pipelineId)
  const ofRun = rows.map((row) => ({
    key: row.key,
    value: ctx.vault.open(row.sealed_value, VARIABLE_PURPOSE),
    variable_type: row.variable_type,
    raw: row.raw === 1,
  }))
  if (sealedOfJob === null) return ofRun
  const ofJob = JSON.parse(ctx.vault.open(sealedOfJob, VARIABLE_PURPOSE)) as RunVariable[] // written by us
  return [...ofRun, ...ofJob.map((one) => ({ ...one, raw: false }))]
}

/** A variable of a run as one that names are put into. */
export function writtenOf({ key, value, variable_type, raw = false }: RunVariable) {
  return { key, value, raw, file: variable_type === 'file' } satisfies WrittenVariable
}
