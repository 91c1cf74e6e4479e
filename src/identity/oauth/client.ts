import { timingSafeEqual } from 'node:crypto'
import { digestOf } from '../../access/token-use.ts'
import type { Ctx } from '../../ctx.ts'
import { basicOf } from '../../http/credentials/credentials.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { oauthFault } from './faults.ts'
import { type ApplicationRow, findApplicationByUid } from './queries.ts'

/** How a client says who it is: Basic, or `client_id` and `client_secret` in the body. */
export interface ClientParams {
  readonly client_id?: string | undefined
  readonly client_secret?: string | undefined
}

interface Claim {
  readonly uid: string
  readonly secret: string | undefined
}

function claimOf(request: Pick<RequestFacts, 'headers'>, params: ClientParams): Claim | undefined {
  const header = request.headers.authorization
  const basic = typeof header === 'string' ? basicOf(header) : undefined
  // Both parts are form-encoded in Basic (RFC 6749 §2.3.1); stock libraries send an empty pair when they have no client.
  if (basic && basic.user !== '') return { uid: decode(basic.user), secret: decode(basic.password) }
  if (params.client_id === undefined || params.client_id === '') return undefined
  return { uid: params.client_id, secret: params.client_secret }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** The client of a request, or undefined when it names none; a wrong one is refused, whatever else it sends. */
export async function findClient(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
  params: ClientParams,
): Promise<ApplicationRow | undefined> {
  const claim = claimOf(request, params)
  if (!claim) return undefined
  const application = await findApplicationByUid(ctx.db, claim.uid)
  if (!application) throw oauthFault('invalid_client')
  const isRight =
    claim.secret !== undefined &&
    claim.secret !== '' &&
    timingSafeEqual(digestOf(claim.secret), application.secret_digest)
  const isPublic =
    application.confidential === 0 && (claim.secret === undefined || claim.secret === '')
  if (!isRight && !isPublic) throw oauthFault('invalid_client')
  return application
}

/** As `findClient`, and refused without one. */
export async function getClient(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
  params: ClientParams,
): Promise<ApplicationRow> {
  const client = await findClient(ctx, request, params)
  if (!client) throw oauthFault('invalid_client')
  return client
}
