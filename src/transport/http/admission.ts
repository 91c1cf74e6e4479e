import type { Project } from '../../access/subjects.ts'
import type { RefUpdater } from '../../repositories/refs/ref-updater.ts'
import type { Service } from '../advertisements.ts'

/** What a git request is about, and who asks is let into. */
export interface Admission {
  readonly updater: RefUpdater
  /** Whose code it is; wikis and snippets have none. */
  readonly project?: Project | undefined
  /** Lines for the user of a push. */
  readonly notices: readonly string[]
}

/** What a git request asks for. */
export interface Asked {
  readonly path: string
  readonly service: Service
  /** `info/refs?…` or `git-receive-pack`, for redirects. */
  readonly rest: string
}
