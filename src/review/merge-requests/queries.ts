import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'
import type { MergeRequestRow, VersionRow } from './row.ts'

/** Merge requests with their target projects; lists start from it too. */
function mergeRequestQuery(db: Db) {
  return db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .selectAll('merge_requests')
    .select([
      'projects.full_path as target_path',
      'projects.settings as target_settings',
      'projects.default_branch as target_default_branch',
    ])
}

export function findByIid(
  db: Db,
  projectId: number,
  iid: number,
): Promise<MergeRequestRow | undefined> {
  return mergeRequestQuery(db)
    .where('merge_requests.target_project_id', '=', projectId)
    .where('merge_requests.iid', '=', iid)
    .executeTakeFirst()
}

export function findById(db: Db, id: number): Promise<MergeRequestRow | undefined> {
  return mergeRequestQuery(db).where('merge_requests.id', '=', id).executeTakeFirst()
}

/** The merge request that a project got last. */
export function findNewest(db: Db, projectId: number): Promise<MergeRequestRow | undefined> {
  return mergeRequestQuery(db)
    .where('merge_requests.target_project_id', '=', projectId)
    .orderBy('merge_requests.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly number[]): Promise<MergeRequestRow[]> {
  return ids.length === 0
    ? Promise.resolve([])
    : mergeRequestQuery(db)
        .where('merge_requests.id', 'in', ids)
        .orderBy('merge_requests.id')
        .execute()
}

export async function insertMergeRequest(
  db: Db,
  values: NewRowOf<'merge_requests'>,
): Promise<number> {
  const { id } = await db
    .insertInto('merge_requests')
    .values(values)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateMergeRequest(
  db: Db,
  id: number,
  changes: ChangesOf<'merge_requests'>,
): Promise<void> {
  if (Object.values(changes).every((value) => value === undefined)) return
  await db.updateTable('merge_requests').set(changes).where('id', '=', id).execute()
}

export async function deleteMergeRequest(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('merge_requests').where('id', '=', id))
}

/** The number of the open merge request between these branches, if there is one besides `exceptId`. */
export function findOpenDuplicate(
  db: Db,
  at: {
    sourceProjectId: number
    sourceBranch: string
    targetProjectId: number
    targetBranch: string
  },
  exceptId = 0,
) {
  return db
    .selectFrom('merge_requests')
    .select(['id', 'iid'])
    .where('source_project_id', '=', at.sourceProjectId)
    .where('source_branch', '=', at.sourceBranch)
    .where('target_project_id', '=', at.targetProjectId)
    .where('target_branch', '=', at.targetBranch)
    .where('state', '=', 'opened')
    .where('id', '<>', exceptId)
    .executeTakeFirst()
}

/** Open merge requests that come from a branch, or want to be merged into it. */
export function listOpenAt(
  db: Db,
  end: 'source' | 'target',
  projectId: number,
  branch: string,
): Promise<MergeRequestRow[]> {
  return mergeRequestQuery(db)
    .where(`merge_requests.${end}_project_id`, '=', projectId)
    .where(`merge_requests.${end}_branch`, '=', branch)
    .where('merge_requests.state', '=', 'opened')
    .orderBy('merge_requests.id')
    .execute()
}

/**
 * Makes a new check due for every open merge request from or into a branch that has moved (null: it is gone), and notes
 * the new head of those from it; one that nothing was done for yet keeps the head that it was opened with until then.
 * Their approvals wait for the rules on pushes to be applied.
 */
export async function markMoved(
  db: Db,
  projectId: number,
  branch: string,
  head: string | null,
): Promise<void> {
  // Most pushes meet none, and the update is a long statement.
  const ids = await listOpenIdsAt(db, projectId, branch)
  if (ids.length === 0) return
  const isSource = sql<boolean>`(source_project_id = ${projectId} AND source_branch = ${branch})`
  await db
    .updateTable('merge_requests')
    .set({
      merge_status: dueCheck,
      source_branch_exists: sql`iif(${isSource}, ${head === null ? 0 : 1}, source_branch_exists)`,
      head_sha: sql`iif(${isSource} AND prepared_at IS NOT NULL, coalesce(${head}, head_sha), head_sha)`,
      approvals_syncing: sql`iif(${isSource} AND ${head} IS NOT NULL, ${hasApprovals}, approvals_syncing)`,
    })
    .where('id', 'in', sql<number>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`)
    .execute()
}

/** The open merge requests from or into a branch. */
async function listOpenIdsAt(db: Db, projectId: number, branch: string): Promise<number[]> {
  // Every push asks: to build it anew each time takes longer than to run it.
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM merge_requests
    WHERE state = 'opened' AND source_project_id = ${projectId} AND source_branch = ${branch}
    UNION SELECT id FROM merge_requests
    WHERE state = 'opened' AND target_project_id = ${projectId} AND target_branch = ${branch}`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

const hasApprovals = sql<
  0 | 1
>`exists (SELECT 1 FROM approvals WHERE merge_request_id = merge_requests.id)`

/** The branches that open merge requests of a project come from or go into. */
export function listReviewedBranches(db: Db, projectId: number): Promise<ReadonlySet<string>> {
  return cachedQuery(db, `branches under review in ${projectId}`, async (db) => {
    const open = db.selectFrom('merge_requests').where('state', '=', 'opened')
    const rows = await open
      .select('source_branch as name')
      .where('source_project_id', '=', projectId)
      .union(open.select('target_branch as name').where('target_project_id', '=', projectId))
      .execute()
    return new Set(rows.map(({ name }) => name))
  })
}

/** As `recheckOf`: what conflicted is kept apart from what was never checked. */
const dueCheck = sql<'unchecked'>`CASE
  WHEN merge_status = 'preparing' THEN 'preparing'
  WHEN merge_status LIKE 'cannot_be_merged%' THEN 'cannot_be_merged_recheck'
  ELSE 'unchecked' END`

export async function insertVersion(
  db: Db,
  values: NewRowOf<'merge_request_versions'>,
): Promise<void> {
  await db.insertInto('merge_request_versions').values(values).execute()
}

function versionsOf(db: Db, mergeRequestId: number) {
  return db
    .selectFrom('merge_request_versions')
    .selectAll()
    .where('merge_request_id', '=', mergeRequestId)
    .orderBy('id', 'desc')
}

/** The newest first. */
export function listVersions(db: Db, mergeRequestId: number): Promise<VersionRow[]> {
  return versionsOf(db, mergeRequestId).execute()
}

export function findVersion(
  db: Db,
  mergeRequestId: number,
  versionId: number,
): Promise<VersionRow | undefined> {
  return versionsOf(db, mergeRequestId).where('id', '=', versionId).executeTakeFirst()
}

export function findLatestVersion(db: Db, mergeRequestId: number): Promise<VersionRow | undefined> {
  return versionsOf(db, mergeRequestId).limit(1).executeTakeFirst()
}

/** The newest version of each of these merge requests. */
export async function latestVersionsById(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, VersionRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('merge_request_versions')
    .selectAll()
    .where('id', 'in', (inner) =>
      inner
        .selectFrom('merge_request_versions')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('merge_request_id', 'in', ids)
        .groupBy('merge_request_id'),
    )
    .execute()
  return new Map(rows.map((row) => [row.merge_request_id, row]))
}

/** Which issues a merge will close. */
export async function setClosingIssues(
  db: Db,
  mergeRequestId: number,
  issueIds: readonly number[],
): Promise<void> {
  await db
    .deleteFrom('merge_requests_closing_issues')
    .where('merge_request_id', '=', mergeRequestId)
    .execute()
  if (issueIds.length === 0) return
  await db
    .insertInto('merge_requests_closing_issues')
    .values(issueIds.map((issue_id) => ({ merge_request_id: mergeRequestId, issue_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Merge requests that would close an issue, or did. */
export function listClosersOfIssue(db: Db, issueId: number): Promise<MergeRequestRow[]> {
  return mergeRequestQuery(db)
    .innerJoin(
      'merge_requests_closing_issues',
      'merge_requests_closing_issues.merge_request_id',
      'merge_requests.id',
    )
    .where('merge_requests_closing_issues.issue_id', '=', issueId)
    .orderBy('merge_requests.id')
    .execute()
}

export async function touchMergeRequest(db: Db, id: number, now: Instant): Promise<void> {
  await db.updateTable('merge_requests').set({ updated_at: now }).where('id', '=', id).execute()
}

export async function listAutoMergeIds(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom('merge_requests')
    .select('id')
    .where('auto_merge_sha', 'is not', null)
    .where('state', '=', 'opened')
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Newest merge requests of a project whose text may mention an issue; the caller looks closer. */
export function listMentioning(db: Db, projectId: number, iid: number): Promise<MergeRequestRow[]> {
  const mention = `%#${iid}%`
  return mergeRequestQuery(db)
    .where('merge_requests.target_project_id', '=', projectId)
    .where((is) =>
      is.or([
        is('merge_requests.description', 'like', mention),
        is('merge_requests.title', 'like', mention),
      ]),
    )
    .orderBy('merge_requests.id', 'desc')
    .limit(100)
    .execute()
}

/** Merge requests of a project that have a commit, or made it by merging; newest first. */
export function listWithCommit(db: Db, projectId: number, sha: string): Promise<MergeRequestRow[]> {
  const found = sql<number>`(SELECT merge_request_id FROM merge_request_commits WHERE sha = ${sha}
    UNION SELECT id FROM merge_requests WHERE merge_commit_sha = ${sha}
    UNION SELECT id FROM merge_requests WHERE squash_commit_sha = ${sha})`
  return mergeRequestQuery(db)
    .where('merge_requests.id', 'in', found)
    .where(sql`+merge_requests.target_project_id`, '=', projectId)
    .orderBy('merge_requests.id', 'desc')
    .execute()
}

/** The merged merge requests of a project that some of these commits came with, newest first. */
export function listMergedWith(
  db: Db,
  projectId: number,
  shas: readonly string[],
): Promise<MergeRequestRow[]> {
  const among = sql`(SELECT value FROM json_each(${JSON.stringify(shas)}))`
  const found = sql<number>`(SELECT id FROM merge_requests WHERE merge_commit_sha IN ${among}
    UNION SELECT id FROM merge_requests WHERE squash_commit_sha IN ${among}
    UNION SELECT id FROM merge_requests WHERE merged_sha IN ${among})`
  return mergeRequestQuery(db)
    .where('merge_requests.id', 'in', found)
    .where(sql`+merge_requests.target_project_id`, '=', projectId)
    .where(sql`+merge_requests.state`, '=', 'merged')
    .orderBy('merge_requests.id', 'desc')
    .execute()
}

export async function clearRulesOverwritten(db: Db, projectId: number): Promise<void> {
  await db
    .updateTable('merge_requests')
    .set({ rules_overwritten: 0 })
    .where('target_project_id', '=', projectId)
    .where('state', '=', 'opened')
    .where('rules_overwritten', '=', 1)
    .execute()
}

/** Who moved a ref to a commit, the last time that it happened. */
export async function findMoverOf(
  db: Db,
  projectId: number,
  ref: string,
  newId: string,
): Promise<number | null> {
  const push = await db
    .selectFrom('ref_moves')
    .innerJoin('pushes', 'pushes.id', 'ref_moves.push_id')
    .select('pushes.user_id')
    .where('ref_moves.project_id', '=', projectId)
    .where('ref_moves.ref', '=', ref)
    .where('ref_moves.new_id', '=', newId)
    .orderBy('ref_moves.id', 'desc')
    .executeTakeFirst()
  return push?.user_id ?? null
}

/** When a merge request was first deployed to production; null when it was not yet. */
export async function firstDeployed(db: Db, id: number): Promise<string | null> {
  const row = await db
    .selectFrom('deployed_merge_requests as link')
    .innerJoin('deployments', 'deployments.id', 'link.deployment_id')
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .select((is) => is.fn.min<string | null>('deployments.finished_at').as('at'))
    .where('link.merge_request_id', '=', id)
    .where('deployments.status', '=', 'success')
    .where('environments.tier', '=', 'production')
    .executeTakeFirst()
  return row?.at ?? null
}

/** An open merge request into a project where somebody but its author has locked a file, and what it would bring. */
export interface AmongLocks {
  readonly id: number
  readonly author_id: number | null
  readonly target_project_id: number
  readonly base_sha: string
  readonly head_sha: string
}

/** Those of the merge requests that a lock may stand in the way of. */
export async function listAmongLocks(db: Db, ids: readonly number[]): Promise<AmongLocks[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<AmongLocks>`
    SELECT mr.id, mr.author_id, mr.target_project_id, v.base_sha, v.head_sha
    FROM merge_requests mr JOIN merge_request_versions v
      ON v.id = (SELECT max(id) FROM merge_request_versions WHERE merge_request_id = mr.id)
    WHERE mr.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))
      AND EXISTS (SELECT 1 FROM lfs_locks l WHERE l.project_id = mr.target_project_id
        AND l.user_id IS NOT mr.author_id)`.execute(db)
  return rows
}
