import type { OffsetPage } from '../../base/page.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'

/** Active users who starred a project, the earliest first. */
export function listStarrers(
  db: Db,
  projectId: number,
  search: string | undefined,
  page: OffsetPage,
) {
  const query = db
    .selectFrom('stars')
    .innerJoin('users', 'users.id', 'stars.user_id')
    .select(userBasicColumns)
    .select('stars.created_at as starred_since')
    .where('stars.project_id', '=', projectId)
    .where('users.state', '=', 'active')
    .where((is) => is.and(matchesSearch(search ?? '', ['users.name', 'users.username'])))
    .orderBy('stars.created_at')
    .orderBy('users.id')
  return listPage(db, query, page)
}
