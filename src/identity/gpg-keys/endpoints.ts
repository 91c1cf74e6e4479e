import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { parseGpgKey } from '../../base/gpg-key.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { keysOfPeople } from '../keys/keys-of-people.ts'
import {
  deleteGpgKey,
  findGpgKey,
  type GpgKeyRow,
  gpgKeysQuery,
  insertGpgKey,
  insertGpgSubkeys,
} from './queries.ts'

const gpgKeyEntity = z.strictObject({ id: z.int(), key: z.string(), created_at: z.string() })

function presentGpgKey(row: GpgKeyRow): z.input<typeof gpgKeyEntity> {
  return { id: row.id, key: row.key, created_at: row.created_at }
}

async function addGpgKey(ctx: Ctx, userId: number, given: string): Promise<GpgKeyRow> {
  const key = parseGpgKey(given)
  if (!key) throw invalid({ key: ['is invalid'] })
  return inTransaction(ctx, async (inner) => {
    const row = await uniquely({ 'gpg_keys.fingerprint': () => taken('fingerprint') }, () =>
      insertGpgKey(inner.db, {
        user_id: userId,
        key: given.trim(),
        fingerprint: key.fingerprint,
        key_id: key.keyId,
        created_at: inner.now(),
      }),
    )
    await insertGpgSubkeys(inner.db, row.id, key.subkeys)
    await auditGpgKey(inner, 'gpg_key_created', row)
    return row
  })
}

async function removeGpgKey(ctx: Ctx, row: GpgKeyRow): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await deleteGpgKey(inner.db, row.id)
    await auditGpgKey(inner, 'gpg_key_deleted', row)
  })
}

async function auditGpgKey(ctx: Ctx, action: string, row: GpgKeyRow): Promise<void> {
  const details = { key_id: row.id, fingerprint: row.fingerprint }
  await audit(ctx, { entity: { type: 'User', id: row.user_id }, action, details })
}

export const {
  listOwn: listOwnGpgKeys,
  getOwn: getOwnGpgKey,
  addOwn: addOwnGpgKey,
  removeOwn: removeOwnGpgKey,
  ofOthers: gpgKeysOfOthers,
} = keysOfPeople({
  path: 'gpg_keys',
  what: 'a GPG key',
  missing: 'GPG Key',
  user: 'id',
  entity: gpgKeyEntity,
  body: { key: text({ max: 200_000 }) },
  list: (ctx, userId, page) => listPage(ctx.db, gpgKeysQuery(ctx.db, userId), page),
  find: (ctx, userId, keyId) => findGpgKey(ctx.db, userId, keyId),
  add: (ctx, userId, { key }) => addGpgKey(ctx, userId, key),
  remove: removeGpgKey,
  present: presentGpgKey,
})
