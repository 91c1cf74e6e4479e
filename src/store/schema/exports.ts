import type { Instant } from '../../base/clock.ts'
import type { Default, Optional } from './columns.ts'
import type { SourceType } from './core.ts'

export interface ExportsSchema {
  /** The last export of a project or group. */
  exports: {
    source_type: SourceType
    source_id: number
    status: Default<'queued' | 'started' | 'finished' | 'failed'>
    description: Optional<string>
    /** The archive, in the file store. */
    file: Optional<string>
    size: Optional<number>
    requested_by_id: Optional<number>
    created_at: Instant
    finished_at: Optional<Instant>
  }
}
