import type { Day, Instant } from '../../base/clock.ts'
import type { Default, Id, Json, Optional } from './columns.ts'
import type { SourceType } from './core.ts'

export interface SpacesSchema {
  /** What was found at `commit_id`, the head of the default branch when somebody last looked. */
  project_facts: {
    project_id: number
    commit_id: string
    readme_path: Optional<string>
    license_path: Optional<string>
    license_key: Optional<string>
    languages: Json
    commit_count: Default<number>
  }

  project_topics: {
    project_id: number
    topic_id: number
    position: number
  }

  /** Clones and fetches of a day. */
  project_fetches: {
    project_id: number
    day: Day
    count: number
  }

  /** A badge belongs to a project or to a group. */
  badges: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    name: Optional<string>
    link_url: string
    image_url: string
    created_at: Instant
    updated_at: Instant
  }

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
    /** What the archive does not hold, as JSON. */
    left_out: Default<string>
  }

  /** What the archive of an imported project did not hold, as JSON. */
  import_left_out: {
    project_id: number
    relations: string
    created_at: Instant
  }
}
