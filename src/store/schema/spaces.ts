import type { Day } from '../../base/clock.ts'
import type { Default, Json, Optional } from './columns.ts'

export interface ProjectTopicsTable {
  project_id: number
  topic_id: number
  position: number
}

/** What was found at `commit_id`, the head of the default branch when somebody last looked. */
export interface ProjectFactsTable {
  project_id: number
  commit_id: string
  readme_path: Optional<string>
  license_path: Optional<string>
  license_key: Optional<string>
  languages: Json
  commit_count: Default<number>
}

/** Clones and fetches of a day. */
export interface ProjectFetchesTable {
  project_id: number
  day: Day
  count: number
}

export interface SpacesSchema {
  project_topics: ProjectTopicsTable
  project_facts: ProjectFactsTable
  project_fetches: ProjectFetchesTable
}
