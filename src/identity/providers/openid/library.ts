import type { Configuration, CustomFetch } from 'openid-client'
import type { Outbound } from '../../../base/outbound/outbound.ts'
import type { OpenIdProvider } from '../../../base/providers/read-providers.ts'
import type { Ctx } from '../../../ctx.ts'

/** Loaded by the first sign-in: many servers have no provider. */
const library = () => import('openid-client')

export type OpenIdLibrary = Awaited<ReturnType<typeof library>>

/** What a provider says of itself, and the library that speaks with it. */
export interface OpenIdClient {
  readonly library: OpenIdLibrary
  readonly configuration: Configuration
}

const KEPT_MS = 3_600_000
const TIMEOUT_MS = 15_000
const MOST_BYTES = 1024 * 1024
const CLOCKS_APART_SECONDS = 30

interface Known {
  readonly client: Promise<OpenIdClient>
  readonly until: number
}

const known = new WeakMap<OpenIdProvider, Known>()

/** The client of a provider, whose description is read again after an hour, and after a failure. */
export async function openIdClient(ctx: Ctx, provider: OpenIdProvider): Promise<OpenIdClient> {
  const now = Date.parse(ctx.now())
  const before = known.get(provider)
  if (before && now < before.until && now >= before.until - KEPT_MS) return await before.client
  const client = discover(ctx.outbound, provider)
  known.set(provider, { client, until: now + KEPT_MS })
  client.catch(() => known.delete(provider))
  return await client
}

async function discover(outbound: Outbound, provider: OpenIdProvider): Promise<OpenIdClient> {
  const openid = await library()
  const { issuer, client_id: id, client_secret: secret, token_auth_method: method } = provider
  const url = new URL(issuer)
  const metadata = { [openid.clockTolerance]: CLOCKS_APART_SECONDS }
  const configuration = await openid.discovery(
    url,
    id,
    metadata,
    authentication(openid, secret, method),
    {
      [openid.customFetch]: fetchBy(outbound),
      // The signature is asked for although the token comes from the provider itself: a proxy may be between.
      execute: [
        openid.enableNonRepudiationChecks,
        ...(url.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
      ],
      timeout: TIMEOUT_MS / 1000,
    },
  )
  return { library: openid, configuration }
}

function authentication(
  { ClientSecretBasic, ClientSecretPost, None }: OpenIdLibrary,
  secret: string | undefined,
  method: OpenIdProvider['token_auth_method'],
) {
  if (secret === undefined) return None()
  return method === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret)
}

const withoutBody = new Set([204, 205, 304])

/** What the library asks goes the way of all our requests: private addresses only where they are allowed. */
function fetchBy(outbound: Outbound): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await outbound.request(url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(body ? { body: String(body) } : {}),
      redirects: 0,
      maxSize: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    })
    const bytes = await answer.read()
    const given = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    return new Response(withoutBody.has(answer.status) ? null : new Uint8Array(bytes), {
      status: answer.status,
      headers: Object.fromEntries(given),
    })
  }
}
