import { z } from 'zod'
import { onKindOfSource, type SourceKind } from '../../access/sources.ts'
import type { Access } from '../../access/subjects.ts'
import { type AccessTokenRow, findTokenById } from '../../access/token-queries.ts'
import { badRequest, hidden, invalidText, notFound, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { assertUnmodifiedSince } from '../../http/conditional.ts'
import { type Endpoint, endpoint, perMinute } from '../../http/endpoint.ts'
import { flag, id, oneOf, text } from '../../http/params.ts'
import { createToken, faultSentence, tokenFaults } from '../access-tokens/create-token.ts'
import { presentToken, tokenEntity } from '../access-tokens/entity.ts'
import { listTokens } from '../access-tokens/list-tokens.ts'
import { expiryParam, personalTokenBody, tokenFilterParams } from '../access-tokens/params.ts'
import { revokeToken, rotateToken } from '../access-tokens/rotate.ts'
import { deleteUser } from '../users/removal/delete-user.ts'
import { accountEntity, presentAccount } from './entity.ts'
import { listAccountRows } from './queries.ts'
import type { AccountPlace } from './rows.ts'
import { createServiceAccount, getServiceAccount, updateServiceAccount } from './verbs.ts'

const tags = ['service accounts']

const accountBody = {
  name: text({ max: 1000 }).optional(),
  username: text({ max: 1000 }).optional(),
  email: text({ max: 1000 }).optional(),
}

/** 401, 404, 403, and only then parameters (docs/contract/A-resolved §1). */
function onPlace(kind: SourceKind): Access<{ source: AccountPlace }> {
  return onKindOfSource<AccountPlace>(
    kind,
    'admin_service_accounts',
    {
      project: ({ id }) => ({ type: 'project', id }),
      group: ({ id }) => ({ type: 'group', id }),
    },
    { signedIn: true },
  )
}

function accounts(kind: SourceKind): Endpoint[] {
  const word = kind.slice(0, -1)
  return [
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/service_accounts`,
      summary: `List the service accounts of a ${word}`,
      tags,
      access: onPlace(kind),
      query: {
        order_by: oneOf(['id', 'username']).default('id'),
        sort: oneOf(['asc', 'desc']).default('desc'),
      },
      paginate: { keyset: ['id', 'username'], defaultSort: 'desc', offset: true },
      response: z.array(accountEntity),
      async handler({ ctx, source, query, page }) {
        const order = { by: query.order_by, sort: query.sort }
        const rows = await listAccountRows(ctx.db, source, order, page)
        return { ...rows, items: rows.items.map(presentAccount) }
      },
    }),
    endpoint({
      method: 'POST',
      path: `/${kind}/:id/service_accounts`,
      summary: `Create a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      body: accountBody,
      response: accountEntity,
      status: 201,
      limit: perMinute('create_service_account', 10),
      handler: async ({ ctx, source, body }) =>
        presentAccount(await createServiceAccount(ctx, source, body)),
    }),
    endpoint({
      method: 'PATCH',
      path: `/${kind}/:id/service_accounts/:user_id`,
      summary: `Change a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      params: { user_id: id() },
      body: accountBody,
      response: accountEntity,
      async handler({ ctx, source, params, body }) {
        const user = await getServiceAccount(ctx, source, params.user_id)
        return presentAccount(await updateServiceAccount(ctx, user, body, invalidText))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `/${kind}/:id/service_accounts/:user_id`,
      summary: `Delete a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      params: { user_id: id() },
      query: { hard_delete: flag().optional() },
      async handler({ ctx, source, params, query, request }) {
        const user = await getServiceAccount(ctx, source, params.user_id)
        assertUnmodifiedSince(request, user.updated_at)
        await deleteUser(ctx, user, { hard: query.hard_delete ?? false })
      },
    }),
  ]
}

async function findOwnToken(
  ctx: Ctx,
  place: AccountPlace,
  params: { readonly user_id: number; readonly token_id: number },
): Promise<AccessTokenRow | undefined> {
  const user = await getServiceAccount(ctx, place, params.user_id)
  const row = await findTokenById(ctx.db, params.token_id)
  return row?.user_id === user.id ? row : undefined
}

function tokens(kind: SourceKind): Endpoint[] {
  const word = kind.slice(0, -1)
  const path = `/${kind}/:id/service_accounts/:user_id/personal_access_tokens` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the tokens of a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      params: { user_id: id() },
      query: tokenFilterParams,
      paginate: 'offset',
      response: z.array(tokenEntity),
      async handler({ ctx, source, params, query, page }) {
        const user = await getServiceAccount(ctx, source, params.user_id)
        return listTokens(ctx, { userId: user.id, kinds: ['personal'] }, query, page)
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Create a token of a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      params: { user_id: id() },
      body: personalTokenBody,
      response: tokenEntity,
      status: 201,
      async handler({ ctx, source, params, body }) {
        const user = await getServiceAccount(ctx, source, params.user_id)
        const faults = tokenFaults(ctx, body, user)
        if (Object.keys(faults).length > 0) throw unprocessable(faultSentence(faults))
        const made = await createToken(ctx, body, { kind: 'personal', userId: user.id })
        return presentToken(made.row, ctx.now(), made.secret)
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:token_id`,
      summary: `Revoke a token of a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      params: { user_id: id(), token_id: id() },
      async handler({ ctx, source, params }) {
        const row = await findOwnToken(ctx, source, params)
        if (!row) throw notFound('Personal Access Token')
        if (!(await revokeToken(ctx, row))) throw badRequest()
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/:token_id/rotate`,
      summary: `Put a new token in the place of one of a service account of a ${word}`,
      tags,
      access: onPlace(kind),
      params: { user_id: id(), token_id: id() },
      body: { expires_at: expiryParam },
      response: tokenEntity,
      async handler({ ctx, source, params, body }) {
        const row = await findOwnToken(ctx, source, params)
        if (!row) throw source.type === 'group' ? hidden() : notFound('Personal Access Token')
        const made = await rotateToken(ctx, row, body.expires_at)
        return presentToken(made.row, ctx.now(), made.secret)
      },
    }),
  ]
}

export const sourceServiceAccountEndpoints: readonly Endpoint[] = (
  ['projects', 'groups'] as const
).flatMap((kind) => [...accounts(kind), ...tokens(kind)])
