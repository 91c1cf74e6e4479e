import { sql } from 'kysely'
import { isLive } from '../../access/visible-queries.ts'
import type { Day, Instant } from '../../base/clock.ts'
import { deleteFound } from '../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type UserRow = RowOf<'users'>

/** A user with what the full record has beside the row. */
export interface UserDetails extends UserRow {
  readonly followers: number
  readonly following: number
  readonly namespace_id: number | null
  readonly highest_role: number | null
  /** JSON list of {provider, extern_uid}. */
  readonly identities: string
}

/** Users with the details of the full record; lists of administrators start from it too. */
export function userDetailsQuery(db: Db, today: Day) {
  return db
    .selectFrom('users')
    .selectAll('users')
    .select([
      sql<number>`(select count(*) from follows where followee_id = users.id)`.as('followers'),
      sql<number>`(select count(*) from follows where follower_id = users.id)`.as('following'),
      sql<
        number | null
      >`(select id from namespaces where owner_id = users.id and kind = 'user')`.as('namespace_id'),
      sql<number | null>`(select max(access_level) from members m
        where user_id = users.id and ${isLive(today)})`.as('highest_role'),
      sql<string>`(select json_group_array(json_object('provider', provider, 'extern_uid', extern_uid))
        from identities where user_id = users.id)`.as('identities'),
    ])
}

export function findUserDetails(db: Db, id: number, today: Day): Promise<UserDetails | undefined> {
  return userDetailsQuery(db, today).where('users.id', '=', id).executeTakeFirst()
}

export function findUserRow(db: Db, id: number): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

/** By id (all digits) or username. */
export function findUserByIdOrName(db: Db, idOrName: string): Promise<UserRow | undefined> {
  const query = db.selectFrom('users').selectAll()
  return /^-?\d+$/.test(idOrName)
    ? query.where('id', '=', Number(idOrName)).executeTakeFirst()
    : query.where('username', '=', idOrName).executeTakeFirst()
}

export function insertUser(db: Db, row: NewRowOf<'users'>): Promise<UserRow> {
  return db.insertInto('users').values(row).returningAll().executeTakeFirstOrThrow()
}

export function updateUserRow(db: Db, id: number, changes: ChangesOf<'users'>): Promise<UserRow> {
  return db
    .updateTable('users')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteUserRow(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('users').where('id', '=', id))
}

/** Who has the address, as first or further one, beside this user. */
export async function isEmailTaken(db: Db, email: string, exceptUserId = 0): Promise<boolean> {
  const first = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .where('id', '<>', exceptUserId)
    .executeTakeFirst()
  if (first) return true
  const further = await db
    .selectFrom('emails')
    .select('id')
    .where('email', '=', email)
    .where('user_id', '<>', exceptUserId)
    .executeTakeFirst()
  return further !== undefined
}

export async function isAnyoneHere(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Whether a user has ever used a password or a token. */
export async function hasSignedIn(db: Db, username: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('username', '=', username)
    .where((eb) =>
      eb.or([eb('last_sign_in_at', 'is not', null), eb('last_activity_on', 'is not', null)]),
    )
    .executeTakeFirst()
  return row !== undefined
}

/** People who have done nothing since a day; who never did anything counts when they are older than `created`. */
export async function listDormantIds(
  db: Db,
  { activeSince, created }: { readonly activeSince: Day; readonly created: Instant },
  most: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('kind', '=', 'human')
    .where('state', '=', 'active')
    .where((eb) =>
      eb.or([
        eb('last_activity_on', '<', activeSince),
        eb.and([eb('last_activity_on', 'is', null), eb('created_at', '<', created)]),
      ]),
    )
    .orderBy('id')
    .limit(most)
    .execute()
  return rows.map((row) => row.id)
}

export function findUserByAddress(db: Db, email: string): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
}

/** The person for whom an address waits for its confirmation: as first, as the next first, or as a further one. */
export async function findUnconfirmed(
  db: Db,
  email: string,
): Promise<{ id: number; email: string } | undefined> {
  const first = await db
    .selectFrom('users')
    .select('id')
    .where('state', '=', 'active')
    .where('kind', '=', 'human')
    .where((eb) =>
      eb.or([
        eb.and([eb('email', '=', email), eb('confirmed_at', 'is', null)]),
        eb('unconfirmed_email', '=', email),
      ]),
    )
    .orderBy('id')
    .executeTakeFirst()
  if (first) return { id: first.id, email }
  const further = await db
    .selectFrom('emails')
    .select('user_id')
    .where('email', '=', email)
    .where('confirmed_at', 'is', null)
    .executeTakeFirst()
  return further && { id: further.user_id, email }
}

export function findGhost(db: Db): Promise<UserRow | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where('kind', '=', 'ghost')
    .orderBy('id')
    .executeTakeFirst()
}

/** Groups of which the user is the only owner (bots do not count as owners). */
export function listSolelyOwnedGroups(db: Db, userId: number) {
  return db
    .selectFrom('members')
    .innerJoin('namespaces', 'namespaces.id', 'members.source_id')
    .select(['namespaces.id', 'namespaces.path', 'namespaces.full_path', 'namespaces.full_name'])
    .where('members.user_id', '=', userId)
    .where('members.source_type', '=', 'group')
    .where('namespaces.pending_delete', '=', 0)
    .where('members.access_level', '=', 50)
    .where('members.requested_at', 'is', null)
    .where('members.state', '=', 'active')
    .where(
      sql<boolean>`not exists (select 1 from members other join users u on u.id = other.user_id
        where other.source_type = 'group' and other.source_id in
          (select ancestor_id from namespace_ancestors where namespace_id = namespaces.id)
          and other.access_level = 50 and other.user_id <> ${userId} and other.requested_at is null
          and other.state = 'active' and u.kind in ('human', 'service_account'))`,
    )
    .execute()
}

export function listPersonalProjects(db: Db, userId: number) {
  return db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.id', 'projects.path', 'projects.full_path', 'projects.pending_delete'])
    .where('namespaces.owner_id', '=', userId)
    .where('namespaces.kind', '=', 'user')
    .execute()
}

/** How many groups and projects somebody belongs to; an own project counts once, though its owner is a member too. */
export async function countAssociations(db: Db, userId: number, today: Day) {
  const { rows } = await sql<{ groups_count: number; projects_count: number }>`
    select
      (select count(*) from members m where user_id = ${userId} and source_type = 'group'
        and ${isLive(today)}) as groups_count,
      (select count(*) from (
        select source_id from members m where user_id = ${userId} and source_type = 'project'
          and ${isLive(today)}
        union select p.id from projects p join namespaces n on n.id = p.namespace_id
          where n.kind = 'user' and n.owner_id = ${userId})) as projects_count`.execute(db)
  return rows[0] ?? { groups_count: 0, projects_count: 0 }
}

/** How much somebody wrote. */
export async function countAuthored(
  db: Db,
  table: 'issues' | 'merge_requests',
  userId: number,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${sql.table(table)} where author_id = ${userId}`.execute(db)
  return rows[0]?.total ?? 0
}

/** Tables whose rows were written by somebody, and outlive them: those that do not are deleted with the user's row. */
export async function authorTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select m.name as name from sqlite_master m, pragma_foreign_key_list(m.name) k
    where m.type = 'table' and k."table" = 'users' and k."from" = 'author_id' and k.on_delete <> 'CASCADE'
    order by m.name`.execute(db)
  return rows.map((row) => row.name)
}

/** Gives what somebody wrote to somebody else. */
export async function moveAuthored(
  db: Db,
  table: string,
  fromId: number,
  toId: number,
): Promise<void> {
  await sql`update ${sql.table(table)} set author_id = ${toId} where author_id = ${fromId}`.execute(
    db,
  )
}

export async function deleteAuthored(db: Db, table: string, userId: number): Promise<void> {
  await sql`delete from ${sql.table(table)} where author_id = ${userId}`.execute(db)
}

export function listActivities(db: Db, from: Instant) {
  return db
    .selectFrom('users')
    .select(['users.id', 'users.username', 'users.last_activity_on'])
    .where('users.last_activity_on', '>=', from.slice(0, 10))
    .orderBy('users.last_activity_on')
    .orderBy('users.id')
}

/** Whether a user wrote any snippet. */
export async function hasSnippets(db: Db, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('snippets')
    .select('id')
    .where('author_id', '=', userId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** What administrators have noted beside a user. */
export async function listUserAttributes(db: Db, userId: number) {
  return await db
    .selectFrom('custom_attributes')
    .select(['key', 'value'])
    .where('subject_type', '=', 'user')
    .where('subject_id', '=', userId)
    .orderBy('id')
    .execute()
}

/** Whether an address is one that the user has confirmed: the first one, or a further one. */
export async function isConfirmedAddress(
  db: Db,
  user: Pick<UserRow, 'id' | 'email' | 'confirmed_at'>,
  email: string,
): Promise<boolean> {
  if (user.email === email) return user.confirmed_at !== null
  const further = await db
    .selectFrom('emails')
    .select('id')
    .where('user_id', '=', user.id)
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return further !== undefined
}
