import type { Instant } from '../../base/clock.ts'
import type { Id, Optional, OptionalInstant } from './columns.ts'

export interface SecureFilesSchema {
  /** A file of a project that its jobs fetch: keys, certificates, profiles. */
  ci_secure_files: {
    id: Id
    project_id: number
    name: string
    /** sha256 of the bytes that were uploaded, in hex. */
    checksum: string
    /** The sealed bytes in the store of files. */
    sealed_file: string
    /** Of the bytes that were uploaded. */
    size: number
    /** What a certificate says of itself, as JSON. */
    metadata: Optional<string>
    expires_at: OptionalInstant
    created_at: Instant
  }
}
