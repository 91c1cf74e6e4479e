import { MIDNIGHT } from '../../access/authentication/deploy-token.ts'
import type { DeployTokenRow } from '../../access/authentication/deploy-token-queries.ts'
import type { SourceRef } from '../../access/sources.ts'
import { dayOf, type Instant } from '../../base/clock.ts'
import type { Page, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

/** Deploy tokens of a project or group, or of the instance; with `activeAt` those that are neither revoked nor over then. */
export function listDeployTokenRows(
  db: Db,
  place: SourceRef | undefined,
  activeAt: Instant | undefined,
  page: Page,
): Promise<Paged<DeployTokenRow>> {
  let query = db.selectFrom('deploy_tokens').selectAll().orderBy('id')
  if (place) query = query.where('source_type', '=', place.type).where('source_id', '=', place.id)
  if (activeAt !== undefined) {
    query = query
      .where('revoked', '=', 0)
      .where((where) =>
        where.or([
          where('expires_at', 'is', null),
          where('expires_at', '>', activeAt),
          where('expires_at', '=', `${dayOf(activeAt)}${MIDNIGHT}`),
        ]),
      )
  }
  return listPage(db, query, page)
}

export function findDeployToken(
  db: Db,
  place: SourceRef,
  id: number,
): Promise<DeployTokenRow | undefined> {
  return db
    .selectFrom('deploy_tokens')
    .selectAll()
    .where('id', '=', id)
    .where('source_type', '=', place.type)
    .where('source_id', '=', place.id)
    .executeTakeFirst()
}

/** Tokens of a project and of its group that jobs may be given, in the order in which they count. */
export function listTokensForJobs(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
): Promise<DeployTokenRow[]> {
  return db
    .selectFrom('deploy_tokens')
    .selectAll()
    .where('sealed_secret', 'is not', null)
    .where('revoked', '=', 0)
    .where((is) =>
      is.or([
        is.and([is('source_type', '=', 'project'), is('source_id', '=', project.id)]),
        is.and([is('source_type', '=', 'group'), is('source_id', '=', project.namespace_id)]),
      ]),
    )
    .orderBy('source_type', 'desc')
    .orderBy('id', 'desc')
    .limit(20)
    .execute()
}
