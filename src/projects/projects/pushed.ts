import { KeyedSemaphore } from '../../base/semaphore.ts'
import type { Ctx } from '../../ctx.ts'
import { setHead } from '../../git/repo.ts'
import type { Activity } from '../effects.ts'
import { findPushedProject, saveActivity, saveFirstPush } from './pushed-queries.ts'

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
    const project = await findPushedProject(ctx.db, projectId)
    if (!project?.default_branch) return
    await setHead(ctx.git.open(projectId), project.default_branch)
  })
}
