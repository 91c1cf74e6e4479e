import { isGroupMember, isProjectMember } from '../../access/members.ts'
import type { Source } from '../../access/sources.ts'
import { badRequest, existing, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { listLabelsByTitle } from '../labels/queries.ts'
import { usableLabel } from '../labels/verbs.ts'
import { findUsableMilestone } from '../milestones/queries.ts'
import { ownerIn, placeOf } from '../place.ts'
import {
  type BoardRow,
  deleteList,
  findBoard,
  insertBoard,
  insertList,
  type ListRow,
  listListsOf,
  saveBoardLabels,
  saveListOrder,
  updateBoard,
} from './queries.ts'

export interface BoardChanges {
  readonly name?: string | undefined
  readonly hide_backlog_list?: boolean | undefined
  readonly hide_closed_list?: boolean | undefined
  readonly assignee_id?: number | null | undefined
  readonly milestone_id?: number | null | undefined
  readonly labels?: readonly string[] | undefined
  readonly weight?: number | null | undefined
}

/** What a list stands for; exactly one is given. */
export interface ListSubject {
  readonly label_id?: number | undefined
  readonly assignee_id?: number | undefined
  readonly milestone_id?: number | undefined
}

export async function getBoard(ctx: Ctx, owner: Source, id: number): Promise<BoardRow> {
  return existing(await findBoard(ctx.db, owner, id), 'Board')
}

function checkedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '') throw invalid({ name: ["can't be blank"] })
  return trimmed
}

export async function createBoard(ctx: Ctx, owner: Source, name: string): Promise<BoardRow> {
  const now = ctx.now()
  return insertBoard(ctx.db, {
    ...ownerIn(placeOf(owner)),
    name: checkedName(name),
    created_at: now,
    updated_at: now,
  })
}

/** Changes what is given; null and 0 clear, unknown labels are left out. */
export async function changeBoard(
  ctx: Ctx,
  owner: Source,
  row: BoardRow,
  changes: BoardChanges,
): Promise<BoardRow> {
  return inTransaction(ctx, async (ctx) => {
    const { name, labels, milestone_id: milestone, assignee_id: assignee, ...rest } = changes
    if (labels) {
      const known = await listLabelsByTitle(ctx.db, placeOf(owner), labels)
      await saveBoardLabels(
        ctx.db,
        row.id,
        known.map((label) => label.id),
      )
    }
    return updateBoard(ctx.db, row.id, {
      ...rest,
      name: name === undefined ? undefined : checkedName(name),
      milestone_id: milestone === undefined ? undefined : await milestoneOf(ctx, owner, milestone),
      assignee_id: assignee === undefined ? undefined : await userOrNull(ctx, assignee),
      updated_at: ctx.now(),
    })
  })
}

async function milestoneOf(ctx: Ctx, owner: Source, id: number | null): Promise<number | null> {
  if (!id) return null
  return (await findUsableMilestone(ctx.db, placeOf(owner), id))?.id ?? null
}

/** Whoever exists may be whose issues a board shows, also before that person is a member. */
async function userOrNull(ctx: Ctx, id: number | null): Promise<number | null> {
  return id && (await usersById(ctx, [id])).has(id) ? id : null
}

async function memberOf(ctx: Ctx, owner: Source, id: number | null): Promise<number | null> {
  if (!id) return null
  const isMember =
    owner.type === 'project'
      ? await isProjectMember(ctx, id, owner)
      : await isGroupMember(ctx, id, owner.id)
  return isMember ? id : null
}

/** Adds a list behind the others. */
export async function addList(
  ctx: Ctx,
  owner: Source,
  board: BoardRow,
  subject: ListSubject,
): Promise<ListRow> {
  await assertKnown(ctx, owner, subject)
  return inTransaction(ctx, async (ctx) => {
    const position = (await listListsOf(ctx.db, [board.id])).length
    const now = ctx.now()
    const values = { board_id: board.id, ...subject, position, created_at: now, updated_at: now }
    const uniques = {
      'board_lists.label_id, board_lists.board_id': () => taken('label'),
      'board_lists.assignee_id, board_lists.board_id': () => taken('assignee'),
      'board_lists.milestone_id, board_lists.board_id': () => taken('milestone'),
    }
    return uniquely(uniques, () => insertList(ctx.db, values))
  })
}

async function assertKnown(ctx: Ctx, owner: Source, subject: ListSubject): Promise<void> {
  const { label_id: label, assignee_id: assignee, milestone_id: milestone } = subject
  if (label !== undefined && !(await usableLabel(ctx, placeOf(owner), label)))
    throw badRequest('Label not found!')
  if (assignee !== undefined && (await memberOf(ctx, owner, assignee)) === null)
    throw badRequest('User not found!')
  if (milestone !== undefined && (await milestoneOf(ctx, owner, milestone)) === null)
    throw badRequest('Milestone not found!')
}

export async function getList(ctx: Ctx, board: BoardRow, id: number): Promise<ListRow> {
  const row = (await listListsOf(ctx.db, [board.id])).find((one) => one.id === id)
  if (!row) throw notFound('List')
  return row
}

/** Moves a list to a place among the lists of its board. */
export async function moveList(
  ctx: Ctx,
  board: BoardRow,
  id: number,
  to: number,
): Promise<ListRow> {
  await inTransaction(ctx, async (ctx) => {
    const ids = (await listListsOf(ctx.db, [board.id])).map((row) => row.id)
    if (!ids.includes(id)) throw notFound('List')
    if (to < 0 || to >= ids.length) throw invalid({ position: ['is not included in the list'] })
    const others = ids.filter((one) => one !== id)
    others.splice(to, 0, id)
    await saveListOrder(ctx.db, others)
  })
  return getList(ctx, board, id)
}

export async function removeList(ctx: Ctx, board: BoardRow, id: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const ids = (await listListsOf(ctx.db, [board.id])).map((row) => row.id)
    if (!ids.includes(id)) throw notFound('List')
    await deleteList(ctx.db, id)
    const left = ids.filter((one) => one !== id)
    await saveListOrder(ctx.db, left)
  })
}
