import { z } from 'zod'
import { onEither, type Source } from '../../access/sources.ts'
import { existing } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, exactlyOne, flag, integer, text } from '../../http/params.ts'
import { onBoard, onBoardList } from './access.ts'
import { boardEntity, listEntity, presentBoards, presentLists } from './entity.ts'
import { type BoardRow, deleteBoard, listBoardRows, listListsOf } from './queries.ts'
import { addList, changeBoard, createBoard, type getList, moveList, removeList } from './verbs.ts'

const path = '/:source/:id/boards'
const one = '/:source/:id/boards/:board_id'
const lists = '/:source/:id/boards/:board_id/lists'
const list = '/:source/:id/boards/:board_id/lists/:list_id'
const settings = {
  hide_backlog_list: flag().optional(),
  hide_closed_list: flag().optional(),
  assignee_id: integer().nullish(),
  milestone_id: integer().nullish(),
  labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  weight: integer({ min: 0 }).nullish(),
}

async function presentBoard(ctx: Ctx, owner: Source, row: BoardRow) {
  const [board] = await presentBoards(ctx, owner, [row])
  return existing(board, 'Board')
}

async function presentList(ctx: Ctx, row: Awaited<ReturnType<typeof getList>>) {
  const [list] = await presentLists(ctx, [row])
  return existing(list, 'List')
}

export const listBoards = endpoint({
  method: 'GET',
  path,
  summary: 'List the issue boards of a project or group',
  access: onEither('read_issues'),
  paginate: 'offset',
  response: z.array(boardEntity),
  async handler({ ctx, source, page }) {
    const rows = await listBoardRows(ctx.db, source, page)
    return { ...rows, items: await presentBoards(ctx, source, rows.items) }
  },
})

export const getOneBoard = endpoint({
  method: 'GET',
  path: one,
  summary: 'Get an issue board of a project or group',
  access: onBoard(),
  response: boardEntity,
  handler: ({ ctx, source, board }) => presentBoard(ctx, source, board),
})

export const addBoard = endpoint({
  method: 'POST',
  path,
  summary: 'Create an issue board in a project or group',
  access: onEither('admin_board'),
  body: { name: text({ max: 255 }) },
  response: boardEntity,
  handler: async ({ ctx, source, body }) =>
    presentBoard(ctx, source, await createBoard(ctx, source, body.name)),
})

export const updateBoard = endpoint({
  method: 'PUT',
  path: one,
  summary: 'Change an issue board of a project or group',
  access: onBoard('admin_board'),
  body: { name: text({ max: 255 }).optional(), ...settings },
  response: boardEntity,
  handler: async ({ ctx, source, board, body }) =>
    presentBoard(ctx, source, await changeBoard(ctx, source, board, body)),
})

export const removeBoard = endpoint({
  method: 'DELETE',
  path: one,
  summary: 'Delete an issue board of a project or group',
  access: onBoard('admin_board'),
  handler({ ctx, board, request }) {
    assertUnmodifiedSince(request, board.updated_at)
    return deleteBoard(ctx.db, board.id)
  },
})

export const listBoardLists = endpoint({
  method: 'GET',
  path: lists,
  summary: 'List the lists of a board of a project or group',
  access: onBoard(),
  response: z.array(listEntity),
  handler: async ({ ctx, board }) => presentLists(ctx, await listListsOf(ctx.db, [board.id])),
})

export const getBoardList = endpoint({
  method: 'GET',
  path: list,
  summary: 'Get a list of a board of a project or group',
  access: onBoardList(),
  response: listEntity,
  handler: ({ ctx, list }) => presentList(ctx, list),
})

export const addBoardList = endpoint({
  method: 'POST',
  path: lists,
  summary: 'Add a list to a board of a project or group',
  access: onBoard('admin_board'),
  body: {
    label_id: integer().optional(),
    assignee_id: integer().optional(),
    milestone_id: integer().optional(),
  },
  check: exactlyOne(['label_id', 'assignee_id', 'milestone_id']),
  response: listEntity,
  handler: async ({ ctx, source, board, body }) =>
    presentList(ctx, await addList(ctx, source, board, body)),
})

export const updateBoardList = endpoint({
  method: 'PUT',
  path: list,
  summary: 'Move a list of a board of a project or group',
  access: onBoardList('admin_board'),
  body: { position: integer() },
  response: listEntity,
  handler: async ({ ctx, board, list, body }) =>
    presentList(ctx, await moveList(ctx, board, list.id, body.position)),
})

export const removeBoardList = endpoint({
  method: 'DELETE',
  path: list,
  summary: 'Remove a list from a board of a project or group',
  access: onBoardList('admin_board'),
  handler({ ctx, board, list, request }) {
    assertUnmodifiedSince(request, list.updated_at)
    return removeList(ctx, board, list.id)
  },
})
