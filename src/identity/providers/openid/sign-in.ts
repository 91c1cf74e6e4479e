import { userOf } from '../../../access/actor.ts'
import { OutboundError } from '../../../base/outbound/outbound-guard.ts'
import { forbidden, notFound, Problem } from '../../../base/problem.ts'
import { labelOf } from '../../../base/providers/provider.ts'
import type { OpenIdProvider } from '../../../base/providers/read-providers.ts'
import { reasonOf } from '../../../base/start-error.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCookie } from '../../../http/credentials/cookies.ts'
import type { RequestFacts } from '../../../http/endpoint.ts'
import { makeFormToken } from '../../sign-in/form-token.ts'
import { linkIdentity } from '../../users/identities/link.ts'
import type { ProvidedPerson } from '../person.ts'
import { noteRefusal, signInByProvider } from '../sign-in.ts'
import { type Attempt, browserOf, openAttempt, sealAttempt } from './attempt.ts'
import { personOf } from './claims.ts'
import { openIdClient } from './library.ts'

type Request = Pick<RequestFacts, 'headers'>

/** A longer path to return to would make a longer `state` than providers take. */
const LONGEST_RETURN = 500

/** The provider of this name, or 404. */
export function getOpenIdProvider(ctx: Ctx, name: string): OpenIdProvider {
  const found = ctx.config.signInProviders.openid.find((one) => one.name === name)
  if (!found) throw notFound()
  return found
}

function callbackUrl({ config }: Ctx, { name }: OpenIdProvider): string {
  return `${config.externalUrl}/users/auth/${name}/callback`
}

/** Where a browser goes to prove who its user is, and the headers that it must be given on the way. */
export async function beginOpenId(
  ctx: Ctx,
  provider: OpenIdProvider,
  { request, returnTo, link }: { request: Request; returnTo: string; link: number | null },
): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
  const form = makeFormToken(ctx, request)
  try {
    const { library, configuration } = await openIdClient(ctx, provider)
    const verifier = library.randomPKCECodeVerifier()
    const nonce = library.randomNonce()
    const state = sealAttempt(ctx, {
      provider: provider.name,
      nonce,
      verifier,
      browser: browserOf(form.secret),
      returnTo: returnTo.length > LONGEST_RETURN ? '/' : returnTo,
      link,
    })
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: callbackUrl(ctx, provider),
      scope: provider.scopes.join(' '),
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, headers: form.headers }
  } catch (error) {
    throw unreachable(ctx, provider, error)
  }
}

/** Who came back from a provider, and what for. */
export interface CameBack {
  readonly attempt: Attempt
  readonly person: ProvidedPerson
}

/**
 * Checks what a browser brings back from a provider: that it left from here, and what the provider says by itself. Every
 * refusal is put on the audit trail.
 */
export async function finishOpenId(
  ctx: Ctx,
  provider: OpenIdProvider,
  { request, rawQuery }: { readonly request: Request; readonly rawQuery: string },
): Promise<CameBack> {
  const url = new URL(`${callbackUrl(ctx, provider)}?${rawQuery}`)
  const secret = readCookie(ctx, request, 'form') ?? ''
  const state = url.searchParams.get('state') ?? ''
  const attempt = openAttempt(ctx, state, browserOf(secret))
  if (attempt?.provider !== provider.name) {
    throw await refused(
      ctx,
      provider,
      'This sign-in was not begun in this browser, or too long ago. Please try again.',
    )
  }
  const person = await ask(ctx, provider, url, { attempt, state })
  if (!person) throw await refused(ctx, provider, 'The provider did not say who you are.')
  return { attempt, person }
}

async function ask(
  ctx: Ctx,
  provider: OpenIdProvider,
  url: URL,
  { attempt, state }: { readonly attempt: Attempt; readonly state: string },
): Promise<ProvidedPerson | undefined> {
  try {
    const { library, configuration } = await openIdClient(ctx, provider)
    const tokens = await library.authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (!claims) return undefined
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined
    const more = hasMore
      ? await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : {}
    return personOf(provider, { ...claims, ...more })
  } catch (error) {
    if (isOfNetwork(error)) throw unreachable(ctx, provider, error)
    const { why, said } = faultOf(error)
    ctx.log.warn('a sign-in provider gave what is not taken', { provider: provider.name, why })
    throw await refused(ctx, provider, said ?? 'The answer of the provider is not valid.', why)
  }
}

async function refused(
  ctx: Ctx,
  { name }: OpenIdProvider,
  text: string,
  why = text,
): Promise<Problem> {
  await noteRefusal(ctx, name, why)
  return forbidden(text)
}

function isOfNetwork(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return error instanceof OutboundError || cause instanceof OutboundError
}

function unreachable(ctx: Ctx, provider: OpenIdProvider, error: unknown): Problem {
  if (error instanceof Problem && !(error instanceof OutboundError)) return error
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  ctx.log.warn('a sign-in provider cannot be asked', {
    provider: provider.name,
    why: reasonOf(cause),
  })
  const message = `${labelOf(provider)} cannot be reached. Please try again later.`
  return new Problem('unprocessable', 422, { message })
}

/** What went wrong in a word for the log, and in a sentence where people can do something about it. */
function faultOf(error: unknown): { readonly why: string; readonly said?: string } {
  const code = error instanceof Error && 'error' in error ? String(error.error) : undefined
  if (code === 'access_denied') return { why: code, said: 'The provider did not let you in.' }
  return { why: (code ?? reasonOf(error)).slice(0, 200) }
}

/** Links the identity to the user who went for it, who must still be the one that is signed in. */
export async function linkOpenId(
  ctx: Ctx,
  provider: OpenIdProvider,
  back: CameBack,
): Promise<void> {
  const user = userOf(ctx.actor)
  if (!user || user.id !== back.attempt.link) {
    throw await refused(ctx, provider, 'Somebody else is signed in by now.')
  }
  await linkIdentity(ctx, user.id, { provider: provider.name, extern_uid: back.person.uid })
}

/** Lets in who came back to sign in. */
export async function admitOpenId(ctx: Ctx, provider: OpenIdProvider, back: CameBack) {
  return await signInByProvider(ctx, provider, back.person)
}
