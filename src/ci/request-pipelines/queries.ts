import type { Db } from '../../store/schema.ts'

/** Labels, assignees and milestone of a merge request, by what people call them. */
export async function findRequestWords(
  db: Db,
  id: number,
): Promise<{
  readonly labels: readonly string[]
  readonly assignees: readonly string[]
  readonly milestone: string | undefined
}> {
  const labels = await db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select('labels.title')
    .where('label_links.subject_type', '=', 'merge_request')
    .where('label_links.subject_id', '=', id)
    .orderBy('labels.title')
    .execute()
  const assignees = await db
    .selectFrom('assignees')
    .innerJoin('users', 'users.id', 'assignees.user_id')
    .select('users.username')
    .where('assignees.subject_type', '=', 'merge_request')
    .where('assignees.subject_id', '=', id)
    .orderBy('users.username')
    .execute()
  const milestone = await db
    .selectFrom('merge_requests')
    .innerJoin('milestones', 'milestones.id', 'merge_requests.milestone_id')
    .select('milestones.title')
    .where('merge_requests.id', '=', id)
    .executeTakeFirst()
  return {
    labels: labels.map((row) => row.title),
    assignees: assignees.map((row) => row.username),
    milestone: milestone?.title,
  }
}

/** Whether the head of a merge request has had its pipeline. */
export async function hasRequestPipeline(db: Db, id: number, head: string): Promise<boolean> {
  const row = await db
    .selectFrom('pipelines')
    .select('id')
    .where('merge_request_id', '=', id)
    .where('source_sha', '=', head)
    .executeTakeFirst()
  return row !== undefined
}

/** Pipelines of the commits of a merge request, newest first. */
export function listRequestPipelines(db: Db, mergeRequestId: number) {
  return db
    .selectFrom('pipelines')
    .innerJoin('merge_requests', (join) =>
      join.on((on) =>
        on.or([
          on('pipelines.project_id', '=', on.ref('merge_requests.target_project_id')),
          on('pipelines.project_id', '=', on.ref('merge_requests.source_project_id')),
        ]),
      ),
    )
    .selectAll('pipelines')
    .where('merge_requests.id', '=', mergeRequestId)
    .where('pipelines.source', '<>', 'parent_pipeline')
    .where((is) =>
      is.or([
        is('pipelines.merge_request_id', '=', mergeRequestId),
        is('pipelines.sha', '=', is.ref('merge_requests.head_sha')),
        is(
          'pipelines.sha',
          'in',
          is
            .selectFrom('merge_request_commits')
            .select('sha')
            .where('merge_request_id', '=', mergeRequestId),
        ),
      ]),
    )
    .orderBy('pipelines.id', 'desc')
}
