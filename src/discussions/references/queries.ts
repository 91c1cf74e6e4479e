import { type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { hasProjectRole, seesFeature, type Viewer } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'
import type { NoteScope } from '../notes/noteable.ts'

/** Active users of these names. */
export async function listUsersByName(db: Db, names: readonly string[]) {
  if (names.length === 0) return []
  return db
    .selectFrom('users')
    .select(['id', 'username', 'admin', 'external'])
    .where('username', 'in', names)
    .where('state', '=', 'active')
    .execute()
}

/** Active people of the groups of these paths, or of groups above them, as long as the groups let themselves be mentioned. */
export async function listMembersOfGroups(db: Db, paths: readonly string[], today: string) {
  if (paths.length === 0) return []
  return db
    .selectFrom('namespaces as g')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'g.id')
    .innerJoin('members as m', (join) =>
      join.onRef('m.source_id', '=', 'a.ancestor_id').on('m.source_type', '=', 'group'),
    )
    .innerJoin('users', 'users.id', 'm.user_id')
    .select(['users.id', 'users.username', 'users.admin', 'users.external'])
    .distinct()
    .where('g.kind', '=', 'group')
    .where('g.full_path', 'in', paths)
    .where(sql<SqlBool>`coalesce(json_extract(g.settings, '$.mentions_disabled'), 0) = 0`)
    .where('m.state', '=', 'active')
    .where('m.requested_at', 'is', null)
    .where(sql<SqlBool>`(m.expires_at IS NULL OR m.expires_at > ${today})`)
    .where('users.state', '=', 'active')
    .limit(200)
    .execute()
}

/** Whether a user may see what a text stands on. */
export async function isSubjectSeen(
  db: Db,
  viewer: Viewer,
  subject: Omit<NoteScope, 'commitId'>,
): Promise<boolean> {
  const projects = db
    .selectFrom('projects')
    .select('projects.id')
    .where('projects.id', '=', subject.projectId)
    .where('projects.pending_delete', '=', 0)
  const query =
    subject.type === 'Issue'
      ? projects
          .innerJoin('issues', 'issues.project_id', 'projects.id')
          .where('issues.id', '=', subject.id)
          .where(seesIssue(viewer))
      : projects.where(featureOf[subject.type](viewer))
  return (await query.executeTakeFirst()) !== undefined
}

const featureOf = {
  MergeRequest: (viewer: Viewer) => seesFeature(viewer, 'merge_requests', Role.planner),
  Commit: (viewer: Viewer) => seesFeature(viewer, 'repository', Role.planner),
  Alert: (viewer: Viewer) => hasProjectRole(viewer.userId ?? 0, viewer.today, Role.developer),
  Snippet: (viewer: Viewer) => seesFeature(viewer, 'snippets', Role.guest),
}

export async function isCommitOfMergeRequest(db: Db, id: number, sha: string): Promise<boolean> {
  const row = await db
    .selectFrom('merge_request_commits')
    .select('sha')
    .where('merge_request_id', '=', id)
    .where('sha', '=', sha)
    .executeTakeFirst()
  return row !== undefined
}

export type Source = Omit<NewRowOf<'cross_references'>, 'note_id'>

/** Whether something says already that it was mentioned there. */
export async function isCrossReferenced(
  db: Db,
  source: Source,
  target: NoteScope,
): Promise<boolean> {
  let query = db
    .selectFrom('cross_references as x')
    .innerJoin('notes', 'notes.id', 'x.note_id')
    .select('x.note_id')
    .where('x.source_project_id', '=', source.source_project_id)
    .where('x.source_type', '=', source.source_type)
    .where('notes.noteable_type', '=', target.type)
    .where('notes.system_action', '=', 'cross_reference')
  query =
    source.source_type === 'Commit'
      ? query.where('x.source_commit', '=', source.source_commit ?? '')
      : query.where('x.source_id', '=', source.source_id ?? 0)
  query =
    target.id === null
      ? query
          .where('notes.commit_id', '=', target.commitId)
          .where('notes.project_id', '=', target.projectId)
      : query.where('notes.noteable_id', '=', target.id)
  return (await query.executeTakeFirst()) !== undefined
}

export async function insertCrossReference(
  db: Db,
  row: NewRowOf<'cross_references'>,
): Promise<void> {
  await db.insertInto('cross_references').values(row).execute()
}

/** Notes down that these people are mentioned, once each. */
export async function insertMentions(
  db: Db,
  subject: { readonly type: 'Issue' | 'MergeRequest'; readonly id: number },
  userIds: readonly number[],
  now: Instant,
): Promise<void> {
  if (userIds.length === 0) return
  const rows = userIds.map((id) => ({
    subject_type: subject.type,
    subject_id: subject.id,
    user_id: id,
    created_at: now,
  }))
  await db
    .insertInto('mentions')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Who is mentioned on an issue or merge request, by when they were. */
export async function listMentioned(
  db: Db,
  type: 'Issue' | 'MergeRequest',
  id: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('mentions')
    .select('user_id')
    .where('subject_type', '=', type)
    .where('subject_id', '=', id)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute()
  return rows.map((row) => row.user_id)
}
