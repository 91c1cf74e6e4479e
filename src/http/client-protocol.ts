import type { TokenPurpose } from '../access/authentication/client-token.ts'
import { Problem, type ProblemBody } from '../base/problem.ts'
import type { Vendor } from '../base/vendor.ts'
import { answerFor } from './errors.ts'

/** A program that speaks a protocol of its own: how it signs in, and the words in which it wants refusals. */
export interface ClientProtocol {
  /** Named after the vendor's word in the challenge of each 401, without which most clients never send credentials. */
  readonly realm: string
  /** The whole challenge, where Basic is not what the program expects. */
  readonly challenge?: (externalUrl: string) => string
  /** A header of its own that carries a token, in lower case: `x-nuget-apikey`. */
  readonly tokenHeader?: string
  /** Tokens of ours are taken that were given for this purpose; as Bearer, and in this parameter of the query. */
  readonly issued?: { readonly purpose: TokenPurpose; readonly query?: string }
  /** The user name of Basic counts for nothing, or that beside an access token must be its user's, too; else that of job and deploy tokens counts. */
  readonly userName?: 'ignored' | 'own'
  /** The body of a refusal; the REST API's own by default. */
  readonly refusal?: (status: number, message: string) => ProblemBody
}

/** What went wrong, in the client's words; a fault of ours stays one. */
export function clientRefusal(
  client: ClientProtocol,
  error: unknown,
  { baseUrl, vendor }: { readonly baseUrl: string; readonly vendor: Vendor },
): unknown {
  const { status, body, headers, fault } = answerFor(error)
  if (fault) return error
  const challenge =
    status === 401
      ? {
          'WWW-Authenticate':
            client.challenge?.(baseUrl) ?? `Basic realm="${vendor.prefix} ${client.realm}"`,
        }
      : undefined
  const words = client.refusal?.(status, messageOf(body)) ?? body
  const code = error instanceof Problem ? error.code : 'bad_request'
  return new Problem(code, status, words, { headers: { ...headers, ...challenge } })
}

function messageOf(body: ProblemBody): string {
  if (typeof body === 'string') return body
  const text = body.message ?? body.error_description ?? body.error
  return typeof text === 'string' ? text : JSON.stringify(text ?? body)
}
