import { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { badRequest, notFound, Problem } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { alertBotAddress } from '../users/alert-bot.ts'
import { getUser } from '../users/find-user.ts'
import { accountBriefEntity, accountEntity, presentAccount, presentAccountBrief } from './entity.ts'
import { accountBody, accountOrder, accountPages } from './params.ts'
import { listAccountRows } from './queries.ts'
import { createServiceAccount, updateServiceAccount } from './verbs.ts'

export const listServiceAccounts = endpoint({
  method: 'GET',
  path: '/service_accounts',
  summary: 'List the service accounts of the instance',
  access: onInstance(),
  query: accountOrder,
  paginate: accountPages,
  response: z.array(accountBriefEntity),
  async handler({ ctx, query, page }) {
    const order = { by: query.order_by, sort: query.sort }
    const rows = await listAccountRows(ctx.db, alertBotAddress(ctx), undefined, order, page)
    return { ...rows, items: rows.items.map(presentAccountBrief) }
  },
})

export const createInstanceServiceAccount = endpoint({
  method: 'POST',
  path: '/service_accounts',
  summary: 'Create a service account of the instance',
  access: onInstance(),
  body: accountBody,
  response: accountEntity,
  handler: async ({ ctx, body }) =>
    presentAccount(await createServiceAccount(ctx, undefined, body)),
})

export const updateInstanceServiceAccount = endpoint({
  method: 'PATCH',
  path: '/service_accounts/:id',
  summary: 'Change a service account',
  access: onInstance(),
  params: { id: id() },
  body: accountBody,
  response: accountEntity,
  async handler({ ctx, params, body }) {
    const user = await getUser(ctx, params.id).catch((error: unknown) => {
      throw error instanceof Problem && error.code === 'not_found' ? notFound() : error
    })
    // The bot that looks after alerts is the server's own.
    if (user.kind !== 'service_account' || user.email === alertBotAddress(ctx))
      throw badRequest('User is not a service account')
    return presentAccount(await updateServiceAccount(ctx, user, body, badRequest))
  },
})
