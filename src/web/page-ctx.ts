import { userOf } from '../access/actor.ts'
import type { Ctx } from '../ctx.ts'
import type { CallingCtx } from '../http/call/call.ts'
import { readCookie, setCookie } from '../http/credentials/cookies.ts'
import type { RequestFacts } from '../http/endpoint.ts'
import { makeFormToken } from '../identity/sign-in/form-token.ts'
import { usersById } from '../identity/users/find-basic.ts'
import { readBroadcasts } from './broadcasts.ts'
import type { Flash, RefusedForm, Shown } from './context.ts'

/** The ctx of a page or form: it calls endpoints, and knows the request that it answers. */
export interface PageCtx extends CallingCtx {
  readonly request: RequestFacts
  /** The path and query of the request, below the external URL. */
  readonly address: string
  /** Set-Cookie and other headers that the answer must carry. */
  readonly headers: Record<string, string>
}

/** A ctx for the page that a request asks for; a page that only reads remembers what its calls look up. */
export function openPageCtx(ctx: Ctx, request: RequestFacts, remembers: boolean): PageCtx {
  return {
    ...ctx,
    ...(remembers ? { memory: new WeakMap() } : {}),
    inProcess: request.inProcess,
    calls: [],
    request,
    address: addressOf(ctx, request),
    headers: {},
  }
}

/** The path of the external URL, without a slash at its end. */
export function basePathOf({ config }: Pick<Ctx, 'config'>): string {
  return new URL(config.externalUrl).pathname.replace(/\/$/, '')
}

function addressOf(ctx: Ctx, request: RequestFacts): string {
  const path = request.url.slice(ctx.config.externalUrl.length)
  return request.rawQuery === '' ? path : `${path}?${request.rawQuery}`
}

const tokens = new WeakMap<PageCtx, string>()

/** What makes the forms of this page ours, and challenges of this browser. */
export function formTokenOf(ctx: PageCtx): string {
  const known = tokens.get(ctx)
  if (known !== undefined) return known
  const { token, headers } = makeFormToken(ctx, ctx.request)
  Object.assign(ctx.headers, headers)
  tokens.set(ctx, token)
  return token
}

/** What the parts of the page know of it. */
export async function shownOf(
  ctx: PageCtx,
  refused: RefusedForm | null,
  showsFlash = true,
): Promise<Shown> {
  const { request, config } = ctx
  const formToken = formTokenOf(ctx)
  const user = userOf(ctx.actor)
  return {
    basePath: basePathOf(ctx),
    externalUrl: config.externalUrl,
    hasSsh: config.ssh.isOffered,
    viewer: user && {
      id: user.id,
      username: user.username,
      name: user.name,
      avatarUrl: (await usersById(ctx, [user.id])).get(user.id)?.avatar_url ?? null,
      isAdmin: user.admin,
    },
    formToken,
    address: ctx.address,
    refused,
    flash: showsFlash ? takeFlash(ctx) : null,
    broadcasts: await readBroadcasts(ctx),
    secondFactorBy: ctx.actor.kind === 'user' ? (ctx.actor.session?.secondFactorBy ?? null) : null,
    calls: ctx.calls,
    view: readView(ctx),
    requestId: request.id,
  }
}

/** The message that the last form left for this page, which is shown once. */
function takeFlash(ctx: PageCtx): Flash | null {
  const value = readCookie(ctx, ctx.request, 'flash')
  if (value === undefined) return null
  ctx.headers['Set-Cookie'] = setCookie(ctx, 'flash')
  const [, kind, text] =
    /^(notice|alert) (.+)$/s.exec(Buffer.from(value, 'base64url').toString('utf8')) ?? []
  return text === undefined ? null : { kind: kind === 'alert' ? 'alert' : 'notice', text }
}

/** Has the next page show a message. */
export function leaveFlash(ctx: PageCtx, { kind, text }: Flash): void {
  const value = Buffer.from(`${kind} ${text.slice(0, 300)}`).toString('base64url')
  ctx.headers['Set-Cookie'] = setCookie(ctx, 'flash', value, 60)
}

/** How this person likes pages: `diff=split`. */
export function readView(ctx: PageCtx): ReadonlyMap<string, string> {
  const pairs = (readCookie(ctx, ctx.request, 'view') ?? '').split('.')
  return new Map(
    pairs.flatMap((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return name === '' ? [] : [[name, value] as const]
    }),
  )
}

/** Remembers how this person likes pages, for a year. */
export function keepView(ctx: PageCtx, name: string, value: string): void {
  const view = new Map([...readView(ctx), [name, value]])
  const text = [...view].map((pair) => pair.join('=')).join('.')
  ctx.headers['Set-Cookie'] = setCookie(ctx, 'view', text, 365 * 24 * 3600)
}
