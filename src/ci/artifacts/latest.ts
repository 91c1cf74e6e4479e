import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { expireProject, findArtifact, findLatestJob, setExpiry } from './queries.ts'

/**
 * The job of a name in the newest pipeline of a branch or tag that went well as a whole; in the newest that has its
 * artifacts when `recent`.
 */
export async function findLatestSource(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  ref: string,
  job: { readonly name: string; readonly recent: boolean },
): Promise<number | undefined> {
  return await findLatestJob(ctx.db, project.id, ref, job)
}

/** Lets the artifacts of a job stay; false when it has none. */
export async function keepArtifacts(ctx: Pick<Ctx, 'db'>, jobId: number): Promise<boolean> {
  if (!(await findArtifact(ctx.db, jobId, 'archive'))) return false
  await setExpiry(ctx.db, jobId, null)
  return true
}

/** Ends the time of all artifacts of a project but those of the newest successful pipeline of each ref. */
export async function expireAll(ctx: Pick<Ctx, 'db' | 'now'>, projectId: number): Promise<void> {
  await expireProject(ctx.db, projectId, ctx.now())
}
