import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { seesFeature, type Viewer } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { COUNTED_ROWS } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { countUpTo, listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'
import type { NoteScope } from './noteable.ts'

export interface NoteFilter {
  /** Internal notes are shown. */
  readonly internal: boolean
  /** Notes that say where something was mentioned are left out unless this reader sees that place. */
  readonly viewer?: Viewer | undefined
  readonly activity?: 'all_notes' | 'only_comments' | 'only_activity' | undefined
}

function notesOf(db: Db, scope: NoteScope, filter: NoteFilter) {
  let query = db
    .selectFrom('notes')
    .selectAll('notes')
    .where('notes.noteable_type', '=', scope.type)
  query =
    scope.id === null
      ? query
          .where('notes.commit_id', '=', scope.commitId)
          .where('notes.project_id', '=', scope.projectId)
      : query.where('notes.noteable_id', '=', scope.id)
  if (!filter.internal) query = query.where('notes.internal', '=', 0)
  if (filter.viewer) query = query.where(seesSource(filter.viewer))
  if (filter.activity === 'only_comments') query = query.where('notes.system', '=', 0)
  if (filter.activity === 'only_activity') query = query.where('notes.system', '=', 1)
  return query
}

/** Whether the viewer sees what the row of `notes` that a query is at mentions (docs/contract/B-resolved §11.3 cross_reference). */
function seesSource(viewer: Viewer): RawBuilder<SqlBool> {
  return sql<SqlBool>`(notes.system = 0 OR NOT EXISTS (SELECT 1 FROM cross_references x WHERE x.note_id = notes.id)
    OR EXISTS (SELECT 1 FROM cross_references x JOIN projects ON projects.id = x.source_project_id
      AND projects.pending_delete = 0
    WHERE x.note_id = notes.id AND CASE x.source_type
      WHEN 'Issue' THEN EXISTS (SELECT 1 FROM issues WHERE issues.id = x.source_id AND ${seesIssue(viewer)})
      WHEN 'MergeRequest' THEN ${seesFeature(viewer, 'merge_requests', Role.planner)}
      ELSE ${seesFeature(viewer, 'repository', Role.planner)} END))`
}

export function listNoteRows(
  db: Db,
  scope: NoteScope,
  filter: NoteFilter & {
    readonly orderBy: 'created_at' | 'updated_at'
    readonly sort: 'asc' | 'desc'
  },
  page: OffsetPage,
) {
  const query = notesOf(db, scope, filter)
    .orderBy(`notes.${filter.orderBy}`, filter.sort)
    .orderBy('notes.id', filter.sort)
  return listPage(db, query, page)
}

/** One page of threads by their first note, as ids. */
export async function listDiscussionIds(
  db: Db,
  scope: NoteScope,
  filter: NoteFilter,
  page: OffsetPage,
) {
  const query = notesOf(db, scope, filter)
    .clearSelect()
    .select(['notes.discussion_id'])
    .select((expression) => expression.fn.min('notes.id').as('first'))
    .groupBy('notes.discussion_id')
  const rows = await query.orderBy('first').limit(page.perPage).offset(page.offset).execute()
  const total = await countUpTo(db, query, COUNTED_ROWS + 1)
  return {
    ids: rows.map((row) => row.discussion_id),
    total: total > COUNTED_ROWS ? undefined : total,
  }
}

/** Notes of threads, oldest first. */
export async function listNotesOfDiscussions(
  db: Db,
  scope: NoteScope,
  filter: NoteFilter,
  ids: readonly string[],
) {
  if (ids.length === 0) return []
  return notesOf(db, scope, filter)
    .where('notes.discussion_id', 'in', ids)
    .orderBy('notes.id')
    .execute()
}

export function findNote(db: Db, scope: NoteScope, id: number, filter: NoteFilter) {
  return notesOf(db, scope, filter).where('notes.id', '=', id).executeTakeFirst()
}

/** Notes of one noteable, counted up to a limit. */
export async function countNotesOf(db: Db, scope: NoteScope, most: number): Promise<number> {
  return countUpTo(
    db,
    notesOf(db, scope, { internal: true }).clearSelect().select('notes.id'),
    most,
  )
}

type NewNote = Omit<
  NewRowOf<'notes'>,
  'noteable_type' | 'noteable_id' | 'project_id' | 'original_position' | 'updated_at'
>

export function insertNote(db: Db, scope: NoteScope, note: NewNote) {
  return db
    .insertInto('notes')
    .values({
      noteable_type: scope.type,
      noteable_id: scope.id,
      project_id: scope.projectId,
      ...note,
      original_position: note.position ?? null,
      updated_at: note.created_at,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateNote(db: Db, id: number, changes: ChangesOf<'notes'>, now: Instant) {
  return db
    .updateTable('notes')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Resolves or reopens every resolvable note of a thread that is not in that state yet. */
export async function resolveNotes(
  db: Db,
  discussionId: string,
  resolved: { readonly at: Instant; readonly by: number } | null,
): Promise<number> {
  const result = await db
    .updateTable('notes')
    .set({ resolved_at: resolved?.at ?? null, resolved_by_id: resolved?.by ?? null })
    .where('discussion_id', '=', discussionId)
    .where('resolvable', '=', 1)
    .where('resolved_at', resolved ? 'is' : 'is not', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

export async function deleteNote(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('notes').where('id', '=', id))
}

/** Users who wrote comments on a noteable, by their first. */
export async function listNoteAuthors(db: Db, scope: NoteScope): Promise<number[]> {
  const rows = await notesOf(db, scope, { internal: false })
    .clearSelect()
    .select('notes.author_id')
    .where('notes.system', '=', 0)
    .where('notes.author_id', 'is not', null)
    .groupBy('notes.author_id')
    .orderBy(sql`min(notes.id)`)
    .execute()
  return rows.flatMap((row) => row.author_id ?? [])
}

/** Every comment of a noteable, oldest first; system notes are not among them. */
export function listAllNotes(db: Db, scope: NoteScope) {
  return notesOf(db, scope, { internal: true, activity: 'only_comments' })
    .orderBy('notes.id')
    .execute()
}

/** Where a comment stands now; where it was made is kept in `original_position`. */
export async function updatePosition(
  db: Db,
  id: number,
  position: string,
  lineCode: string,
): Promise<void> {
  await db
    .updateTable('notes')
    .set({ position, line_code: lineCode })
    .where('id', '=', id)
    .execute()
}

/** Threads with a resolvable note that is not resolved, oldest first. */
export async function listUnresolved(
  db: Db,
  scope: NoteScope,
  filter: NoteFilter,
): Promise<string[]> {
  const rows = await notesOf(db, scope, filter)
    .clearSelect()
    .select('notes.discussion_id')
    .where('notes.resolvable', '=', 1)
    .where('notes.resolved_at', 'is', null)
    .groupBy('notes.discussion_id')
    .orderBy(sql`min(notes.id)`)
    .execute()
  return rows.map((row) => row.discussion_id)
}
