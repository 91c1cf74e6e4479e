import { z } from 'zod'
import { type SourceKind, sourceWord as word } from '../../access/sources.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { csv, flag, id, integer, text } from '../../http/params.ts'
import { onSource, type PlanningSource } from '../place.ts'
import { boardEntity, listEntity, presentBoards, presentLists } from './entity.ts'
import { type BoardRow, deleteBoard, listBoardRows, listListsOf } from './queries.ts'
import {
  addList,
  changeBoard,
  createBoard,
  getBoard,
  getList,
  moveList,
  removeList,
} from './verbs.ts'

const tags = ['boards']
const boardParams = { board_id: id() }
const listParams = { board_id: id(), list_id: id() }
const settings = {
  hide_backlog_list: flag().optional(),
  hide_closed_list: flag().optional(),
  assignee_id: integer().nullish(),
  milestone_id: integer().nullish(),
  labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  weight: integer({ min: 0 }).nullish(),
}

async function presentBoard(ctx: Ctx, owner: PlanningSource, row: BoardRow) {
  const [board] = await presentBoards(ctx, owner, [row])
  if (!board) throw notFound('Board')
  return board
}

async function presentList(ctx: Ctx, row: Awaited<ReturnType<typeof getList>>) {
  const [list] = await presentLists(ctx, [row])
  if (!list) throw notFound('List')
  return list
}

/** A list stands for one thing. */
function oneSubject(sent: ReadonlySet<string>): string[] {
  const names = ['label_id', 'assignee_id', 'milestone_id']
  const given = names.filter((name) => sent.has(name))
  if (given.length === 1) return []
  return given.length === 0
    ? [`${names.join(', ')} are missing, exactly one parameter must be provided`]
    : [`${given.join(', ')} are mutually exclusive`]
}

function boardsOf(kind: SourceKind): Endpoint[] {
  const path = `/${kind}/:id/boards` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the issue boards of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'read_issues'),
      paginate: 'offset',
      response: z.array(boardEntity),
      async handler({ ctx, source, page }) {
        const rows = await listBoardRows(ctx.db, source, page)
        return { ...rows, items: await presentBoards(ctx, source, rows.items) }
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:board_id`,
      summary: `Get an issue board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'read_issues'),
      params: boardParams,
      response: boardEntity,
      handler: async ({ ctx, source, params }) =>
        presentBoard(ctx, source, await getBoard(ctx, source, params.board_id)),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Create an issue board in a ${word[kind]}`,
      tags,
      access: onSource(kind, 'admin_board'),
      body: { name: text({ max: 255 }) },
      response: boardEntity,
      status: 201,
      handler: async ({ ctx, source, body }) =>
        presentBoard(ctx, source, await createBoard(ctx, source, body.name)),
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:board_id`,
      summary: `Change an issue board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'admin_board'),
      params: boardParams,
      body: { name: text({ max: 255 }).optional(), ...settings },
      response: boardEntity,
      async handler({ ctx, source, params, body }) {
        const row = await getBoard(ctx, source, params.board_id)
        return presentBoard(ctx, source, await changeBoard(ctx, source, row, body))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:board_id`,
      summary: `Delete an issue board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'admin_board'),
      params: boardParams,
      async handler({ ctx, source, params }) {
        const row = await getBoard(ctx, source, params.board_id)
        await deleteBoard(ctx.db, row.id)
      },
    }),
  ]
}

function listsOf(kind: SourceKind): Endpoint[] {
  const path = `/${kind}/:id/boards/:board_id/lists` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the lists of a board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'read_issues'),
      params: boardParams,
      response: z.array(listEntity),
      async handler({ ctx, source, params }) {
        const board = await getBoard(ctx, source, params.board_id)
        return presentLists(ctx, await listListsOf(ctx.db, [board.id]))
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:list_id`,
      summary: `Get a list of a board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'read_issues'),
      params: listParams,
      response: listEntity,
      async handler({ ctx, source, params }) {
        const board = await getBoard(ctx, source, params.board_id)
        return presentList(ctx, await getList(ctx, board, params.list_id))
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Add a list to a board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'admin_board'),
      params: boardParams,
      body: {
        label_id: integer().optional(),
        assignee_id: integer().optional(),
        milestone_id: integer().optional(),
      },
      check: oneSubject,
      response: listEntity,
      status: 201,
      async handler({ ctx, source, params, body }) {
        const board = await getBoard(ctx, source, params.board_id)
        return presentList(ctx, await addList(ctx, source, board, body))
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:list_id`,
      summary: `Move a list of a board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'admin_board'),
      params: listParams,
      body: { position: integer() },
      response: listEntity,
      async handler({ ctx, source, params, body }) {
        const board = await getBoard(ctx, source, params.board_id)
        return presentList(ctx, await moveList(ctx, board, params.list_id, body.position))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:list_id`,
      summary: `Remove a list from a board of a ${word[kind]}`,
      tags,
      access: onSource(kind, 'admin_board'),
      params: listParams,
      async handler({ ctx, source, params }) {
        const board = await getBoard(ctx, source, params.board_id)
        await removeList(ctx, board, params.list_id)
      },
    }),
  ]
}

export const projectBoards = [...boardsOf('projects'), ...listsOf('projects')]
export const groupBoards = [...boardsOf('groups'), ...listsOf('groups')]
