/** What the one who merges asked for; absent: what the merge request and the project say. */
export interface MergeOptions {
  readonly mergeMessage?: string | undefined
  readonly squashMessage?: string | undefined
  readonly squash?: boolean | undefined
  readonly removeSourceBranch?: boolean | undefined
  readonly sha?: string | undefined
}
