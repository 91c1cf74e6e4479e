import { z } from 'zod'
import { anyone, onInstance, signedIn } from '../../access/subjects.ts'
import { badRequest, existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, instant, oneOf, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { presentFullUser } from '../users/entity.ts'
import { callerId, getUser, getUserDetails } from '../users/find-user.ts'
import { getUserWithProfile } from '../users/profile/visible-profile.ts'
import { addUserKey, removeUserKey } from './add-key.ts'
import { foundKeyEntity, presentKey, sshKeyEntity } from './entity.ts'
import {
  findKeyByFingerprint,
  findKeyById,
  findUserKey,
  listKeyProjects,
  type SshKeyRow,
  userKeysQuery,
} from './queries.ts'

const readScopes = ['api', 'read_api', 'read_user']

const keyBody = {
  title: text({ max: 10_000 }),
  key: text({ max: 100_000 }),
  expires_at: instant()
    .or(text({ max: 0 }).transform(() => null))
    .nullish(),
  usage_type: oneOf(['auth_and_signing', 'auth', 'signing']).optional(),
}

async function list(ctx: Ctx, userId: number, page: Parameters<typeof listPage>[2]) {
  const rows = await listPage(ctx.db, userKeysQuery(ctx.db, userId), page)
  return { ...rows, items: rows.items.map(presentKey) }
}

async function getKey(ctx: Ctx, userId: number, keyId: number): Promise<SshKeyRow> {
  return existing(await findUserKey(ctx.db, userId, keyId), 'Key')
}

export const listOwnKeys = endpoint({
  method: 'GET',
  path: '/user/keys',
  summary: "List the caller's SSH keys",
  access: signedIn(),
  scopes: readScopes,
  paginate: 'offset',
  response: z.array(sshKeyEntity),
  handler: ({ ctx, page }) => list(ctx, callerId(ctx), page),
})

export const getOwnKey = endpoint({
  method: 'GET',
  path: '/user/keys/:key_id',
  summary: "Get one of the caller's SSH keys",
  access: signedIn(),
  scopes: readScopes,
  params: { key_id: id() },
  response: sshKeyEntity,
  handler: async ({ ctx, params }) => presentKey(await getKey(ctx, callerId(ctx), params.key_id)),
})

export const addOwnKey = endpoint({
  method: 'POST',
  path: '/user/keys',
  summary: 'Add an SSH key of the caller',
  access: signedIn(),
  body: keyBody,
  response: sshKeyEntity,
  handler: async ({ ctx, body }) => presentKey(await addUserKey(ctx, callerId(ctx), body)),
})

export const deleteOwnKey = endpoint({
  method: 'DELETE',
  path: '/user/keys/:key_id',
  summary: 'Remove an SSH key of the caller',
  access: signedIn(),
  params: { key_id: id() },
  handler: async ({ ctx, params }) =>
    removeUserKey(ctx, await getKey(ctx, callerId(ctx), params.key_id)),
})

export const listUserKeys = endpoint({
  method: 'GET',
  path: '/users/:user_id/keys',
  summary: 'List the SSH keys of a user',
  access: anyone(),
  scopes: readScopes,
  params: { user_id: text() },
  paginate: 'offset',
  response: z.array(sshKeyEntity),
  handler: async ({ ctx, params, page }) =>
    list(ctx, (await getUserWithProfile(ctx, params.user_id)).id, page),
})

export const getUserKey = endpoint({
  method: 'GET',
  path: '/users/:id/keys/:key_id',
  summary: 'Get an SSH key of a user',
  access: anyone(),
  scopes: readScopes,
  params: { id: text(), key_id: id() },
  response: sshKeyEntity,
  async handler({ ctx, params }) {
    const user = await getUserWithProfile(ctx, params.id)
    return presentKey(await getKey(ctx, user.id, params.key_id))
  },
})

export const addKeyOfUser = endpoint({
  method: 'POST',
  path: '/users/:user_id/keys',
  summary: 'Add an SSH key of a user',
  access: onInstance(),
  params: { user_id: id() },
  body: keyBody,
  response: sshKeyEntity,
  async handler({ ctx, params, body }) {
    const user = await getUser(ctx, params.user_id)
    return presentKey(await addUserKey(ctx, user.id, body))
  },
})

export const deleteKeyOfUser = endpoint({
  method: 'DELETE',
  path: '/users/:id/keys/:key_id',
  summary: 'Remove an SSH key of a user',
  access: onInstance(),
  params: { id: id(), key_id: id() },
  async handler({ ctx, params }) {
    const user = await getUser(ctx, params.id)
    await removeUserKey(ctx, await getKey(ctx, user.id, params.key_id))
  },
})

/** A key with its user; a deploy key has none, but projects. */
async function presentFound(ctx: Ctx, row: SshKeyRow): Promise<z.input<typeof foundKeyEntity>> {
  if (row.user_id !== null) {
    const user = await getUserDetails(ctx, row.user_id)
    return { ...presentKey(row), user: presentFullUser(ctx, user) }
  }
  const projects = await listKeyProjects(ctx.db, row.id)
  return {
    ...presentKey(row),
    user: null,
    deploy_keys_projects: projects.map((link) => ({
      id: link.id,
      deploy_key_id: link.key_id,
      project_id: link.project_id,
      can_push: link.can_push === 1,
      created_at: link.created_at,
      updated_at: link.updated_at,
    })),
  }
}

export const getKeyById = endpoint({
  method: 'GET',
  path: '/keys/:id',
  summary: 'Get an SSH key with its user',
  access: onInstance(),
  params: { id: id() },
  response: foundKeyEntity,
  async handler({ ctx, params }) {
    const row = existing(await findKeyById(ctx.db, params.id))
    return presentFound(ctx, row)
  },
})

export const findKey = endpoint({
  method: 'GET',
  path: '/keys',
  summary: 'Find an SSH key by its fingerprint',
  access: onInstance(),
  query: { fingerprint: text({ max: 200 }) },
  response: foundKeyEntity,
  async handler({ ctx, query }) {
    const row = existing(await findByAnyFingerprint(ctx, query.fingerprint), 'Key')
    return presentFound(ctx, row)
  },
})

function findByAnyFingerprint(ctx: Ctx, given: string): Promise<SshKeyRow | undefined> {
  if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(given)) {
    return findKeyByFingerprint(ctx.db, 'fingerprint_sha256', given.replace(/=$/, ''))
  }
  const md5 = given.replace(/^MD5:/, '').toLowerCase()
  if (!/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/.test(md5)) throw badRequest('Failed to return the key')
  return findKeyByFingerprint(ctx.db, 'fingerprint_md5', md5)
}
