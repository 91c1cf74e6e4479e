/** Bytes of what a project holds, or a group with all below it. */
export interface Sizes {
  readonly repository: number
  readonly wiki: number
  readonly snippets: number
  readonly artifacts: number
  readonly uploads: number
  /** Large files. */
  readonly lfs: number
  readonly packages: number
}

/** Sizes as statistics show them. */
export function presentSizes(sizes: Sizes) {
  const { repository, wiki, snippets, artifacts, uploads, lfs, packages } = sizes
  return {
    storage_size: repository + wiki + snippets + artifacts + uploads + lfs + packages,
    repository_size: repository,
    wiki_size: wiki,
    lfs_objects_size: lfs,
    job_artifacts_size: artifacts,
    pipeline_artifacts_size: 0,
    packages_size: packages,
    snippets_size: snippets,
    uploads_size: uploads,
  }
}
