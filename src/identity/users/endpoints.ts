import { z } from 'zod'
import { fieldsIgnoredUnlessAdmin } from '../../access/conditions.ts'
import { anyone, onInstance } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, filledText, flag, id, oneOf, text } from '../../http/params.ts'
import { namesUser } from './access.ts'
import { offerNewPassword } from './addresses/confirm-address.ts'
import { createUser, randomPassword } from './create/create-user.ts'
import { userEntity } from './entity.ts'
import { getUser, getUserDetails } from './find-user.ts'
import { USER_ORDERS, userFilters } from './list-params.ts'
import { listUserRows } from './list-queries.ts'
import { avatarColumns, identityOf, settingsOf, userFields } from './params.ts'
import { presentFull, presentListed, presentUser } from './present-user.ts'
import { listUserAttributes } from './queries.ts'
import { deleteUser } from './removal/delete-user.ts'
import { updateUser } from './update-user.ts'

const readScopes = ['api', 'read_api', 'read_user']

/** What only administrators may ask for; it is silently left out for others (docs/contract/D §1.1). */
const adminFilters = [
  'admins',
  'auditors',
  'external',
  'two_factor',
  'without_projects',
  'created_after',
  'created_before',
  'extern_uid',
  'provider',
  'custom_attributes',
  'order_by',
  'sort',
]

export const listUsers = endpoint({
  method: 'GET',
  path: '/users',
  summary: 'List users; anonymous callers must name one',
  access: anyone(),
  scopes: readScopes,
  query: {
    ...userFilters,
    order_by: oneOf(USER_ORDERS).default('id'),
    sort: oneOf(['asc', 'desc']).default('desc'),
  },
  check: (sent) =>
    sent.has('extern_uid') === sent.has('provider')
      ? []
      : ['extern_uid, provider provide all or none of parameters'],
  paginate: { keyset: USER_ORDERS, defaultSort: 'desc', offset: true, type: 'User' },
  response: z.array(userEntity),
  conditions: [namesUser, fieldsIgnoredUnlessAdmin(adminFilters)],
  async handler({ ctx, query, page }) {
    const viewer = viewerOf(ctx)
    const order = { by: query.order_by ?? 'id', sort: query.sort ?? 'desc' } as const
    const rows = await listUserRows(ctx.db, viewer, query, order, page)
    return { ...rows, items: await presentListed(ctx, rows.items) }
  },
})

export const getUserById = endpoint({
  method: 'GET',
  path: '/users/:id',
  summary: 'Get a user',
  access: anyone(),
  scopes: readScopes,
  params: { id: id() },
  query: { with_custom_attributes: flag().optional() },
  response: userEntity,
  conditions: [fieldsIgnoredUnlessAdmin(['with_custom_attributes'])],
  async handler({ ctx, params, query }) {
    const user = await presentUser(ctx, await getUserDetails(ctx, params.id))
    if (!query.with_custom_attributes) return user
    return { ...user, custom_attributes: await listUserAttributes(ctx.db, user.id) }
  },
})

export const createUserByAdmin = endpoint({
  method: 'POST',
  path: '/users',
  summary: 'Create a user',
  access: onInstance(),
  body: {
    email: text(),
    name: text(),
    username: text(),
    password: text({ max: 1000 }).optional(),
    reset_password: flag().optional(),
    force_random_password: flag().optional(),
    skip_confirmation: flag().optional(),
    ...userFields,
  },
  check: atLeastOne(['password', 'reset_password', 'force_random_password']),
  response: userEntity,
  async handler({ ctx, body }) {
    const identity = identityOf(body)
    const password =
      body.force_random_password || body.reset_password || body.password === undefined
        ? randomPassword()
        : body.password
    const avatar = await avatarColumns(ctx, body.avatar)
    const { avatar: _, ...plain } = body
    const user = await createUser(ctx, {
      ...plain,
      ...avatar,
      password,
      settings: settingsOf(body),
      identity,
    })
    if (body.reset_password) await offerNewPassword(ctx, user)
    return presentFull(ctx, await getUserDetails(ctx, user.id))
  },
})

export const updateUserByAdmin = endpoint({
  method: 'PUT',
  path: '/users/:id',
  summary: 'Change a user',
  access: onInstance(),
  params: { id: id() },
  body: {
    email: text().optional(),
    name: filledText().optional(),
    username: text().optional(),
    password: text({ max: 1000 }).optional(),
    skip_reconfirmation: flag().optional(),
    ...userFields,
  },
  response: userEntity,
  async handler({ ctx, params, body }) {
    const user = await getUser(ctx, params.id)
    const identity = identityOf(body)
    const avatar = await avatarColumns(ctx, body.avatar)
    const { avatar: _, ...plain } = body
    await updateUser(ctx, user, { ...plain, ...avatar, settings: settingsOf(body), identity })
    return presentFull(ctx, await getUserDetails(ctx, user.id))
  },
})

export const deleteUserByAdmin = endpoint({
  method: 'DELETE',
  path: '/users/:id',
  summary: 'Delete a user; their content is moved to the ghost user, or deleted',
  access: onInstance(),
  params: { id: id() },
  query: { hard_delete: flag().optional() },
  async handler({ ctx, params, query, request }) {
    const user = await getUser(ctx, params.id)
    assertUnmodifiedSince(request, user.updated_at)
    await deleteUser(ctx, user, { hard: query.hard_delete ?? false })
  },
})
