import { pathOf } from '../../address.ts'
import type { ChangedFile, ChangeSet } from './change-set.ts'

/** Where a changed picture is, as it was and as it is now. */
export function picturesOf({ project, version, request }: ChangeSet, file: ChangedFile) {
  if (!version) return {}
  // What only a fork has is read in the project that it goes into: its objects are there.
  const at = (ref: string, name: string) =>
    pathOf(project.path_with_namespace, '-', 'raw', ref, name)
  const before = { at: at(version.base_commit_sha, file.old_path), of: request.target_branch }
  const after = { at: at(version.head_commit_sha, file.new_path), of: request.source_branch }
  return {
    before: file.new_file ? undefined : before,
    after: file.deleted_file ? undefined : after,
  }
}
