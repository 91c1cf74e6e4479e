import type { Db } from '../../store/schema.ts'

/** The SSH key of this fingerprint that may sign, with its owner's addresses. */
export async function findSigningKey(db: Db, fingerprint: string) {
  return await db
    .selectFrom('ssh_keys')
    .select(['id', 'title', 'created_at', 'expires_at', 'key', 'usage_type'])
    .where('fingerprint_sha256', '=', fingerprint)
    .where('usage_type', 'in', ['signing', 'auth_and_signing'])
    .executeTakeFirst()
}

/** The GPG key that a signature names by id or fingerprint, with its owner. */
export async function findGpgKey(
  db: Db,
  named: { readonly fingerprint?: string | undefined; readonly keyId?: string | undefined },
) {
  const { fingerprint, keyId } = named
  if (fingerprint === undefined && keyId === undefined) return undefined
  return await db
    .selectFrom('gpg_keys')
    .innerJoin('users', 'users.id', 'gpg_keys.user_id')
    .select(['gpg_keys.id', 'gpg_keys.key_id', 'users.name', 'users.email'])
    .where((is) =>
      fingerprint === undefined
        ? is('gpg_keys.key_id', '=', keyId ?? '')
        : is('gpg_keys.fingerprint', '=', fingerprint),
    )
    .executeTakeFirst()
}
