import type { Instant } from '../../base/clock.ts'
import type { Id } from './columns.ts'

/** A large file that a project refers to; its bytes are in the store of files under the same hash. */
export interface LfsObjectsTable {
  project_id: number
  /** SHA-256 of the bytes, lower-case hex. */
  oid: string
  size: number
  created_at: Instant
}

/** A file that only one person may change for a while. */
export interface LfsLocksTable {
  id: Id
  project_id: number
  user_id: number
  path: string
  created_at: Instant
}

export interface LfsSchema {
  lfs_objects: LfsObjectsTable
  lfs_locks: LfsLocksTable
}
