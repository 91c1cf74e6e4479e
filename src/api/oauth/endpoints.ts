import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { digestOf } from '../../access/door.ts'
import { OAUTH_SCOPES } from '../../access/scopes.ts'
import { onInstance } from '../../access/subjects.ts'
import { invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, list, oneOf, parameter, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { inTransaction } from '../../store/transaction.ts'
import { scopesOf } from './client.ts'
import {
  type ApplicationRow,
  applicationsQuery,
  deleteApplication,
  findApplication,
  insertApplication,
  updateApplicationSecret,
} from './queries.ts'

const tags = ['applications']

const applicationEntity = z.strictObject({
  id: z.int(),
  application_id: z.string(),
  application_name: z.string(),
  callback_url: z.string(),
  confidential: z.boolean(),
  scopes: z.array(z.string()),
  secret: z.string().optional(),
})

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

async function auditApplication(ctx: Ctx, action: string, row: ApplicationRow): Promise<void> {
  const details = { application_id: row.id, name: row.name }
  await audit(ctx, { entity: { type: 'Instance', id: 1 }, action, details })
}

const scopeList = list(oneOf(OAUTH_SCOPES))

/** `api read_user`, `api,read_user` or a list. */
const scopesParam = parameter<string[]>({ type: 'string' }, (raw) => {
  const words = typeof raw === 'string' ? raw.split(/[\s,]+/).filter((word) => word !== '') : raw
  const read = scopeList.safeParse(words)
  return read.success ? read.data : []
})

/** Addresses to return to, one a line: absolute, without a fragment, and nothing that a browser would run. */
function redirectFaults(lines: readonly string[]): string[] {
  if (lines.length === 0) return ["can't be blank"]
  const wrong = lines.some((line) => {
    if (!URL.canParse(line)) return true
    const url = new URL(line)
    return url.hash !== '' || ['javascript:', 'data:', 'vbscript:'].includes(url.protocol)
  })
  return wrong ? ['must be an absolute URI.'] : []
}

export const listApplications = endpoint({
  method: 'GET',
  path: '/applications',
  summary: 'List the OAuth applications of the instance',
  tags,
  access: onInstance(),
  paginate: 'offset',
  response: z.array(applicationEntity),
  async handler({ ctx, page }) {
    const rows = await listPage(ctx.db, applicationsQuery(ctx.db), page)
    return { ...rows, items: rows.items.map((row) => presentApplication(row)) }
  },
})

export const createApplication = endpoint({
  method: 'POST',
  path: '/applications',
  summary: 'Register an OAuth application',
  tags,
  access: onInstance(),
  body: {
    name: text({ max: 255 }),
    redirect_uri: text({ max: 10_000 }),
    scopes: scopesParam,
    confidential: flag().default(true),
  },
  response: applicationEntity,
  status: 201,
  async handler({ ctx, body }) {
    const uris = body.redirect_uri.split(/\s+/).filter((line) => line !== '')
    const faults = {
      name: body.name.trim() === '' ? ["can't be blank"] : [],
      redirect_uri: redirectFaults(uris),
      scopes: body.scopes.length === 0 ? ["doesn't match configured on the server."] : [],
    }
    const wrong = Object.entries(faults).filter(([, texts]) => texts.length > 0)
    if (wrong.length > 0) throw invalid(Object.fromEntries(wrong))
    const secret = newSecret(ctx)
    const now = ctx.now()
    const row = await inTransaction(ctx, async (inner) => {
      const made = await insertApplication(inner.db, {
        uid: randomBytes(32).toString('hex'),
        secret_digest: digestOf(secret),
        name: body.name,
        redirect_uri: uris.join('\n'),
        scopes: JSON.stringify(body.scopes),
        confidential: body.confidential ? 1 : 0,
        created_at: now,
        updated_at: now,
      })
      await auditApplication(inner, 'application_created', made)
      return made
    })
    return presentApplication(row, secret)
  },
})

async function getApplication(ctx: Ctx, applicationId: number): Promise<ApplicationRow> {
  const row = await findApplication(ctx.db, applicationId)
  if (!row) throw notFound('Application')
  return row
}

export const removeApplication = endpoint({
  method: 'DELETE',
  path: '/applications/:id',
  summary: 'Remove an OAuth application, with every token that it has',
  tags,
  access: onInstance(),
  params: { id: id() },
  async handler({ ctx, params }) {
    const row = await getApplication(ctx, params.id)
    await inTransaction(ctx, async (inner) => {
      await deleteApplication(inner.db, row.id)
      await auditApplication(inner, 'application_deleted', row)
    })
  },
})

export const renewApplicationSecret = endpoint({
  method: 'POST',
  path: '/applications/:id/renew-secret',
  summary: 'Give an OAuth application a new secret; the old one is dead',
  tags,
  access: onInstance(),
  params: { id: id() },
  response: applicationEntity,
  status: 201,
  async handler({ ctx, params }) {
    await getApplication(ctx, params.id)
    const secret = newSecret(ctx)
    const row = await inTransaction(ctx, async (inner) => {
      const changed = await updateApplicationSecret(
        inner.db,
        params.id,
        digestOf(secret),
        inner.now(),
      )
      await auditApplication(inner, 'application_secret_renewed', changed)
      return changed
    })
    return presentApplication(row, secret)
  },
})
