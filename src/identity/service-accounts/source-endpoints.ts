import { z } from 'zod'
import { badRequest, invalidText, unprocessable } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { endpoint, perMinute } from '../../http/endpoint.ts'
import { flag } from '../../http/params.ts'
import { createToken, faultSentence, refuseBadToken } from '../access-tokens/create-token.ts'
import { presentToken, tokenEntity } from '../access-tokens/entity.ts'
import { listTokens } from '../access-tokens/list-tokens.ts'
import { expiryParam, personalTokenBody, tokenFilterParams } from '../access-tokens/params.ts'
import { revokeToken, rotateToken } from '../access-tokens/rotate.ts'
import { alertBotAddress } from '../users/alert-bot.ts'
import { deleteUser } from '../users/removal/delete-user.ts'
import {
  createsAccount,
  onAccountsOf,
  onAccountToken,
  onChangedAccount,
  onNewAccountOf,
  onRotatedAccountToken,
  onServiceAccount,
} from './access.ts'
import { accountEntity, presentAccount } from './entity.ts'
import { accountBody, accountOrder, accountPages } from './params.ts'
import { listAccountRows } from './queries.ts'
import { createServiceAccount, updateServiceAccount } from './verbs.ts'

export const listSourceAccounts = endpoint({
  method: 'GET',
  path: '/:source/:id/service_accounts',
  summary: 'List the service accounts of a project or group',
  access: onAccountsOf(),
  query: accountOrder,
  paginate: accountPages,
  response: z.array(accountEntity),
  async handler({ ctx, source, query, page }) {
    const order = { by: query.order_by, sort: query.sort }
    const rows = await listAccountRows(ctx.db, alertBotAddress(ctx), source, order, page)
    return { ...rows, items: rows.items.map(presentAccount) }
  },
})

export const createSourceAccount = endpoint({
  method: 'POST',
  path: '/:source/:id/service_accounts',
  summary: 'Create a service account of a project or group',
  access: onNewAccountOf(),
  body: accountBody,
  conditions: [createsAccount],
  response: accountEntity,
  limit: perMinute('create_service_account', 10),
  handler: async ({ ctx, source, body }) =>
    presentAccount(await createServiceAccount(ctx, source, body)),
})

export const updateSourceAccount = endpoint({
  method: 'PATCH',
  path: '/:source/:id/service_accounts/:user_id',
  summary: 'Change a service account of a project or group',
  access: onChangedAccount(),
  body: accountBody,
  response: accountEntity,
  handler: async ({ ctx, account, body }) =>
    presentAccount(await updateServiceAccount(ctx, account, body, invalidText)),
})

export const deleteSourceAccount = endpoint({
  method: 'DELETE',
  path: '/:source/:id/service_accounts/:user_id',
  summary: 'Delete a service account of a project or group',
  access: onServiceAccount(),
  query: { hard_delete: flag().optional() },
  async handler({ ctx, account, query, request }) {
    assertUnmodifiedSince(request, account.updated_at)
    await deleteUser(ctx, account, { hard: query.hard_delete ?? false })
  },
})

export const listAccountTokens = endpoint({
  method: 'GET',
  path: '/:source/:id/service_accounts/:user_id/personal_access_tokens',
  summary: 'List the tokens of a service account of a project or group',
  access: onServiceAccount(),
  query: tokenFilterParams,
  paginate: 'offset',
  response: z.array(tokenEntity),
  handler: ({ ctx, account, query, page }) =>
    listTokens(ctx, { userId: account.id, kinds: ['personal'] }, query, page),
})

export const createAccountToken = endpoint({
  method: 'POST',
  path: '/:source/:id/service_accounts/:user_id/personal_access_tokens',
  summary: 'Create a token of a service account of a project or group',
  access: onChangedAccount(),
  body: personalTokenBody,
  response: tokenEntity,
  async handler({ ctx, account, body }) {
    refuseBadToken(ctx, body, account, (faults) => unprocessable(faultSentence(faults)))
    const made = await createToken(ctx, body, { kind: 'personal', userId: account.id })
    return presentToken(made.row, ctx.now(), made.secret)
  },
})

export const revokeAccountToken = endpoint({
  method: 'DELETE',
  path: '/:source/:id/service_accounts/:user_id/personal_access_tokens/:token_id',
  summary: 'Revoke a token of a service account of a project or group',
  access: onAccountToken(),
  async handler({ ctx, token }) {
    if (!(await revokeToken(ctx, token))) throw badRequest()
  },
})

export const rotateAccountToken = endpoint({
  method: 'POST',
  path: '/:source/:id/service_accounts/:user_id/personal_access_tokens/:token_id/rotate',
  summary: 'Rotate a token of a service account of a project or group',
  access: onRotatedAccountToken(),
  body: { expires_at: expiryParam },
  status: 200,
  response: tokenEntity,
  async handler({ ctx, token, body }) {
    const made = await rotateToken(ctx, token, body.expires_at)
    return presentToken(made.row, ctx.now(), made.secret)
  },
})
