import type { Instant } from '../../base/clock.ts'
import type { Default, Id, Optional, OptionalInstant } from './columns.ts'

/** A repository of images; the nameless one is at the project's own path. */
export interface ContainerRepositoriesTable {
  id: Id
  project_id: number
  /** Below the project's path; empty at it. */
  name: string
  status: Optional<'delete_scheduled' | 'delete_failed' | 'delete_ongoing'>
  cleanup_policy_started_at: OptionalInstant
  created_at: Instant
  updated_at: Instant
}

export interface ContainerTagsTable {
  id: Id
  repository_id: number
  name: string
  /** Of the manifest, `sha256:…`. */
  digest: string
  total_size: Default<number>
  created_at: Instant
}

export interface ContainerRegistrySchema {
  container_repositories: ContainerRepositoriesTable
  container_tags: ContainerTagsTable
}
