import { eitherRecord } from '../../access/records.ts'
import { id } from '../../http/params.ts'
import { getBoard, getList } from './verbs.ts'

/** The issue board of `:board_id` that belongs to this very project or group. */
export const onBoard = eitherRecord('read_issues', {
  params: { board_id: id() },
  find: async ({ ctx, source, params }) => ({
    board: await getBoard(ctx, source, params.board_id),
  }),
})

/** The list of `:list_id` of a board. */
export const onBoardList = eitherRecord('read_issues', {
  params: { board_id: id(), list_id: id() },
  async find({ ctx, source, params }) {
    const board = await getBoard(ctx, source, params.board_id)
    return { board, list: await getList(ctx, board, params.list_id) }
  },
})
