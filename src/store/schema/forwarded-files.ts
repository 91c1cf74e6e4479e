import type { Instant } from '../../base/clock.ts'
import type { Id, Optional } from './columns.ts'

export interface ForwardedFilesSchema {
  /** A file of a public registry; its bytes are in the file store. */
  forwarded_files: {
    id: Id
    package_type: string
    /** The address of the registry: another one has other files. */
    root: string
    path: string
    file_sha256: string
    file_sha1: string
    file_md5: string
    size: number
    content_type: string
    upstream_etag: Optional<string>
    upstream_checked_at: Instant
    /** To the hour. */
    used_at: Instant
    created_at: Instant
  }
}
