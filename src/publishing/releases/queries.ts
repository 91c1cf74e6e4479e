import { sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { seesFeature, type Viewer } from '../../access/visible-queries.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'

export interface ReleaseFilter {
  readonly orderBy: 'released_at' | 'created_at'
  readonly sort: 'asc' | 'desc'
  readonly updatedBefore?: string | undefined
  readonly updatedAfter?: string | undefined
}

export function listReleaseRows(
  db: Db,
  projectId: number,
  filter: ReleaseFilter,
  page: OffsetPage,
) {
  let query = db.selectFrom('releases').selectAll().where('project_id', '=', projectId)
  if (filter.updatedBefore) query = query.where('updated_at', '<=', filter.updatedBefore)
  if (filter.updatedAfter) query = query.where('updated_at', '>=', filter.updatedAfter)
  return listPage(db, query.orderBy(filter.orderBy, filter.sort).orderBy('id', filter.sort), page)
}

/** Releases of the projects of a group and below it, as far as the viewer sees them. */
export function listGroupReleaseRows(
  db: Db,
  viewer: Viewer,
  groupId: number,
  filter: ReleaseFilter,
  page: OffsetPage,
) {
  const query = db
    .selectFrom('releases')
    .innerJoin('projects', 'projects.id', 'releases.project_id')
    .selectAll('releases')
    .where('projects.pending_delete', '=', 0)
    .where('projects.namespace_id', 'in', namespacesBelow(groupId))
    .where(seesFeature(viewer, 'releases', Role.minimal))
    .orderBy(`releases.${filter.orderBy}`, filter.sort)
    .orderBy('releases.id', filter.sort)
  return listPage(db, query, page)
}

export function findRelease(db: Db, projectId: number, tag: string) {
  return db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('tag', '=', tag)
    .executeTakeFirst()
}

export type ReleaseRow = NonNullable<Awaited<ReturnType<typeof findRelease>>>

/** The newest release that is out at `now`. */
export function findLatestRelease(db: Db, projectId: number, now: string) {
  return db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('released_at', '<=', now)
    .orderBy('released_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/** The tags of all releases that are out at `now`. */
export async function listReleasedTags(
  db: Db,
  projectId: number,
  now: string,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('releases')
    .select('tag')
    .where('project_id', '=', projectId)
    .where('released_at', '<=', now)
    .execute()
  return rows.map(({ tag }) => tag)
}

export function insertRelease(db: Db, values: NewRowOf<'releases'>): Promise<ReleaseRow> {
  return db.insertInto('releases').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updateRelease(
  db: Db,
  id: number,
  changes: ChangesOf<'releases'>,
): Promise<ReleaseRow> {
  return db
    .updateTable('releases')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteRelease(db: Db, id: number): Promise<void> {
  await db.deleteFrom('releases').where('id', '=', id).execute()
}

export async function listLinksOf(db: Db, releaseIds: readonly number[]) {
  if (releaseIds.length === 0) return []
  return db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', 'in', releaseIds)
    .orderBy('id', 'desc')
    .execute()
}

export function listLinkRows(db: Db, releaseId: number, page: OffsetPage) {
  const query = db.selectFrom('release_links').selectAll().where('release_id', '=', releaseId)
  return listPage(db, query.orderBy('id', 'desc'), page)
}

export function findLink(db: Db, releaseId: number, id: number) {
  return db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', '=', releaseId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function insertLink(db: Db, values: NewRowOf<'release_links'>) {
  return db.insertInto('release_links').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updateLink(db: Db, id: number, changes: ChangesOf<'release_links'>) {
  return db
    .updateTable('release_links')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteLink(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('release_links').where('id', '=', id))
}

/** Makes these the milestones of a release. */
export async function saveMilestones(
  db: Db,
  releaseId: number,
  milestoneIds: readonly number[],
): Promise<void> {
  await db.deleteFrom('release_milestones').where('release_id', '=', releaseId).execute()
  if (milestoneIds.length === 0) return
  const rows = milestoneIds.map((id) => ({
    release_id: releaseId,
    milestone_id: id,
  }))
  await db.insertInto('release_milestones').values(rows).execute()
}

/** Milestones of releases, with how many issues that the viewer sees each has and has closed. */
export async function listMilestonesOf(db: Db, viewer: Viewer, releaseIds: readonly number[]) {
  if (releaseIds.length === 0) return []
  const issues = sql`FROM issues JOIN projects ON projects.id = issues.project_id
    WHERE issues.milestone_id = release_milestones.milestone_id AND ${seesIssue(viewer)}`
  return db
    .selectFrom('release_milestones')
    .select(['release_id', 'milestone_id'])
    .select(sql<number>`(SELECT count(*) ${issues})`.as('total'))
    .select(sql<number>`(SELECT count(*) ${issues} AND issues.state = 'closed')`.as('closed'))
    .where('release_id', 'in', releaseIds)
    .orderBy('milestone_id')
    .execute()
}
