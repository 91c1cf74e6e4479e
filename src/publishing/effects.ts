import type { Project } from '../access/subjects.ts'
import type { PreparedEffect } from '../ctx.ts'
import type { ReleaseRow } from './releases/queries.ts'
import type { WikiChange, WikiHolder } from './wikis/page-news.ts'

export interface ChangedRelease {
  readonly row: ReleaseRow
  readonly action: 'create' | 'update' | 'delete'
}

declare module '../ctx.ts' {
  /** What follows from changes of what is published. */
  interface Effects {
    readonly releaseChanged: readonly PreparedEffect<
      { readonly project: Project; readonly sha: string | null },
      ChangedRelease
    >[]
    /** A push or an edit changed pages of a wiki. */
    readonly wikiChanged: readonly PreparedEffect<
      { readonly holder: WikiHolder; readonly change: WikiChange },
      undefined
    >[]
  }
}
