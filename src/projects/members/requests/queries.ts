import type { InferResult, NotNull } from 'kysely'
import { Role } from '../../../access/roles.ts'
import type { Source, SourceRef } from '../../../access/sources.ts'
import type { Day } from '../../../base/clock.ts'
import type { OffsetPage, Paged } from '../../../base/page.ts'
import { userBasicColumns } from '../../../identity/users/basic.ts'
import { namespacesAbove } from '../../../store/hierarchy.ts'
import { listPage } from '../../../store/pages.ts'
import type { Db } from '../../../store/schema.ts'

/** Somebody who asked to become a member. */
export type RequesterRow = InferResult<ReturnType<typeof requesterQuery>>[number]

function requesterQuery(db: Db, source: SourceRef) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(userBasicColumns)
    .select(['members.requested_at', 'members.created_at'])
    .where('members.source_type', '=', source.type)
    .where('members.source_id', '=', source.id)
    .where('members.requested_at', 'is not', null)
    .$narrowType<{ requested_at: NotNull }>()
    .orderBy('members.id')
}

export async function listRequesters(
  db: Db,
  source: SourceRef,
  page: OffsetPage,
): Promise<Paged<RequesterRow>> {
  return await listPage(db, requesterQuery(db, source), page)
}

export async function findRequester(
  db: Db,
  source: SourceRef,
  userId: number,
): Promise<RequesterRow | undefined> {
  return await requesterQuery(db, source).where('users.id', '=', userId).executeTakeFirst()
}

/** Who decides about requests, at most ten: owners, and in projects maintainers too, of the source or of groups above it. */
export async function listDeciders(
  db: Db,
  source: Pick<Source, 'type' | 'id' | 'namespaceId'>,
  today: Day,
): Promise<number[]> {
  const least = source.type === 'group' ? Role.owner : Role.maintainer
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.id')
    .distinct()
    .where('users.state', '=', 'active')
    .where('users.kind', '=', 'human')
    .where('members.access_level', '>=', least)
    .where('members.state', '=', 'active')
    .where('members.requested_at', 'is', null)
    .where((is) =>
      is.or([is('members.expires_at', 'is', null), is('members.expires_at', '>', today)]),
    )
    .where((is) =>
      is.or([
        is.and([
          is('members.source_type', '=', source.type),
          is('members.source_id', '=', source.id),
        ]),
        is.and([
          is('members.source_type', '=', 'group'),
          is('members.source_id', 'in', namespacesAbove(source.namespaceId)),
        ]),
      ]),
    )
    .orderBy('users.id')
    .limit(10)
    .execute()
  return rows.map((row) => row.id)
}
