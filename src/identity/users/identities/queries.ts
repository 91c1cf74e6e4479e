import type { Db, NewRowOf, RowOf } from '../../../store/schema.ts'

export type IdentityRow = RowOf<'identities'>

export async function replaceIdentity(
  db: Db,
  identity: Omit<NewRowOf<'identities'>, 'id'>,
): Promise<void> {
  await db
    .insertInto('identities')
    .values(identity)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'provider']).doUpdateSet({ extern_uid: identity.extern_uid }),
    )
    .execute()
}

export async function deleteIdentity(db: Db, userId: number, provider: string): Promise<boolean> {
  const done = await db
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}

export function listIdentities(db: Db, userId: number): Promise<IdentityRow[]> {
  return db
    .selectFrom('identities')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('provider')
    .execute()
}

/** Who is called so by a provider, in whichever state the account is. */
export function findUserOfIdentity(
  db: Db,
  { provider, extern_uid }: Pick<IdentityRow, 'provider' | 'extern_uid'>,
) {
  return db
    .selectFrom('users')
    .innerJoin('identities', 'identities.user_id', 'users.id')
    .selectAll('users')
    .where('identities.provider', '=', provider)
    .where('identities.extern_uid', '=', extern_uid)
    .executeTakeFirst()
}

/** Identities at one provider in the order of their ids, from behind one on. */
export function listIdentitiesOf(
  db: Db,
  provider: string,
  after: number,
  most: number,
): Promise<IdentityRow[]> {
  return db
    .selectFrom('identities')
    .selectAll()
    .where('provider', '=', provider)
    .where('id', '>', after)
    .orderBy('id')
    .limit(most)
    .execute()
}
