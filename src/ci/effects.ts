import type { Effect } from '../ctx.ts'
import type { DeploymentRow } from './environments/queries.ts'
import type { FlagRow } from './feature-flags/queries.ts'

declare module '../ctx.ts' {
  /** What follows from changes of pipelines and of what they deploy, each in the transaction of the change. */
  interface Effects {
    /** The status of a pipeline, or of a job in it, is another. */
    readonly pipelineChanged: readonly Effect<{ readonly id: number; readonly projectId: number }>[]
    readonly pipelineEnded: readonly Effect<{ readonly id: number; readonly status: string }>[]
    /** A deployment is new, or its status is another. */
    readonly deploymentChanged: readonly Effect<{ readonly row: DeploymentRow }>[]
    /** A feature flag was switched on or off. */
    readonly featureFlagSwitched: readonly Effect<{ readonly row: FlagRow }>[]
  }
}
