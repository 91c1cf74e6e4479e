import type { Migration } from '../migration.ts'

/** The colour behind a broadcast message, which stock clients set beside that of its letters. */
export const broadcastColors: Migration = {
  name: '0131-broadcast-colors',
  sql: `ALTER TABLE broadcast_messages ADD COLUMN color TEXT NOT NULL DEFAULT '#E75E40';`,
}
