import type { Instant } from '../../base/clock.ts'
import type { Default, Flag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export interface SnippetsTable {
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
export interface SideRepositoriesTable {
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

/** One wish to move the branch of such a repository, open until what became of it is known. */
export interface SideMovesTable {
  id: Id
  repository_id: number
  user_id: Optional<number>
  /** The git process that moves the ref, `<pid>:<start time>`. */
  process: Optional<string>
  ref: string
  old_id: string
  new_id: string
  /** A page that an edit renames, which its content may not tell. */
  from_path: Optional<string>
  to_path: Optional<string>
  state: Default<'open' | 'moved' | 'refused'>
  created_at: Instant
  closed_at: OptionalInstant
}

export interface WikiPagesTable {
  id: Id
  repository_id: number
  slug: string
  /** Where its file is. */
  path: string
  created_at: Instant
  updated_at: Instant
}

export interface SideRepositoriesSchema {
  snippets: SnippetsTable
  side_repositories: SideRepositoriesTable
  side_moves: SideMovesTable
  wiki_pages: WikiPagesTable
}
