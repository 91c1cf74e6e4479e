import type { Instant } from '../../base/clock.ts'
import type { Id } from './columns.ts'

export interface LfsSchema {
  /** A file that only one person may change for a while. */
  lfs_locks: {
    id: Id
    project_id: number
    user_id: number
    path: string
    created_at: Instant
  }

  /** A large file that a project refers to; its bytes are in the store of files under the same hash. */
  lfs_objects: {
    project_id: number
    /** SHA-256 of the bytes, lower-case hex. */
    oid: string
    size: number
    created_at: Instant
  }
}
