import { sql } from 'kysely'
import type { Source } from '../../access/sources.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type BoardRow = RowOf<'boards'>
export type ListRow = RowOf<'board_lists'>

function boardsOf(db: Db, owner: Source) {
  const query = db.selectFrom('boards').selectAll()
  return query.where(owner.type === 'project' ? 'project_id' : 'group_id', '=', owner.id)
}

export function listBoardRows(db: Db, owner: Source, page: OffsetPage) {
  return listPage(db, boardsOf(db, owner).orderBy(sql`lower(name)`).orderBy('id'), page)
}

export function findBoard(db: Db, owner: Source, id: number): Promise<BoardRow | undefined> {
  return boardsOf(db, owner).where('id', '=', id).executeTakeFirst()
}

export function insertBoard(db: Db, values: NewRowOf<'boards'>): Promise<BoardRow> {
  return db.insertInto('boards').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updateBoard(db: Db, id: number, changes: ChangesOf<'boards'>): Promise<BoardRow> {
  return db
    .updateTable('boards')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteBoard(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('boards').where('id', '=', id))
}

export async function saveBoardLabels(
  db: Db,
  boardId: number,
  labelIds: readonly number[],
): Promise<void> {
  await db.deleteFrom('board_labels').where('board_id', '=', boardId).execute()
  if (labelIds.length === 0) return
  const rows = labelIds.map((label_id) => ({ board_id: boardId, label_id }))
  await db.insertInto('board_labels').values(rows).execute()
}

/** The labels that boards show only issues of, with the board that each belongs to. */
export async function listLabelsOfBoards(db: Db, boardIds: readonly number[]) {
  if (boardIds.length === 0) return []
  return db
    .selectFrom('board_labels')
    .innerJoin('labels', 'labels.id', 'board_labels.label_id')
    .selectAll('labels')
    .select('board_labels.board_id')
    .where('board_labels.board_id', 'in', boardIds)
    .orderBy('labels.title')
    .execute()
}

export async function listListsOf(db: Db, boardIds: readonly number[]): Promise<ListRow[]> {
  if (boardIds.length === 0) return []
  return db
    .selectFrom('board_lists')
    .selectAll()
    .where('board_id', 'in', boardIds)
    .orderBy('position')
    .orderBy('id')
    .execute()
}

export function insertList(db: Db, values: NewRowOf<'board_lists'>): Promise<ListRow> {
  return db.insertInto('board_lists').values(values).returningAll().executeTakeFirstOrThrow()
}

/** Puts the lists of a board into this order. */
export async function saveListOrder(db: Db, ids: readonly number[]): Promise<void> {
  for (const [position, id] of ids.entries()) {
    await db.updateTable('board_lists').set({ position }).where('id', '=', id).execute()
  }
}

export async function deleteList(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('board_lists').where('id', '=', id))
}
