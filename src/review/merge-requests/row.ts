import type { Selectable } from 'kysely'
import type {
  MergeRequestsTable,
  MergeRequestVersionsTable,
} from '../../store/schema/merge-requests.ts'

/** A merge request with what its presentation needs of its target project and of what people said. */
export type MergeRequestRow = Selectable<MergeRequestsTable> & {
  readonly target_path: string
  readonly target_settings: string
  readonly target_default_branch: string | null
}

export type VersionRow = Selectable<MergeRequestVersionsTable>
