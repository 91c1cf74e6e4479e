import type { Db } from '../../../store/schema.ts'

/** The newest reaction to an issue or merge request of a project, for trying a hook out. */
export function findNewestReaction(db: Db, projectId: number) {
  return db
    .selectFrom('award_emoji')
    .leftJoin('issues', (join) =>
      join
        .onRef('issues.id', '=', 'award_emoji.awardable_id')
        .on('award_emoji.awardable_type', '=', 'Issue'),
    )
    .leftJoin('merge_requests', (join) =>
      join
        .onRef('merge_requests.id', '=', 'award_emoji.awardable_id')
        .on('award_emoji.awardable_type', '=', 'MergeRequest'),
    )
    .selectAll('award_emoji')
    .where((is) =>
      is.or([
        is('issues.project_id', '=', projectId),
        is('merge_requests.target_project_id', '=', projectId),
      ]),
    )
    .orderBy('award_emoji.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
