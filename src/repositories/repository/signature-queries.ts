import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** The SSH key of this fingerprint that may sign, with whose it is. */
export async function findSigningKey(db: Db, fingerprint: string) {
  return await db
    .selectFrom('ssh_keys')
    .select(['id', 'user_id', 'title', 'created_at', 'expires_at', 'key', 'usage_type'])
    .where('fingerprint_sha256', '=', fingerprint)
    .where('usage_type', 'in', ['signing', 'auth_and_signing'])
    .executeTakeFirst()
}

/** A registered GPG key that a signature may have been made with. */
export interface NamedGpgKey {
  readonly id: number
  readonly user_id: number
  readonly key: string
  readonly fingerprint: string
  readonly key_id: string
  /** The subkey that is named, when it is not the key itself. */
  readonly subkey_id: number | null
}

// Anybody may register a key that claims somebody else's subkey: the first that fits is taken.
const MOST_KEYS = 5

/** The GPG keys that a signature names, by their own id or fingerprint or that of a subkey. */
export async function listNamedGpgKeys(
  db: Db,
  named: { readonly fingerprint?: string | undefined; readonly keyId?: string | undefined },
): Promise<NamedGpgKey[]> {
  const column = named.fingerprint === undefined ? 'key_id' : 'fingerprint'
  const value = (named.fingerprint ?? named.keyId)?.toLowerCase()
  if (value === undefined) return []
  const columns = [
    'gpg_keys.id',
    'gpg_keys.user_id',
    'gpg_keys.key',
    'gpg_keys.fingerprint',
    'gpg_keys.key_id',
  ] as const
  const own = db
    .selectFrom('gpg_keys')
    .select([...columns, sql<number | null>`null`.as('subkey_id')])
    .where(`gpg_keys.${column}`, '=', value)
  const below = db
    .selectFrom('gpg_subkeys')
    .innerJoin('gpg_keys', 'gpg_keys.id', 'gpg_subkeys.gpg_key_id')
    .select([...columns, 'gpg_subkeys.id as subkey_id'])
    .where(`gpg_subkeys.${column}`, '=', value)
  return await own.unionAll(below).limit(MOST_KEYS).execute()
}

/** The confirmed addresses of a user, lower case. */
export async function listVerifiedEmails(db: Db, userId: number): Promise<string[]> {
  const main = db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .where('confirmed_at', 'is not', null)
  const others = db
    .selectFrom('emails')
    .select('email')
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
  const rows = await main.unionAll(others).execute()
  return rows.map(({ email }) => email.toLowerCase())
}
