import type { Instant } from '../../base/clock.ts'
import type { Default, Id, Optional, OptionalInstant } from './columns.ts'

export interface ContainerRegistrySchema {
  /** A manifest or an index of several; its text is in the file store. */
  container_manifests: {
    id: Id
    repository_id: number
    file_sha256: string
    media_type: string
    artifact_type: string | null
    /** The manifest that it belongs to, such as one that it signs. */
    subject_sha256: string | null
    annotations: string | null
    size: number
    /** With all that it names. */
    total_size: number
    created_at: Instant
  }

  /** Who may push and delete tags whose names match. */
  container_tag_rules: {
    id: Id
    project_id: number
    tag_name_pattern: string
    minimum_access_level_for_push: number
    minimum_access_level_for_delete: number
    created_at: Instant
    updated_at: Instant
  }

  /** A repository of images; the nameless one is at the project's own path. */
  container_repositories: {
    id: Id
    project_id: number
    /** Below the project's path; empty at it. */
    name: string
    status: Optional<'delete_scheduled' | 'delete_failed' | 'delete_ongoing'>
    cleanup_policy_started_at: OptionalInstant
    /** When somebody last had tags deleted by a pattern. */
    bulk_deletion_at: OptionalInstant
    /** How many tags it has, and their sizes together; triggers count. */
    tags_count: Default<number>
    tags_size: Default<number>
    created_at: Instant
    updated_at: Instant
  }

  container_tags: {
    id: Id
    repository_id: number
    name: string
    /** Of the manifest, `sha256:…`. */
    digest: string
    total_size: Default<number>
    created_at: Instant
  }

  /** Bytes that a repository has, by their hash. */
  container_blobs: {
    repository_id: number
    file_sha256: string
    size: number
    /** When it was last uploaded. */
    created_at: Instant
  }

  /** What a manifest names: blobs, and other manifests. */
  container_references: {
    manifest_id: number
    repository_id: number
    sha256: string
  }

  container_uploads: {
    id: string
    repository_id: number
    created_at: Instant
  }

  /** A piece of an upload, in the file store. */
  container_upload_chunks: {
    upload_id: string
    start: number
    size: number
    file_sha256: string
  }

  /** When the cleanup policy of a project is next carried out. */
  container_cleanup_runs: {
    project_id: number
    next_run_at: Instant
  }
}
