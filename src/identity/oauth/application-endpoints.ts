import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { onInstance } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { existing, refuseFaults } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  type ApplicationRow,
  deleteApplication,
  findApplication,
  insertApplication,
  listApplicationRows,
  saveSecret,
} from './queries.ts'
import { linesOf, redirectFaults } from './redirect-uri.ts'
import { areKnown, readScopes, scopesOf } from './scopes.ts'

const applicationEntity = z.strictObject({
  id: z.int(),
  application_id: z.string(),
  application_name: z.string(),
  callback_url: z.string(),
  confidential: z.boolean(),
  scopes: z.array(z.string()),
  secret: z.string().optional(),
})

/** `secret` is given by whoever has just made it. */
function presentApplication(
  row: ApplicationRow,
  secret?: string,
): z.input<typeof applicationEntity> {
  return {
    id: row.id,
    application_id: row.uid,
    application_name: row.name,
    callback_url: row.redirect_uri,
    confidential: row.confidential === 1,
    scopes: scopesOf(row),
    ...(secret === undefined ? {} : { secret }),
  }
}

function newSecret(ctx: Ctx): string {
  return ctx.config.vendor.tokenPrefix('oauth_secret') + randomBytes(32).toString('hex')
}

async function getApplication(ctx: Ctx, applicationId: number): Promise<ApplicationRow> {
  return existing(await findApplication(ctx.db, applicationId), 'Application')
}

async function note(ctx: Ctx, action: string, row: ApplicationRow): Promise<void> {
  const details = { name: row.name, application_id: row.uid }
  await audit(ctx, { entity: { type: 'Instance', id: 1 }, action, details })
}

export const listApplications = endpoint({
  method: 'GET',
  path: '/applications',
  summary: 'List the OAuth applications of the instance',
  access: onInstance(),
  paginate: 'offset',
  response: z.array(applicationEntity),
  async handler({ ctx, page }) {
    const rows = await listApplicationRows(ctx.db, page)
    return { ...rows, items: rows.items.map((row) => presentApplication(row)) }
  },
})

function refuseBadApplication(body: {
  readonly name: string
  readonly redirect_uri: string
  readonly scopes: string
}): void {
  const scopes = readScopes(body.scopes)
  const faults = {
    name: body.name.trim() === '' ? ["can't be blank"] : [],
    redirect_uri: redirectFaults(body.redirect_uri),
    scopes: scopes.length === 0 ? ["can't be blank"] : [],
  }
  if (!areKnown(scopes)) faults.scopes.push("doesn't match configured on the server.")
  refuseFaults(faults)
}

export const createApplication = endpoint({
  method: 'POST',
  path: '/applications',
  summary: 'Register an OAuth application',
  access: onInstance(),
  body: {
    name: text({ max: 255 }),
    redirect_uri: text({ max: 10_000 }),
    scopes: text({ max: 1000 }),
    confidential: flag().optional(),
  },
  response: applicationEntity,
  async handler({ ctx, body }) {
    refuseBadApplication(body)
    const secret = newSecret(ctx)
    const now = ctx.now()
    const row = await inTransaction(ctx, async (inner) => {
      const made = await insertApplication(inner.db, {
        uid: randomBytes(32).toString('hex'),
        secret_digest: digestOf(secret),
        name: body.name.trim(),
        redirect_uri: linesOf(body.redirect_uri).join('\n'),
        scopes: JSON.stringify(readScopes(body.scopes)),
        confidential: (body.confidential ?? true) ? 1 : 0,
        created_at: now,
        updated_at: now,
      })
      await note(inner, 'application_created', made)
      return made
    })
    return presentApplication(row, secret)
  },
})

export const removeApplication = endpoint({
  method: 'DELETE',
  path: '/applications/:id',
  summary: 'Remove an OAuth application, with every token that it holds',
  access: onInstance(),
  params: { id: id() },
  async handler({ ctx, params }) {
    const row = await getApplication(ctx, params.id)
    await inTransaction(ctx, async (inner) => {
      await deleteApplication(inner.db, row.id)
      await note(inner, 'application_removed', row)
    })
  },
})

export const renewApplicationSecret = endpoint({
  method: 'POST',
  path: '/applications/:id/renew-secret',
  summary: 'Renew the secret of an OAuth application; the old one stops working',
  access: onInstance(),
  params: { id: id() },
  response: applicationEntity,
  async handler({ ctx, params }) {
    const row = await getApplication(ctx, params.id)
    const secret = newSecret(ctx)
    const saved = await inTransaction(ctx, async (inner) => {
      await note(inner, 'application_secret_renewed', row)
      return saveSecret(inner.db, row.id, digestOf(secret), inner.now())
    })
    return presentApplication(saved, secret)
  },
})
