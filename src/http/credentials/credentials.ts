import type { Credentials } from '../../access/authentication/credentials.ts'
import { badParameters } from '../../base/problem.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Input } from '../read-input.ts'
import { type ApiRequest, header } from '../request.ts'

/** The credentials that a request carries in parameters and headers (docs/contract/A-resolved §7, D §0.4). */
export function readCredentials(
  request: ApiRequest,
  query: Input,
  body: Input,
  { client, session: admitsSession }: Pick<Endpoint, 'client' | 'session'>,
  readSession: () => string | undefined,
): Credentials {
  if (admitsSession === 'only') return { session: readSession() }
  const authorization = header(request, 'authorization')
  const named =
    secretOf('private_token', query) ??
    secretOf('private_token', body) ??
    secretOf('access_token', query) ??
    secretOf('access_token', body) ??
    header(request, 'private-token')
  const bearer = bearerOf(authorization)
  return {
    anyToken: client?.tokenHeader && header(request, client.tokenHeader),
    token: named ?? bearer,
    isBearer: named === undefined && bearer !== undefined,
    jobToken:
      header(request, 'job-token') ?? secretOf('job_token', query) ?? secretOf('job_token', body),
    deployToken: header(request, 'deploy-token'),
    queryToken: client?.issued?.query && textOf(query[client.issued.query]),
    basic: basicOf(authorization),
    session: admitsSession ? readSession() : undefined,
    // An empty one is a user whom nobody knows: who asks to act as another never acts as themself.
    sudo: header(request, 'sudo') ?? wordOf('sudo', query) ?? wordOf('sudo', body),
  }
}

/** The one secret in the headers of a request that was admitted, for protocols that give a token of ours for it. */
export function secretIn(headers: ApiRequest['headers']): string | undefined {
  const one = (name: string) => textOf([headers[name]].flat()[0])
  return (
    one('private-token') ??
    one('job-token') ??
    one('deploy-token') ??
    bearerOf(one('authorization')) ??
    basicOf(one('authorization'))?.password
  )
}

/** A parameter with credentials. A list or a hash is refused with 400: ignored, it would make the caller anonymous. */
function wordOf(name: string, input: Input): string | undefined {
  const value = input[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw badParameters(`${name} is invalid`)
}

function secretOf(name: string, input: Input): string | undefined {
  return wordOf(name, input) || undefined
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function bearerOf(authorization: string | undefined): string | undefined {
  const found = /^bearer\s+(\S+)\s*$/i.exec(authorization ?? '')
  return found?.[1]
}

/** User and password of Basic authentication, or undefined. */
export function basicOf(authorization: string | undefined): Credentials['basic'] {
  const found = /^basic\s+([A-Za-z0-9+/=_-]+)\s*$/i.exec(authorization ?? '')
  if (!found?.[1]) return undefined
  const pair = Buffer.from(found[1], 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { user: pair.slice(0, colon), password: pair.slice(colon + 1) }
}
