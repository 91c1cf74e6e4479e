import type { Instant } from '../../base/clock.ts'
import type { Default, Id, Optional } from './columns.ts'

export type LinkType = 'other' | 'runbook' | 'image' | 'package'

export interface ReleasesSchema {
  releases: {
    id: Id
    project_id: number
    tag: string
    /** The commit that the tag stood for when the release was made. */
    sha: Optional<string>
    name: string
    description: Optional<string>
    author_id: Optional<number>
    released_at: Instant
    created_at: Instant
    updated_at: Instant
  }

  release_links: {
    id: Id
    release_id: number
    name: string
    url: string
    filepath: Optional<string>
    link_type: Default<LinkType>
    created_at: Instant
  }

  release_evidences: {
    id: Id
    release_id: number
    /** What was collected, as JSON text. */
    summary: string
    /** SHA-256 of that very text. */
    sha: string
    collected_at: Instant
  }

  release_milestones: {
    release_id: number
    milestone_id: number
  }
}
