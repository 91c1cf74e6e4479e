import type { OffsetPage, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { type UserBasicRow, userBasicColumns } from '../users/basic.ts'
import type { Source } from './rows.ts'

/** Somebody who asked to become a member. */
export interface RequesterRow extends UserBasicRow {
  readonly requested_at: string | null
  readonly created_at: string
}

function requesterQuery(db: Db, source: Source) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(userBasicColumns)
    .select(['members.requested_at', 'members.created_at'])
    .where('members.source_type', '=', source.type)
    .where('members.source_id', '=', source.id)
    .where('members.requested_at', 'is not', null)
    .orderBy('members.id')
}

export async function listRequesters(
  db: Db,
  source: Source,
  page: OffsetPage,
): Promise<Paged<RequesterRow>> {
  return await listPage(db, requesterQuery(db, source), page)
}

export async function findRequester(
  db: Db,
  source: Source,
  userId: number,
): Promise<RequesterRow | undefined> {
  return await requesterQuery(db, source).where('users.id', '=', userId).executeTakeFirst()
}
