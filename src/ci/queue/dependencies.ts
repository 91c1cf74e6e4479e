import type { Ctx } from '../../ctx.ts'
import type { SourceRow } from '../pipelines/dependency-queries.ts'
import { artifactSourcesOf } from '../pipelines/process/artifact-sources.ts'
import type { LoadedJob } from '../pipelines/process/running.ts'

/** An earlier job whose artifacts a runner downloads. */
export interface Dependency {
  readonly id: number
  readonly name: string
  readonly token: string
  readonly artifacts_file: { readonly filename: string; readonly size: number }
}

/**
 * The jobs whose artifacts a job downloads. Artifacts that were there once and are gone are a failure (docs/contract/D §5.2).
 * The runner downloads with the token of the job itself: those of earlier jobs ended with them.
 */
export async function listDependencies(
  ctx: Ctx,
  loaded: LoadedJob,
  token: string,
): Promise<readonly Dependency[] | string> {
  const wanted = await artifactSourcesOf(ctx, loaded)
  if (wanted.some((row) => isGone(row, ctx.now()))) return 'missing_dependency_failure'
  return wanted.flatMap(({ filename, size, ...source }) =>
    filename === null || size === null ? [] : [dependencyOn({ ...source, filename, size }, token)],
  )
}

export function dependencyOn(
  source: {
    readonly id: number
    readonly name: string
    readonly filename: string
    readonly size: number
  },
  token: string,
): Dependency {
  const { id, name, filename, size } = source
  return { id, name, token, artifacts_file: { filename, size } }
}

function isGone(row: SourceRow, now: string): boolean {
  if (row.filename !== null || row.status !== 'success') return false
  const isOver = row.artifacts_expire_at !== null && row.artifacts_expire_at <= now
  return row.erased_at !== null || isOver
}
