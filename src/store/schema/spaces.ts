import type { Day } from '../../base/clock.ts'
import type { Default, Json, Optional } from './columns.ts'

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
}
