import type { Migration } from '../migration.ts'

/** The lists of a board count from 0 without gaps, also when one goes with its label, person or milestone. */
export const boardListPositions: Migration = {
  name: '0245-board-list-positions',
  sql: `
UPDATE board_lists SET position = (SELECT count(*) FROM board_lists other WHERE other.board_id = board_lists.board_id
  AND (other.position, other.id) < (board_lists.position, board_lists.id));
CREATE TRIGGER board_lists_close_ranks AFTER DELETE ON board_lists BEGIN
  UPDATE board_lists SET position = position - 1 WHERE board_id = old.board_id AND position > old.position;
END;
`,
}
