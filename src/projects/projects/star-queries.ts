import type { OffsetPage, Paged } from '../../base/page.ts'
import { type UserBasicRow, userBasicColumns } from '../../identity/users/basic.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'

export interface StarrerRow extends UserBasicRow {
  readonly starred_since: string
}

/** Active users who starred a project, the earliest first. */
export async function listStarrers(
  db: Db,
  projectId: number,
  search: string | undefined,
  page: OffsetPage,
): Promise<Paged<StarrerRow>> {
  let query = db
    .selectFrom('stars')
    .innerJoin('users', 'users.id', 'stars.user_id')
    .select(userBasicColumns)
    .select('stars.created_at as starred_since')
    .where('stars.project_id', '=', projectId)
    .where('users.state', '=', 'active')
    .orderBy('stars.created_at')
    .orderBy('users.id')
  for (const condition of matchesSearch(search ?? '', ['users.name', 'users.username'])) {
    query = query.where(condition)
  }
  return await listPage(db, query, page)
}
