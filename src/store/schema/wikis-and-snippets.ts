import type { Instant } from '../../base/clock.ts'
import type { Default, Flag, Id, Json, Optional } from './columns.ts'

export interface WikisAndSnippetsSchema {
  snippets: {
    id: Id
    /** Null for those of a person. */
    project_id: Optional<number>
    author_id: number
    title: string
    description: Optional<string>
    visibility: 'private' | 'internal' | 'public'
    /** The paths of its files, a JSON list, as its repository has them. */
    files: Json
    user_agent: Optional<string>
    ip_address: Optional<string>
    /** Being made, or being removed: nobody sees it. */
    pending_delete: Flag
    created_at: Instant
    updated_at: Instant
  }

  /** The repository of a wiki (of a project or group) or of a snippet: exactly one of the three is set. */
  wiki_snippet_repositories: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    snippet_id: Optional<number>
    /** The one branch; null until the first push or edit decides. */
    default_branch: Optional<string>
    /** Bytes, as last measured. */
    size: Default<number>
    created_at: Instant
  }

  wiki_pages: {
    id: Id
    repository_id: number
    slug: string
    /** Where its file is. */
    path: string
    created_at: Instant
    updated_at: Instant
  }

  /** A page that an edit renamed, which its content may not show. */
  wiki_renames: {
    push_id: number
    from_path: string
    to_path: string
  }
}
