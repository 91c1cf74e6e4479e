import type { Ctx } from '../ctx.ts'
import { readCookie, setCookie } from '../http/credentials/cookies.ts'
import type { RequestFacts } from '../http/endpoint.ts'
import { listShownMessages } from '../instance/broadcast-messages/shown.ts'
import { renderMarkdown } from '../markdown/render.ts'
import type { Broadcast } from './context.ts'

/** What is asked of the ctx of a page. */
interface Viewing extends Ctx {
  readonly request: Pick<RequestFacts, 'headers'>
  readonly address: string
  readonly headers: Record<string, string>
}

/** A browser remembers so many messages that were dismissed. */
const MOST_DISMISSED = 40
/** Longer than most messages live. */
const REMEMBERED_S = 90 * 24 * 3600

/** What administrators announce on this page, but for what this browser has dismissed. */
export async function readBroadcasts(ctx: Viewing): Promise<Broadcast[]> {
  const [path = '/'] = ctx.address.split('?')
  const messages = await listShownMessages(ctx, { path, subject: subjectOf(path) })
  const dismissed = readDismissed(ctx)
  const shown = messages.filter((one) => !one.dismissable || !dismissed.includes(one.id))
  return await Promise.all(
    shown.map(async ({ id, message, broadcast_type: type, theme, dismissable }) => ({
      id,
      html: await renderMarkdown(ctx, message, null),
      type,
      theme,
      dismissable,
    })),
  )
}

/** The path of the project or group that an address lies below. */
function subjectOf(address: string): string | undefined {
  const [place = ''] = address.slice(1).split('/-/')
  if (place === '' || place === '-') return undefined
  return decoded(place.replace(/^groups\//, ''))
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function readDismissed(ctx: Viewing): number[] {
  return (readCookie(ctx, ctx.request, 'dismissed') ?? '').split('.').map(Number)
}

/** Has this browser show a message no more. */
export function dismissBroadcast(ctx: Viewing, id: number): void {
  const ids = [...new Set([...readDismissed(ctx), id])].filter((one) => one > 0)
  const value = ids.slice(-MOST_DISMISSED).join('.')
  ctx.headers['Set-Cookie'] = setCookie(ctx, 'dismissed', value, REMEMBERED_S)
}
