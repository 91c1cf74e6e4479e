import type { Instant } from '../../base/clock.ts'
import type { Flag, Id, Optional, OptionalInstant } from './columns.ts'

export interface VirtualRegistriesSchema {
  virtual_registries: {
    id: Id
    group_id: number
    name: string
    description: Optional<string>
    created_at: Instant
    updated_at: Instant
  }

  /** A server that registries of a group fetch from. */
  virtual_upstreams: {
    id: Id
    group_id: number
    url: string
    name: string
    description: Optional<string>
    username: Optional<string>
    sealed_password: Optional<string>
    cache_validity_hours: number
    metadata_cache_validity_hours: number
    created_at: Instant
    updated_at: Instant
  }

  /** A file that was fetched; its bytes are in the file store. */
  virtual_cache_entries: {
    id: Id
    upstream_id: number
    relative_path: string
    file_sha256: string
    file_sha1: string
    file_md5: string
    size: number
    content_type: string
    upstream_etag: Optional<string>
    upstream_checked_at: Instant
    created_at: Instant
    updated_at: Instant
  }

  virtual_registry_upstreams: {
    id: Id
    registry_id: number
    upstream_id: number
    position: number
  }

  /** Apart from the entry, so that a download changes nothing that lists are read from. */
  virtual_cache_downloads: {
    entry_id: number
    downloads_count: number
    downloaded_at: Instant
  }

  /** One row: the bytes of all entries, which triggers count. */
  virtual_cache_size: {
    id: Id
    bytes: number
  }

  virtual_cleanup_policies: {
    group_id: number
    enabled: Flag
    cadence: number
    keep_n_days_after_download: number
    notify_on_success: Flag
    notify_on_failure: Flag
    last_run_at: OptionalInstant
    next_run_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }
}
