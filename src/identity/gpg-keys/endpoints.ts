import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { anyone, onInstance, signedIn } from '../../access/subjects.ts'
import { parseGpgKey } from '../../base/gpg-key.ts'
import { existing, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { callerId, getUser } from '../users/find-user.ts'
import { getUserWithProfile } from '../users/profile/visible-profile.ts'
import {
  deleteGpgKey,
  findGpgKey,
  type GpgKeyRow,
  gpgKeysQuery,
  insertGpgKey,
  insertGpgSubkeys,
} from './queries.ts'

const readScopes = ['api', 'read_api', 'read_user']

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

async function list(ctx: Ctx, userId: number, page: Parameters<typeof listPage>[2]) {
  const rows = await listPage(ctx.db, gpgKeysQuery(ctx.db, userId), page)
  return { ...rows, items: rows.items.map(presentGpgKey) }
}

async function getGpgKey(ctx: Ctx, userId: number, keyId: number): Promise<GpgKeyRow> {
  return existing(await findGpgKey(ctx.db, userId, keyId), 'GPG Key')
}

const keyBody = { key: text({ max: 200_000 }) }

export const listOwnGpgKeys = endpoint({
  method: 'GET',
  path: '/user/gpg_keys',
  summary: "List the caller's GPG keys",
  access: signedIn(),
  scopes: readScopes,
  paginate: 'offset',
  response: z.array(gpgKeyEntity),
  handler: ({ ctx, page }) => list(ctx, callerId(ctx), page),
})

export const getOwnGpgKey = endpoint({
  method: 'GET',
  path: '/user/gpg_keys/:key_id',
  summary: "Get one of the caller's GPG keys",
  access: signedIn(),
  scopes: readScopes,
  params: { key_id: id() },
  response: gpgKeyEntity,
  handler: async ({ ctx, params }) =>
    presentGpgKey(await getGpgKey(ctx, callerId(ctx), params.key_id)),
})

export const addOwnGpgKey = endpoint({
  method: 'POST',
  path: '/user/gpg_keys',
  summary: 'Add a GPG key of the caller',
  access: signedIn(),
  body: keyBody,
  response: gpgKeyEntity,
  handler: async ({ ctx, body }) => presentGpgKey(await addGpgKey(ctx, callerId(ctx), body.key)),
})

export const deleteOwnGpgKey = endpoint({
  method: 'DELETE',
  path: '/user/gpg_keys/:key_id',
  summary: 'Remove a GPG key of the caller',
  access: signedIn(),
  params: { key_id: id() },
  handler: async ({ ctx, params }) =>
    removeGpgKey(ctx, await getGpgKey(ctx, callerId(ctx), params.key_id)),
})

export const listUserGpgKeys = endpoint({
  method: 'GET',
  path: '/users/:id/gpg_keys',
  summary: 'List the GPG keys of a user',
  access: anyone(),
  scopes: readScopes,
  params: { id: text() },
  paginate: 'offset',
  response: z.array(gpgKeyEntity),
  handler: async ({ ctx, params, page }) =>
    list(ctx, (await getUserWithProfile(ctx, params.id)).id, page),
})

export const getUserGpgKey = endpoint({
  method: 'GET',
  path: '/users/:id/gpg_keys/:key_id',
  summary: 'Get a GPG key of a user',
  access: anyone(),
  scopes: readScopes,
  params: { id: text(), key_id: id() },
  response: gpgKeyEntity,
  async handler({ ctx, params }) {
    const user = await getUserWithProfile(ctx, params.id)
    return presentGpgKey(await getGpgKey(ctx, user.id, params.key_id))
  },
})

export const addUserGpgKey = endpoint({
  method: 'POST',
  path: '/users/:id/gpg_keys',
  summary: 'Add a GPG key of a user',
  access: onInstance(),
  params: { id: id() },
  body: keyBody,
  response: gpgKeyEntity,
  async handler({ ctx, params, body }) {
    const user = await getUser(ctx, params.id)
    return presentGpgKey(await addGpgKey(ctx, user.id, body.key))
  },
})

export const deleteUserGpgKey = endpoint({
  method: 'DELETE',
  path: '/users/:id/gpg_keys/:key_id',
  summary: 'Remove a GPG key of a user',
  access: onInstance(),
  params: { id: id(), key_id: id() },
  async handler({ ctx, params }) {
    const user = await getUser(ctx, params.id)
    await removeGpgKey(ctx, await getGpgKey(ctx, user.id, params.key_id))
  },
})
