import { sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import type { Day } from '../../base/clock.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type MailWindowRow = RowOf<'alert_mail_windows'>

/** Owners and maintainers of a project, by membership in it or in a group above it. */
export async function listMaintainerIds(
  db: Db,
  place: { readonly projectId: number; readonly namespaceId: number },
  today: Day,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT DISTINCT m.user_id AS id FROM members m
    WHERE m.access_level >= ${sql.lit(Role.maintainer)} AND m.requested_at IS NULL AND m.state = 'active'
      AND (m.expires_at IS NULL OR m.expires_at > ${today})
      AND ((m.source_type = 'project' AND m.source_id = ${place.projectId})
        OR (m.source_type = 'group' AND m.source_id IN ${namespacesAbove(place.namespaceId)}))
    UNION
    SELECT n.owner_id FROM namespaces n
    WHERE n.id = ${place.namespaceId} AND n.kind = 'user' AND n.owner_id IS NOT NULL`.execute(db)
  return rows.map((row) => row.id)
}

export function findMailWindow(db: Db, projectId: number): Promise<MailWindowRow | undefined> {
  return db
    .selectFrom('alert_mail_windows')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

export async function insertMailWindow(db: Db, row: NewRowOf<'alert_mail_windows'>): Promise<void> {
  await db.insertInto('alert_mail_windows').values(row).execute()
}

export async function updateMailWindow(
  db: Db,
  projectId: number,
  changes: ChangesOf<'alert_mail_windows'>,
): Promise<void> {
  await db
    .updateTable('alert_mail_windows')
    .set(changes)
    .where('project_id', '=', projectId)
    .execute()
}

export async function deleteMailWindow(db: Db, projectId: number): Promise<void> {
  await db.deleteFrom('alert_mail_windows').where('project_id', '=', projectId).execute()
}
