import { findMovedProjectId } from '../../access/find-queries.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
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
  /** `info/refs?…` or `git-receive-pack`, for redirects; absent where the protocol has none. */
  readonly rest?: string | undefined
  /** The address of a repository, such as `group/project.git`, in the protocol of the request. */
  readonly urlOf: (path: string) => string
}

/** The project that was once at a path, if the caller may see it. */
export async function findMovedProject(ctx: Ctx, path: string): Promise<Project | undefined> {
  const id = await findMovedProjectId(ctx.db, path)
  return id === undefined ? undefined : await findVisibleProject(ctx, String(id))
}

/** Sends whoever pushes to an old address the new one. */
export function movedNotice({ urlOf }: Asked, what: string, to: string, suffix: string): string {
  return [
    `${what} was moved to '${to}'.`,
    '',
    'Please update your Git remote:',
    '',
    `  git remote set-url origin ${urlOf(`${to}${suffix}`)}`,
  ].join('\n')
}
