import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'
import type { EnvironmentRow } from '../environments/queries.ts'

export async function listEnvironmentsById(
  db: Db,
  ids: readonly number[],
): Promise<EnvironmentRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('environments')
    .selectAll()
    .where(sql<boolean>`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
    .execute()
}

/** Notes which merge requests came with a deployment. */
export async function insertDeployedMergeRequests(
  db: Db,
  deploymentId: number,
  mergeRequestIds: readonly number[],
): Promise<void> {
  if (mergeRequestIds.length === 0) return
  await db
    .insertInto('deployed_merge_requests')
    .values(mergeRequestIds.map((id) => ({ deployment_id: deploymentId, merge_request_id: id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The newest successful deployment to the same environment before another. */
export async function findDeployedBefore(
  db: Db,
  deployment: { readonly id: number; readonly environment_id: number },
) {
  return await db
    .selectFrom('deployments')
    .select(['id', 'sha'])
    .where('environment_id', '=', deployment.environment_id)
    .where('id', '<', deployment.id)
    .where('status', '=', 'success')
    .orderBy('id', 'desc')
    .executeTakeFirst()
}
