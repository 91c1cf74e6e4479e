import { sql } from 'kysely'
import { hasAbove } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'

/** Whether a group at or above the namespace keeps its projects from being shared. */
export function isSharingLocked(db: Db, namespaceId: number): Promise<boolean> {
  return hasAbove(db, namespaceId, sql`n.share_with_group_lock = 1`)
}
