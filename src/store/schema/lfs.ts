import type { Instant } from '../../base/clock.ts'
import type { Id } from './columns.ts'

/** A file that only one person may change for a while. */
export interface LfsLocksTable {
  id: Id
  project_id: number
  user_id: number
  path: string
  created_at: Instant
}

export interface LfsSchema {
  /** A large file that a project refers to; its bytes are in the store of files under the same hash. */
  lfs_objects: {
    project_id: number
    /** SHA-256 of the bytes, lower-case hex. */
    oid: string
    size: number
    created_at: Instant
  }

  lfs_locks: LfsLocksTable
}
