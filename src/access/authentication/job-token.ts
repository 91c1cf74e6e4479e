import { unauthorized } from '../../base/problem.ts'
import type { Db } from '../../store/schema.ts'
import { actorUser, type JobActor } from '../actor.ts'
import { digestOf } from '../token-use.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { findJobByDigest, isInGroup, isJobAllowed } from './job-token-queries.ts'

/** The job whose token this is, while it runs: a token dies with its job, and with the account of its user. */
export async function findJobActor(
  context: AuthenticationContext,
  secret: string,
): Promise<JobActor | undefined> {
  const row = await findJobByDigest(context.db, digestOf(secret))
  if (row?.state !== 'active') return undefined
  return { kind: 'job', jobId: row.job_id, projectId: row.project_id, user: actorUser(row) }
}

/** As `findJobActor`, or 401. */
export async function signInWithJobToken(
  context: AuthenticationContext,
  secret: string,
): Promise<JobActor> {
  const actor = await findJobActor(context, secret)
  if (!actor) throw unauthorized()
  return actor
}

/**
 * Whether a job may act in a project by its user's role there (docs/contract/D §2.5): in its own, and in those that list
 * its project or a group above it, or list nobody on purpose.
 */
export async function mayJobReach(db: Db, actor: JobActor, projectId: number): Promise<boolean> {
  if (actor.projectId === projectId) return true
  return await isJobAllowed(db, { from: actor.projectId, to: projectId })
}

/** Whether a job may act in a group by its user's role there: in those above its own project. */
export async function mayJobReachGroup(db: Db, actor: JobActor, groupId: number): Promise<boolean> {
  return await isInGroup(db, { projectId: actor.projectId, groupId })
}
