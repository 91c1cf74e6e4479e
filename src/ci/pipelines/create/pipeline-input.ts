import type { Ctx } from '../../../ctx.ts'
import type { ConfigSources } from '../../config/include.ts'
import type { ValueMap } from '../../config/values.ts'

/** A variable of one run. */
export interface RunVariable {
  readonly key: string
  readonly value: string
  readonly variable_type: 'env_var' | 'file'
  /** Whether `$NAME` in the value stays as it is; not, unless said. */
  readonly raw?: boolean
}

/** The merge request that a pipeline is for, with what its jobs learn of it. */
export interface RequestOrigin {
  readonly id: number
  readonly event: 'detached' | 'merged_result'
  readonly sourceSha: string
  readonly targetSha: string | undefined
  /** `CI_MERGE_REQUEST_…`. */
  readonly variables: ReadonlyMap<string, string>
}

/** What somebody wants a pipeline for. */
export interface PipelineInput {
  /** A branch or tag, short or in full; for merge requests, what their pipelines are named by. */
  readonly ref: string
  readonly source: string
  readonly variables: readonly RunVariable[]
  readonly inputs: ValueMap
  /** A configuration to take instead of the project's own: children bring theirs. */
  readonly config?: ValueMap | undefined
  /** Reads what jobs of the parent have left, for the configuration of a child. */
  readonly artifact?: ConfigSources['artifact']
  /** The text of a configuration to look at instead of the project's own. */
  readonly content?: string | undefined
  /** The commit that the configuration is read from; that of the ref by default. */
  readonly configSha?: string | undefined
  /** Which variables of the project, its groups and the instance count: all by default. */
  readonly secrets?: 'all' | 'unprotected' | 'none' | undefined
  /** The bridge that wants it. */
  readonly bridge?: { readonly jobId: number; readonly depends: boolean } | undefined
  readonly request?: RequestOrigin | undefined
  readonly scheduleId?: number | undefined
  readonly triggerId?: number | undefined
  /** Further variables that rules and jobs see, below those of the run. */
  readonly known?: ReadonlyMap<string, string> | undefined
  /** Runs first in the transaction that makes the pipeline; what it throws leaves none. */
  readonly before?: ((ctx: Ctx) => Promise<void>) | undefined
  /** Writes what belongs to the pipeline beside it, in the same transaction. */
  readonly record?: ((ctx: Ctx, pipelineId: number) => Promise<void>) | undefined
}
