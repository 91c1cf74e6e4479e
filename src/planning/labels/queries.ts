import { type SqlBool, sql } from 'kysely'
import { seesGroup, seesLabels, type Viewer } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, Schema } from '../../store/schema.ts'
import { holdsText } from '../../store/search.ts'
import { ownerIn, type Place } from '../place.ts'

export interface LabelFilter {
  readonly search?: string | undefined
  readonly archived?: boolean | undefined
  readonly ancestors: boolean
  /** Those of the groups below too, as far as this viewer sees them. */
  readonly below?: Viewer | undefined
  /** Those of the projects of these groups too, as far as this viewer sees them. */
  readonly inProjects?: Viewer | undefined
}

function labelsAt(
  db: Db,
  place: Place,
  filter: Pick<LabelFilter, 'ancestors' | 'below' | 'inProjects'>,
) {
  const priorityProject = place.projectId ?? 0
  return db
    .selectFrom('labels')
    .leftJoin('label_priorities', (join) =>
      join
        .onRef('label_priorities.label_id', '=', 'labels.id')
        .on('label_priorities.project_id', '=', priorityProject),
    )
    .selectAll('labels')
    .select('label_priorities.priority')
    .where((where) =>
      where.or([
        ...(place.projectId === undefined
          ? []
          : [where('labels.project_id', '=', place.projectId)]),
        ...(place.projectId === undefined && !filter.ancestors
          ? [where('labels.group_id', '=', place.namespaceId)]
          : []),
        ...(filter.ancestors
          ? [where('labels.group_id', 'in', namespacesAbove(place.namespaceId))]
          : []),
        ...(filter.below ? [ofGroupsBelow(place, filter.below)] : []),
        ...(filter.inProjects
          ? [ofProjects(place, filter.inProjects, filter.below !== undefined)]
          : []),
      ]),
    )
}

function ofGroupsBelow(place: Place, viewer: Viewer) {
  return sql<SqlBool>`labels.group_id IN (
    SELECT namespaces.id FROM namespaces JOIN namespace_ancestors a ON a.namespace_id = namespaces.id
    WHERE a.ancestor_id = ${place.namespaceId} AND ${seesGroup(viewer)})`
}

function ofProjects(place: Place, viewer: Viewer, below: boolean) {
  const groups = below
    ? sql`SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = ${place.namespaceId}`
    : sql`${place.namespaceId}`
  return sql<SqlBool>`labels.project_id IN (SELECT projects.id FROM projects
    WHERE projects.namespace_id IN (${groups}) AND ${seesLabels(viewer)})`
}

export function listLabelRows(db: Db, place: Place, filter: LabelFilter, page: OffsetPage) {
  let query = labelsAt(db, place, filter)
  if (filter.archived !== undefined)
    query = query.where('labels.archived', '=', filter.archived ? 1 : 0)
  if (filter.search) {
    query = query.where(holdsText(filter.search, ['labels.title', 'labels.description']))
  }
  return listPage(db, query.orderBy('labels.title').orderBy('labels.id'), page)
}

/** A label by number (all digits) or by its exact title; in a project its own wins over a group's. */
export async function findLabel(db: Db, place: Place, idOrTitle: string, ancestors: boolean) {
  const query = labelsAt(db, place, { ancestors })
    .orderBy(sql`labels.project_id IS NULL`)
    .orderBy('labels.id')
  if (/^\d{1,15}$/.test(idOrTitle)) {
    const row = await query.where('labels.id', '=', Number(idOrTitle)).executeTakeFirst()
    if (row) return row
  }
  return query.where('labels.title', '=', idOrTitle).executeTakeFirst()
}

export async function listLabelsById(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db.selectFrom('labels').selectAll().where('id', 'in', ids).execute()
}

/** The labels of these titles that a project knows, its own before its groups'. */
export function listLabelsByTitle(db: Db, place: Place, titles: readonly string[]) {
  return labelsAt(db, place, { ancestors: true })
    .where('labels.title', 'in', titles)
    .orderBy(sql`labels.project_id IS NULL`)
    .orderBy('labels.id')
    .execute()
}

export function insertLabel(
  db: Db,
  place: Place,
  label: Pick<NewRowOf<'labels'>, 'title' | 'color' | 'description' | 'archived'>,
  now: Instant,
) {
  return db
    .insertInto('labels')
    .values({
      ...ownerIn(place),
      ...label,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateLabel(db: Db, id: number, changes: ChangesOf<'labels'>, now: Instant) {
  return db
    .updateTable('labels')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteLabel(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('labels').where('id', '=', id))
}

/** Sets the label's place in the project's order of importance; null takes it out. */
export async function savePriority(
  db: Db,
  projectId: number,
  labelId: number,
  priority: number | null,
): Promise<void> {
  if (priority === null) {
    await db
      .deleteFrom('label_priorities')
      .where('project_id', '=', projectId)
      .where('label_id', '=', labelId)
      .execute()
    return
  }
  await db
    .insertInto('label_priorities')
    .values({ project_id: projectId, label_id: labelId, priority })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'label_id']).doUpdateSet({ priority }),
    )
    .execute()
}

/** The label of a title that is a group's own. */
export function findGroupLabel(db: Db, groupId: number, title: string) {
  return db
    .selectFrom('labels')
    .selectAll()
    .where('group_id', '=', groupId)
    .where('title', '=', title)
    .executeTakeFirst()
}

/** Project labels of a title in the projects below a group, for promotion. */
export function listProjectLabelsBelow(db: Db, groupId: number, title: string) {
  return db
    .selectFrom('labels')
    .innerJoin('projects', 'projects.id', 'labels.project_id')
    .innerJoin('namespace_ancestors', 'namespace_ancestors.namespace_id', 'projects.namespace_id')
    .select('labels.id')
    .where('namespace_ancestors.ancestor_id', '=', groupId)
    .where('labels.title', '=', title)
    .execute()
}

export type LabelSubject = Schema['label_links']['subject_type']

/** Labels of many subjects at once, each with the subject's id, by title. */
export async function listLabelsOf(db: Db, type: LabelSubject, subjectIds: readonly number[]) {
  if (subjectIds.length === 0) return []
  return db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .selectAll('labels')
    .select('label_links.subject_id')
    .where('label_links.subject_type', '=', type)
    .where('label_links.subject_id', 'in', subjectIds)
    .orderBy('labels.title')
    .execute()
}

export async function linkLabels(
  db: Db,
  type: LabelSubject,
  subjectId: number,
  labelIds: readonly number[],
): Promise<void> {
  if (labelIds.length === 0) return
  await db
    .insertInto('label_links')
    .values(labelIds.map((id) => ({ subject_type: type, subject_id: subjectId, label_id: id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function unlinkLabels(
  db: Db,
  type: LabelSubject,
  subjectId: number,
  labelIds: readonly number[],
): Promise<void> {
  if (labelIds.length === 0) return
  await db
    .deleteFrom('label_links')
    .where('subject_type', '=', type)
    .where('subject_id', '=', subjectId)
    .where('label_id', 'in', labelIds)
    .execute()
}
