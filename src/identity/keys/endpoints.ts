import type { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { badRequest, existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, oneOf, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { getUserDetails } from '../users/find-user.ts'
import { presentFull } from '../users/present-user.ts'
import { addUserKey, keyBody, removeUserKey } from './add-key.ts'
import { foundKeyEntity, presentKey, sshKeyEntity } from './entity.ts'
import { keysOfPeople } from './keys-of-people.ts'
import {
  findKeyByFingerprint,
  findKeyById,
  findUserKey,
  listKeyProjects,
  type SshKeyRow,
  userKeysQuery,
} from './queries.ts'

export const {
  listOwn: listOwnSshKeys,
  getOwn: getOwnSshKey,
  addOwn: addOwnSshKey,
  removeOwn: removeOwnSshKey,
  ofOthers: sshKeysOfOthers,
} = keysOfPeople({
  path: 'keys',
  what: 'an SSH key',
  missing: 'Key',
  user: 'user_id',
  entity: sshKeyEntity,
  body: {
    ...keyBody,
    usage_type: oneOf(['auth_and_signing', 'auth', 'signing']).optional(),
  },
  list: (ctx, userId, page) => listPage(ctx.db, userKeysQuery(ctx.db, userId), page),
  find: (ctx, userId, keyId) => findUserKey(ctx.db, userId, keyId),
  add: addUserKey,
  remove: removeUserKey,
  present: presentKey,
})

/** A key with its user; a deploy key has none, but projects. */
async function presentFound(ctx: Ctx, row: SshKeyRow): Promise<z.input<typeof foundKeyEntity>> {
  if (row.user_id !== null) {
    const user = await getUserDetails(ctx, row.user_id)
    return { ...presentKey(row), user: await presentFull(ctx, user) }
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
