import type { InferResult } from 'kysely'
import type { SourceRef } from '../../../access/sources.ts'
import type { Day } from '../../../base/clock.ts'
import type { OffsetPage, Paged } from '../../../base/page.ts'
import { listPage } from '../../../store/pages.ts'
import type { Db } from '../../../store/schema.ts'
import { matchesSearch } from '../../../store/search.ts'

export type InvitationRow = InferResult<ReturnType<typeof invitationQuery>>[number]

function invitationQuery(db: Db, source: SourceRef) {
  return db
    .selectFrom('members')
    .leftJoin('users as creator', 'creator.id', 'members.created_by_id')
    .select([
      'members.id',
      'members.invite_email',
      'members.access_level',
      'members.created_at',
      'members.expires_at',
      'creator.name as created_by_name',
    ])
    .where('members.source_type', '=', source.type)
    .where('members.source_id', '=', source.id)
    .where('members.user_id', 'is', null)
    .orderBy('members.id')
}

/** Invitations of a source that nobody has accepted. */
export async function listInvitations(
  db: Db,
  source: SourceRef,
  search: string | undefined,
  page: OffsetPage,
): Promise<Paged<InvitationRow>> {
  const query = invitationQuery(db, source).where((is) =>
    is.and(matchesSearch(search ?? '', ['members.invite_email'])),
  )
  return await listPage(db, query, page)
}

export async function findInvitation(
  db: Db,
  source: SourceRef,
  email: string,
): Promise<InvitationRow | undefined> {
  return await invitationQuery(db, source)
    .where('members.invite_email', '=', email)
    .executeTakeFirst()
}

/** The active user who owns a confirmed address, if anybody does. */
export async function findUserIdByEmail(db: Db, email: string): Promise<number | undefined> {
  const user = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .where('kind', '=', 'human')
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  if (user) return user.id
  const other = await db
    .selectFrom('emails')
    .select('user_id')
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return other?.user_id
}

/** Everything an address was invited to, but for what has ended. */
export async function listInvitationsTo(db: Db, email: string, today: Day) {
  return await db
    .selectFrom('members')
    .selectAll()
    .where('invite_email', '=', email)
    .where('user_id', 'is', null)
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', today)]))
    .execute()
}
