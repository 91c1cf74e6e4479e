import type { Group, Project } from '../../access/subjects.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import type { PageName } from './page-name.ts'

/** Whose wiki it is, with the project or group whose hooks are called. */
export type WikiHolder = { readonly hooked: Pick<Project, 'id' | 'namespace_id'> } & (
  | { readonly project: Project; readonly group: undefined }
  | { readonly project: undefined; readonly group: Group }
)

type PageAction = 'created' | 'updated' | 'destroyed'

/** What happened to one page. */
export interface PageNews {
  readonly action: PageAction
  readonly page: PageName
  readonly formerSlug: string | undefined
}

/** What a push or an edit did to the pages of a wiki. */
export interface WikiChange {
  readonly repo: Repo
  readonly tip: ObjectId
  readonly branch: { readonly defaultBranch: string | null }
  readonly pages: readonly PageNews[]
}
