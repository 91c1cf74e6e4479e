import type { Db, NewRowOf } from '../../store/schema.ts'

export async function insertEvidence(db: Db, values: NewRowOf<'release_evidences'>) {
  return await db
    .insertInto('release_evidences')
    .values(values)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function listEvidenceRows(db: Db, releaseIds: readonly number[]) {
  if (releaseIds.length === 0) return []
  return await db
    .selectFrom('release_evidences')
    .select(['id', 'release_id', 'sha', 'collected_at'])
    .where('release_id', 'in', releaseIds)
    .orderBy('id')
    .execute()
}

export async function findEvidence(db: Db, releaseId: number, id: number) {
  return await db
    .selectFrom('release_evidences')
    .selectAll()
    .where('release_id', '=', releaseId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Milestones of a release, with the issues that everybody who reads the release may know of. */
export async function listMilestonesForEvidence(db: Db, releaseId: number) {
  return await db
    .selectFrom('release_milestones as tie')
    .innerJoin('milestones', 'milestones.id', 'tie.milestone_id')
    .select(['milestones.id', 'milestones.iid', 'milestones.title', 'milestones.description'])
    .select(['milestones.state', 'milestones.created_at', 'milestones.due_date'])
    .where('tie.release_id', '=', releaseId)
    .orderBy('milestones.id')
    .execute()
}

export async function listIssuesForEvidence(
  db: Db,
  projectId: number,
  milestoneIds: readonly number[],
) {
  if (milestoneIds.length === 0) return []
  return await db
    .selectFrom('issues')
    .select(['id', 'iid', 'title', 'description', 'state', 'confidential', 'created_at'])
    .select(['due_date', 'milestone_id'])
    .where('project_id', '=', projectId)
    .where('milestone_id', 'in', milestoneIds)
    .where('confidential', '=', 0)
    .orderBy('id')
    .execute()
}
