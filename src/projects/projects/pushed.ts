import { KeyedSemaphore } from '../../base/semaphore.ts'
import type { Ctx } from '../../ctx.ts'
import { setHead } from '../../git/repo.ts'
import type { Activity } from '../effects.ts'
import { findPushedRow, saveActivity, saveFirstPush } from './pushed-queries.ts'

/** A project as a push meets it, read inside the push's own transaction. */
export interface PushedProject {
  readonly id: number
  readonly namespaceId: number
  readonly empty: boolean
  readonly defaultBranch: string | null
}

/** The project that refs moved in, or undefined when it is gone. */
export async function findPushedProject(
  ctx: Ctx,
  projectId: number,
): Promise<PushedProject | undefined> {
  const row = await findPushedRow(ctx.db, projectId)
  if (!row) return undefined
  return {
    id: row.id,
    namespaceId: row.namespace_id,
    empty: row.empty_repo === 1,
    defaultBranch: row.default_branch,
  }
}

/** Notes what the first push of branches decides. */
export async function recordFirstPush(
  ctx: Ctx,
  projectId: number,
  defaultBranch: string | null,
): Promise<void> {
  await saveFirstPush(ctx.db, projectId, defaultBranch)
}

/** Notes that there was a push now. */
export async function recordActivity(ctx: Ctx, projectId: number): Promise<void> {
  await saveActivity(ctx.db, projectId, ctx.now(), 5000)
}

/** Notes that something happened that the feed shows, to the hour. */
export async function noteActivity(ctx: Ctx, { projectId }: Activity): Promise<void> {
  if (projectId !== null) await saveActivity(ctx.db, projectId, ctx.now(), 3_600_000)
}

const oneByOne = new KeyedSemaphore({ limit: 1 })

/**
 * Makes HEAD of a project's repository name its default branch. To be called after each change of the branch: it is read
 * when nobody else is at it, so that whoever comes last writes the newest.
 */
export async function pointHead(ctx: Ctx, projectId: number): Promise<void> {
  await oneByOne.run(String(projectId), async () => {
    const project = await findPushedProject(ctx, projectId)
    if (!project?.defaultBranch) return
    await setHead(ctx.git.open(projectId), project.defaultBranch)
  })
}
