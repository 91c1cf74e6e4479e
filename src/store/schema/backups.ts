import type { Instant } from '../../base/clock.ts'
import type { Default, Id, Json, Optional } from './columns.ts'

export interface BackupsSchema {
  /** What became of each backup: `faulty` ones have copied something that was damaged. */
  backups: {
    id: Id
    name: Optional<string>
    folder: string
    state: 'success' | 'faulty' | 'failed'
    started_at: Instant
    finished_at: Instant
    repositories: Default<number>
    bytes: Default<number>
    new_bytes: Default<number>
    faults: Json
    error: Optional<string>
  }
}
