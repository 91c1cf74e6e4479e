import { type SqlBool, sql } from 'kysely'
import { seesGroup, seesLabels, type Viewer } from '../../access/visible-queries.ts'
import type { Day, Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'
import { holdsText } from '../../store/search.ts'
import { ownerIn, type Place } from '../place.ts'

export interface MilestoneFilter {
  readonly iids?: readonly number[] | undefined
  readonly state?: 'active' | 'closed' | undefined
  readonly title?: string | undefined
  readonly search?: string | undefined
  readonly ancestors: boolean
  /** Those below the group too, as far as this viewer sees them. */
  readonly below?: Viewer | undefined
  readonly updatedBefore?: Instant | undefined
  readonly updatedAfter?: Instant | undefined
  readonly containing?: Day | undefined
}

function milestoneQuery(db: Db) {
  return db
    .selectFrom('milestones')
    .leftJoin('projects', 'projects.id', 'milestones.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'milestones.group_id')
    .selectAll('milestones')
    .select(sql<string>`coalesce(projects.full_path, namespaces.full_path)`.as('owner_path'))
}

function milestonesAt(db: Db, place: Place, ancestors: boolean, viewer?: Viewer) {
  return milestoneQuery(db).where((where) => {
    const own =
      place.projectId === undefined
        ? where('milestones.group_id', '=', place.namespaceId)
        : where('milestones.project_id', '=', place.projectId)
    const above = where('milestones.group_id', 'in', namespacesAbove(place.namespaceId))
    return where.or([
      own,
      ...(ancestors ? [above] : []),
      ...(viewer ? [ofGroupsBelow(place, viewer), ofProjectsBelow(place, viewer)] : []),
    ])
  })
}

function ofGroupsBelow(place: Place, viewer: Viewer) {
  return sql<SqlBool>`milestones.group_id IN (
    SELECT namespaces.id FROM namespaces JOIN namespace_ancestors a ON a.namespace_id = namespaces.id
    WHERE a.ancestor_id = ${place.namespaceId} AND ${seesGroup(viewer)})`
}

function ofProjectsBelow(place: Place, viewer: Viewer) {
  return sql<SqlBool>`milestones.project_id IN (
    SELECT projects.id FROM projects JOIN namespace_ancestors a ON a.namespace_id = projects.namespace_id
    WHERE a.ancestor_id = ${place.namespaceId} AND ${seesLabels(viewer)})`
}

export function listMilestoneRows(db: Db, place: Place, filter: MilestoneFilter, page: OffsetPage) {
  let query = milestonesAt(db, place, filter.ancestors, filter.below)
  if (filter.iids) query = query.where('milestones.iid', 'in', filter.iids)
  if (filter.state) query = query.where('milestones.state', '=', filter.state)
  if (filter.title !== undefined) query = query.where('milestones.title', '=', filter.title)
  if (filter.updatedAfter) query = query.where('milestones.updated_at', '>=', filter.updatedAfter)
  if (filter.updatedBefore) query = query.where('milestones.updated_at', '<=', filter.updatedBefore)
  if (filter.search) {
    query = query.where(holdsText(filter.search, ['milestones.title', 'milestones.description']))
  }
  if (filter.containing) {
    const day = filter.containing
    query = query.where(
      sql<boolean>`(coalesce(milestones.start_date, milestones.due_date) <= ${day}
        AND coalesce(milestones.due_date, milestones.start_date) >= ${day})`,
    )
  }
  // Soonest due first, those without a date last.
  const ordered = query
    .orderBy(sql`milestones.due_date IS NULL`)
    .orderBy('milestones.due_date')
    .orderBy('milestones.id')
  return listPage(db, ordered, page)
}

/** Milestones of a title in the projects below a group. */
export function listProjectMilestonesBelow(db: Db, groupId: number, title: string) {
  return milestoneQuery(db)
    .innerJoin('namespace_ancestors', 'namespace_ancestors.namespace_id', 'projects.namespace_id')
    .where('namespace_ancestors.ancestor_id', '=', groupId)
    .where('milestones.title', '=', title)
    .execute()
}

/** A milestone of exactly this project or group. */
export function findMilestone(db: Db, place: Place, id: number) {
  return milestonesAt(db, place, false).where('milestones.id', '=', id).executeTakeFirst()
}

export function findNewestMilestone(db: Db, projectId: number) {
  return milestoneQuery(db)
    .where('milestones.project_id', '=', projectId)
    .orderBy('milestones.id', 'desc')
    .executeTakeFirst()
}

/** A milestone that a project may use: its own, or one of a group above it. */
export function findUsableMilestone(db: Db, place: Place, id: number) {
  return milestonesAt(db, place, true).where('milestones.id', '=', id).executeTakeFirst()
}

export function listMilestonesByTitle(db: Db, place: Place, titles: readonly string[]) {
  return milestonesAt(db, place, true).where('milestones.title', 'in', titles).execute()
}

export async function listMilestonesById(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return milestoneQuery(db).where('milestones.id', 'in', ids).execute()
}

export async function insertMilestone(
  db: Db,
  place: Place,
  values: Omit<NewRowOf<'milestones'>, 'created_at' | 'updated_at'>,
  now: Instant,
): Promise<number> {
  const row = await db
    .insertInto('milestones')
    .values({ ...ownerIn(place), ...values, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

export async function updateMilestone(
  db: Db,
  id: number,
  changes: ChangesOf<'milestones'>,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('milestones')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteMilestone(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('milestones').where('id', '=', id))
}
