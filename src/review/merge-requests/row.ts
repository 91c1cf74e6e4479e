import type { RowOf } from '../../store/schema.ts'

/** A merge request with what its presentation needs of its target project and of what people said. */
export type MergeRequestRow = RowOf<'merge_requests'> & {
  readonly target_path: string
  readonly target_settings: string
  readonly target_default_branch: string | null
}

export type VersionRow = RowOf<'merge_request_versions'>
