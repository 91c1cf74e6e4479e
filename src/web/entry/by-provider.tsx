import { labelOf } from '../../base/providers/provider.ts'
import { type Bytes, perMinute } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import {
  admitOpenId,
  beginOpenId,
  finishOpenId,
  getOpenIdProvider,
  linkOpenId,
} from '../../identity/providers/openid/sign-in.ts'
import { continueSignIn } from '../../identity/sign-in/next-step.ts'
import { safeReturn } from '../../identity/sign-in/return-path.ts'
import { withQuery } from '../address.ts'
import { pageEndpoint } from '../page.ts'
import { basePathOf, leaveFlash, type PageCtx } from '../page-ctx.ts'
import { A } from '../parts/link.tsx'
import { pathOfStep } from './next-page.ts'

// Both addresses lead on to somewhere else, and show nothing but refusals.

/** Each begin asks the provider nothing that is not known, but each return does, and leaves a record. */
const RETURNS = perMinute('sign_in_by_provider', 30)

export const beginByProvider = pageEndpoint(
  {
    address: '/users/auth/:provider',
    summary: 'Go to a sign-in provider',
    query: { return_to: text().optional() },
  },
  async (ctx, { provider: name, query }) => {
    const provider = getOpenIdProvider(ctx, String(name))
    const { return_to: asked } = query as { readonly return_to?: string }
    const returnTo = safeReturn(asked) ?? '/'
    const { request } = ctx
    const { url, headers } = await beginOpenId(ctx, provider, { request, returnTo, link: null })
    Object.assign(ctx.headers, headers)
    return leadTo(ctx, url)
  },
)

export const returnByProvider = pageEndpoint(
  {
    address: '/users/auth/:provider/callback',
    summary: 'Come back from a sign-in provider',
  },
  async (ctx, { provider: name }) => {
    ctx.request.countAgainst(RETURNS, ctx.ip)
    const provider = getOpenIdProvider(ctx, String(name))
    const { request } = ctx
    const { rawQuery } = request
    const back = await finishOpenId(ctx, provider, { request, rawQuery })
    const { link, returnTo } = back.attempt
    if (link === null) {
      const actor = await admitOpenId(ctx, provider, back)
      const { next, headers } = await continueSignIn(ctx, actor, 'provider', request)
      Object.assign(ctx.headers, headers)
      return leadTo(ctx, basePathOf(ctx) + pathOfStep(next, returnTo))
    }
    await linkOpenId(ctx, provider, back)
    leaveFlash(ctx, {
      kind: 'notice',
      text: `You can sign in by ${labelOf(provider)} from now on.`,
    })
    return leadTo(ctx, basePathOf(ctx) + returnTo)
  },
)

function leadTo(ctx: PageCtx, Location: string): Bytes {
  const headers = { Location, 'Cache-Control': 'no-store', ...ctx.headers }
  return { type: 'text/plain; charset=utf-8', body: '', status: 302, headers }
}

/** A button for each provider. */
export function ProviderLinks({
  providers,
  returnTo,
}: {
  providers: readonly { readonly name: string; readonly label: string }[]
  returnTo: string
}) {
  if (providers.length === 0) return null
  return (
    <nav class="form" aria-label="Other ways to sign in">
      {providers.map(({ name, label }) => (
        <A
          key={name}
          class="button"
          href={withQuery(`/users/auth/${name}`, { return_to: returnTo })}
        >
          Sign in with {label}
        </A>
      ))}
    </nav>
  )
}
