import type { OutboundResponse } from '../../base/outbound/outbound.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { productVersion } from '../../base/version.ts'
import type { Ctx } from '../../ctx.ts'
import type { DeliveryRow, HookRow } from './queries.ts'
import { reachOf } from './reach.ts'
import { openSecrets } from './secrets.ts'
import { fillTemplate, fillUrl } from './template.ts'

/** What became of one request to a hook. */
export interface Outcome {
  readonly ok: boolean
  /** Worth another try: no answer, or one that says that the fault is not ours. */
  readonly retry: boolean
  /** The status as text, or `internal error` without an answer. */
  readonly status: string
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly body: string
  readonly seconds: number
}

const timeoutMs = 10_000
/** So much of a response is stored; the rest of an endless one is not read. */
const keptBytes = 8192
const redacted = '[REDACTED]'

/** Asks the hook's URL once. Never throws for what the receiver does. */
export async function send(
  ctx: Ctx,
  hook: HookRow,
  delivery: Pick<DeliveryRow, 'header' | 'event_uuid' | 'idempotency_key' | 'payload'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const secrets = openSecrets(ctx, hook)
  const { vendor } = ctx.config
  const plain = {
    'Content-Type': 'application/json',
    'User-Agent': `Gitstead/${productVersion}`,
    'Idempotency-Key': delivery.idempotency_key,
    ...vendor.headers({
      Event: delivery.header,
      'Webhook-UUID': hook.uuid,
      Instance: ctx.config.externalUrl,
      'Event-UUID': delivery.event_uuid,
    }),
  }
  const hidden = {
    ...(secrets.token === null ? {} : vendor.headers({ Token: secrets.token })),
    ...Object.fromEntries(secrets.headers.map((one) => [one.key, one.value])),
  }
  const begun = Date.parse(ctx.now())
  const shown = {
    ...plain,
    ...Object.fromEntries(Object.keys(hidden).map((key) => [key, redacted])),
  }
  const outcome = (
    found: Pick<Outcome, 'ok' | 'retry' | 'status' | 'body' | 'responseHeaders'>,
  ) => ({
    ...found,
    requestHeaders: shown,
    seconds: Math.max(0, Date.parse(ctx.now()) - begun) / 1000,
  })
  const failure = (text: string, retry: boolean) =>
    outcome({ ok: false, retry, status: 'internal error', body: text, responseHeaders: {} })
  const body = bodyOf(hook, delivery.payload)
  if (body === undefined) return failure('The custom webhook template does not make JSON.', false)
  try {
    const response = await ctx.outbound.request(fillUrl(secrets.url, secrets.variables), {
      method: 'POST',
      headers: { ...plain, ...hidden },
      body,
      redirects: 0,
      maxSize: Number.MAX_SAFE_INTEGER,
      timeoutMs,
      signal,
      insecure: hook.enable_ssl_verification === 0,
      ...reachOf(ctx, hook.kind),
    })
    return outcome({ ...verdict(response.status), ...(await answerOf(response)) })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return failure(error.message, error.reason === 'unreachable' || error.reason === 'timeout')
  }
}

function bodyOf(hook: HookRow, payload: string): string | undefined {
  const template = hook.custom_webhook_template
  return template ? fillTemplate(template, JSON.parse(payload)) : payload
}

function verdict(status: number): Pick<Outcome, 'ok' | 'retry' | 'status'> {
  const ok = status >= 200 && status < 300
  return { ok, retry: status >= 500 || status === 429, status: String(status) }
}

async function answerOf(
  response: OutboundResponse,
): Promise<Pick<Outcome, 'body' | 'responseHeaders'>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response.body) {
    chunks.push(chunk as Buffer) // a stream of bytes gives Buffers
    size += (chunk as Buffer).byteLength
    if (size >= keptBytes) break
  }
  response.body.destroy()
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
  return {
    body: Buffer.concat(chunks).subarray(0, keptBytes).toString('utf8').replaceAll('\0', ''),
    responseHeaders: Object.fromEntries(headers.slice(0, 50)),
  }
}
