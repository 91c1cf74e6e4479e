import type { Instant } from '../../base/clock.ts'
import type { Id, Json } from './columns.ts'

export interface HealthSchema {
  /** What each daily look at the data has found. */
  health_checks: {
    id: Id
    state: 'ok' | 'warning' | 'failure'
    started_at: Instant
    finished_at: Instant
    /** A JSON list of `{ name, state, text }`. */
    findings: Json
  }
}
