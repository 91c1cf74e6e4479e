import type { Project } from '../access/subjects.ts'
import type { Effect } from '../ctx.ts'
import type { AlertRow } from './alerts/queries.ts'

export interface ChangedAlert {
  readonly project: Project
  readonly alert: AlertRow
  readonly action: 'opened' | 'recovered'
  /** Whether the project wants mail about its alerts. */
  readonly sendsMail: boolean
}

declare module '../ctx.ts' {
  /** What follows from alerts, in the transaction that records them as followed. */
  interface Effects {
    readonly alertChanged: readonly Effect<ChangedAlert>[]
  }
}
