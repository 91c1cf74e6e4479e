import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type RegistrationToken = RowOf<'ci_registration_tokens'>

/** What a registration token is for: a project, a group, or (neither) the instance. */
export interface RegistrationPlace {
  readonly groupId: number | null
  readonly projectId: number | null
}

const at = ({ groupId, projectId }: RegistrationPlace) =>
  sql<boolean>`coalesce(group_id, 0) = ${groupId ?? 0} AND coalesce(project_id, 0) = ${projectId ?? 0}`

export async function findRegistrationAt(
  db: Db,
  place: RegistrationPlace,
): Promise<RegistrationToken | undefined> {
  return await db
    .selectFrom('ci_registration_tokens')
    .selectAll()
    .where(at(place))
    .executeTakeFirst()
}

export async function findRegistrationByDigest(
  db: Db,
  digest: Buffer,
): Promise<RegistrationToken | undefined> {
  return await db
    .selectFrom('ci_registration_tokens')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirst()
}

/** Gives a place its token, instead of the one that it may have. */
export async function saveRegistration(
  db: Db,
  place: RegistrationPlace,
  row: { readonly digest: Buffer; readonly sealed_token: string; readonly created_at: Instant },
): Promise<void> {
  await db
    .insertInto('ci_registration_tokens')
    .values({ group_id: place.groupId, project_id: place.projectId, ...row })
    .onConflict((known) =>
      known.expression(sql`coalesce(group_id, 0), coalesce(project_id, 0)`).doUpdateSet(row),
    )
    .execute()
}
