import { seesGroup, seesProject, type Viewer } from '../../access/visible-queries.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type NotificationSettingRow = RowOf<'notification_settings'>

/** For what a setting is: the instance (id 0), a group or a project. */
export interface Place {
  readonly type: 'instance' | 'group' | 'project'
  readonly id: number
}

export const EVERYWHERE: Place = { type: 'instance', id: 0 }

export function findSetting(
  db: Db,
  userId: number,
  place: Place,
): Promise<NotificationSettingRow | undefined> {
  return db
    .selectFrom('notification_settings')
    .selectAll()
    .where('user_id', '=', userId)
    .where('source_type', '=', place.type)
    .where('source_id', '=', place.id)
    .executeTakeFirst()
}

export async function saveSetting(db: Db, row: NewRowOf<'notification_settings'>): Promise<void> {
  await db
    .insertInto('notification_settings')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'source_type', 'source_id']).doUpdateSet({
        level: row.level,
        events: row.events ?? '{}',
        notification_email: row.notification_email ?? null,
        updated_at: row.updated_at,
      }),
    )
    .execute()
}

/** The settings that a user has made for projects and groups that they see, by path. */
export function listOwnSettings(db: Db, userId: number, viewer: Viewer) {
  const own = db
    .selectFrom('notification_settings as s')
    .select(['s.source_type', 's.source_id', 's.level', 's.events'])
    .where('s.user_id', '=', userId)
    .where('s.level', '<>', 'global')
  return own
    .innerJoin('projects', 'projects.id', 's.source_id')
    .select(['projects.full_path as path', 'projects.name'])
    .where('s.source_type', '=', 'project')
    .where(seesProject(viewer))
    .unionAll(
      own
        .innerJoin('namespaces', 'namespaces.id', 's.source_id')
        .select(['namespaces.full_path as path', 'namespaces.name'])
        .where('s.source_type', '=', 'group')
        .where(seesGroup(viewer)),
    )
    .orderBy('path')
}

/** The settings of a user from the project up through its groups, nearest first. */
export function listSettingsAbove(
  db: Db,
  userId: number,
  place: { readonly projectId?: number | undefined; readonly namespaceId: number },
): Promise<NotificationSettingRow[]> {
  return db
    .selectFrom('notification_settings as s')
    .leftJoin('namespace_ancestors as a', (join) =>
      join
        .onRef('a.ancestor_id', '=', 's.source_id')
        .on('s.source_type', '=', 'group')
        .on('a.namespace_id', '=', place.namespaceId),
    )
    .selectAll('s')
    .where('s.user_id', '=', userId)
    .where((where) =>
      where.or([
        where('a.namespace_id', 'is not', null),
        where('s.source_type', '=', 'instance'),
        where.and([
          where('s.source_type', '=', 'project'),
          where('s.source_id', '=', place.projectId ?? 0),
        ]),
      ]),
    )
    .orderBy((order) =>
      order
        .case()
        .when('s.source_type', '=', 'project')
        .then(-1)
        .when('s.source_type', '=', 'instance')
        .then(1_000_000)
        .else(order.ref('a.depth'))
        .end(),
    )
    .execute()
}

/** Whether the address is the user's and confirmed. */
export async function isVerifiedAddress(db: Db, userId: number, email: string): Promise<boolean> {
  const first = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('email', '=', email)
    .executeTakeFirst()
  if (first) return true
  const further = await db
    .selectFrom('emails')
    .select('id')
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return further !== undefined
}
