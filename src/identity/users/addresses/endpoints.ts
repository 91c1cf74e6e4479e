import { z } from 'zod'
import { audit } from '../../../access/audit.ts'
import { onInstance, signedIn } from '../../../access/subjects.ts'
import { existing, invalid } from '../../../base/problem.ts'
import { assertUnmodifiedSince } from '../../../base/unmodified-since.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint, type RequestFacts } from '../../../http/endpoint.ts'
import { flag, id, text } from '../../../http/params.ts'
import { listPage } from '../../../store/pages.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { taken, uniquely } from '../../../store/unique.ts'
import { callerId, getUser } from '../find-user.ts'
import { emailFaults } from '../names.ts'
import { isEmailTaken } from '../queries.ts'
import { confirmAddress } from './confirm-address.ts'
import { deleteEmailRow, type EmailRow, emailsQuery, findEmail, insertEmail } from './queries.ts'

const emailEntity = z.strictObject({
  id: z.int(),
  email: z.string(),
  confirmed_at: z.string().nullable(),
})

function presentEmail(row: EmailRow): z.input<typeof emailEntity> {
  return { id: row.id, email: row.email, confirmed_at: row.confirmed_at }
}

async function getEmail(ctx: Ctx, userId: number, emailId: number): Promise<EmailRow> {
  return existing(await findEmail(ctx.db, userId, emailId), 'Email')
}

/** Adds a further address; without `confirmed` its owner is asked by mail. */
async function addEmail(
  ctx: Ctx,
  userId: number,
  email: string,
  confirmed: boolean,
): Promise<EmailRow> {
  const faults = emailFaults(email)
  if (faults.length > 0) throw invalid({ email: faults })
  return inTransaction(ctx, async (inner) => {
    if (await isEmailTaken(inner.db, email)) throw taken('email')
    const now = inner.now()
    const row = await uniquely({ 'emails.email': () => taken('email') }, () =>
      insertEmail(inner.db, { user_id: userId, email, confirmed_at: confirmed ? now : null }, now),
    )
    if (!confirmed) await confirmAddress(inner, { id: userId }, email)
    await audit(inner, {
      entity: { type: 'User', id: userId },
      action: 'email_created',
      details: { email },
    })
    return row
  })
}

async function removeEmail(ctx: Ctx, row: EmailRow, request: RequestFacts): Promise<void> {
  assertUnmodifiedSince(request, row.updated_at)
  await inTransaction(ctx, async (inner) => {
    await deleteEmailRow(inner.db, row.id)
    await audit(inner, {
      entity: { type: 'User', id: row.user_id },
      action: 'email_deleted',
      details: { email: row.email },
    })
  })
}

async function listEmails(ctx: Ctx, userId: number, page: Parameters<typeof listPage>[2]) {
  const rows = await listPage(ctx.db, emailsQuery(ctx.db, userId), page)
  return { ...rows, items: rows.items.map(presentEmail) }
}

export const listOwnEmails = endpoint({
  method: 'GET',
  path: '/user/emails',
  summary: "List the caller's further addresses",
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  paginate: 'offset',
  response: z.array(emailEntity),
  handler: ({ ctx, page }) => listEmails(ctx, callerId(ctx), page),
})

export const getOwnEmail = endpoint({
  method: 'GET',
  path: '/user/emails/:email_id',
  summary: 'Get one of the caller’s addresses',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  params: { email_id: id() },
  response: emailEntity,
  handler: async ({ ctx, params }) =>
    presentEmail(await getEmail(ctx, callerId(ctx), params.email_id)),
})

export const addOwnEmail = endpoint({
  method: 'POST',
  path: '/user/emails',
  summary: 'Add an address of the caller',
  access: signedIn(),
  body: { email: text() },
  response: emailEntity,
  handler: async ({ ctx, body }) =>
    presentEmail(await addEmail(ctx, callerId(ctx), body.email, false)),
})

export const deleteOwnEmail = endpoint({
  method: 'DELETE',
  path: '/user/emails/:email_id',
  summary: 'Remove an address of the caller',
  access: signedIn(),
  params: { email_id: id() },
  handler: async ({ ctx, params, request }) =>
    removeEmail(ctx, await getEmail(ctx, callerId(ctx), params.email_id), request),
})

export const listUserEmails = endpoint({
  method: 'GET',
  path: '/users/:id/emails',
  summary: 'List the further addresses of a user',
  access: onInstance(),
  params: { id: id() },
  paginate: 'offset',
  response: z.array(emailEntity),
  handler: async ({ ctx, params, page }) =>
    listEmails(ctx, (await getUser(ctx, params.id)).id, page),
})

export const addUserEmail = endpoint({
  method: 'POST',
  path: '/users/:id/emails',
  summary: 'Add an address of a user',
  access: onInstance(),
  params: { id: id() },
  body: { email: text(), skip_confirmation: flag().optional() },
  response: emailEntity,
  async handler({ ctx, params, body }) {
    const user = await getUser(ctx, params.id)
    return presentEmail(await addEmail(ctx, user.id, body.email, body.skip_confirmation ?? false))
  },
})

export const getUserEmail = endpoint({
  method: 'GET',
  path: '/users/:id/emails/:email_id',
  summary: 'Get an address of a user',
  access: onInstance(),
  params: { id: id(), email_id: id() },
  response: emailEntity,
  async handler({ ctx, params }) {
    const user = await getUser(ctx, params.id)
    return presentEmail(await getEmail(ctx, user.id, params.email_id))
  },
})

export const deleteUserEmail = endpoint({
  method: 'DELETE',
  path: '/users/:id/emails/:email_id',
  summary: 'Remove an address of a user',
  access: onInstance(),
  params: { id: id(), email_id: id() },
  async handler({ ctx, params, request }) {
    const user = await getUser(ctx, params.id)
    await removeEmail(ctx, await getEmail(ctx, user.id, params.email_id), request)
  },
})
