import { z } from 'zod'
import { signedIn } from '../../../access/subjects.ts'
import { existing } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { filledText, id, text } from '../../../http/params.ts'
import { listPage } from '../../../store/pages.ts'
import { callerId } from '../../users/find-user.ts'
import { provenCaller } from '../../users/profile/own-password.ts'
import { PROOF_TRIES } from '../endpoints.ts'
import {
  findSecurityKey,
  renameSecurityKey,
  type SecurityKeyRow,
  securityKeysQuery,
} from './queries.ts'
import { removeKey } from './remove-key.ts'

const keyEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  passkey: z.boolean(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
})

function presentKey(row: SecurityKeyRow): z.input<typeof keyEntity> {
  const { id, name, created_at, last_used_at } = row
  return { id, name, passkey: row.is_passkey === 1, created_at, last_used_at }
}

const path = '/user/two_factor/keys/:key_id'
const params = { key_id: id() }

async function getKey(ctx: Ctx, keyId: number): Promise<SecurityKeyRow> {
  return existing(await findSecurityKey(ctx.db, callerId(ctx), keyId), 'Key')
}

export const listOwnKeys = endpoint({
  method: 'GET',
  path: '/user/two_factor/keys',
  summary: "List the caller's passkeys and security keys",
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  paginate: 'offset',
  response: z.array(keyEntity),
  async handler({ ctx, page }) {
    const rows = await listPage(ctx.db, securityKeysQuery(ctx.db, callerId(ctx)), page)
    return { ...rows, items: rows.items.map(presentKey) }
  },
})

export const renameOwnKey = endpoint({
  method: 'PUT',
  path,
  summary: 'Give a passkey or security key of the caller another name',
  access: signedIn(),
  params,
  body: { name: filledText({ max: 100 }) },
  response: keyEntity,
  async handler({ ctx, params, body }) {
    const key = await getKey(ctx, params.key_id)
    return presentKey(await renameSecurityKey(ctx.db, key.id, body.name))
  },
})

export const removeOwnKey = endpoint({
  method: 'DELETE',
  path,
  summary: 'Remove a passkey or security key of the caller, with the password',
  access: signedIn(),
  limit: PROOF_TRIES,
  params,
  body: { current_password: text({ max: 1000 }).default('') },
  async handler({ ctx, params, body }) {
    const key = await getKey(ctx, params.key_id)
    await provenCaller(ctx, body.current_password)
    await removeKey(ctx, key)
  },
})
