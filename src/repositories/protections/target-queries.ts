import { sql } from 'kysely'
import type { Source } from '../../access/sources.ts'
import type { Day } from '../../base/clock.ts'
import { namespacesAbove, namespacesBelow } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'

/**
 * Whether a group may be named by rules: one that the project or group is in or shared with (also through the groups
 * above), and for a group also those below it.
 */
export async function groupHasAccess(
  db: Db,
  owner: Source,
  groupId: number,
  today: Day,
): Promise<boolean> {
  const { namespaceId } = owner
  const result = await sql<{ one: number }>`
    SELECT 1 AS one FROM namespaces n WHERE n.id = ${groupId} AND n.kind = 'group' AND (
      n.id IN ${namespacesAbove(namespaceId)}
      OR (${owner.type} = 'group' AND n.id IN ${namespacesBelow(namespaceId)})
      OR EXISTS (SELECT 1 FROM group_links l WHERE l.group_id = n.id
        AND (l.expires_at IS NULL OR l.expires_at > ${today})
        AND ((l.source_type = ${owner.type} AND l.source_id = ${owner.id})
          OR (l.source_type = 'group' AND l.source_id IN ${namespacesAbove(namespaceId)})))
    )`.execute(db)
  return result.rows.length > 0
}

/** Whether a deploy key is enabled in the project, and may push there. */
export async function isPushingKey(db: Db, projectId: number, keyId: number): Promise<boolean> {
  const row = await db
    .selectFrom('deploy_key_projects')
    .select('id')
    .where('project_id', '=', projectId)
    .where('key_id', '=', keyId)
    .where('can_push', '=', 1)
    .executeTakeFirst()
  return row !== undefined
}
