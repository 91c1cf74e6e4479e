import type { OutboundRequest, OutboundResponse } from '../../base/outbound/outbound.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

const HEADERS_MS = 10_000

/** Asks another server, and waits for its headers a while; each redirect is checked as the address itself. */
export async function askUrl(
  ctx: Pick<Ctx, 'outbound'>,
  url: string,
  request: Omit<OutboundRequest, 'signal'>,
): Promise<OutboundResponse> {
  const headersLate = new AbortController()
  const timer = setTimeout(
    () => headersLate.abort(new OutboundError('timeout', 'the upstream does not answer')),
    HEADERS_MS,
  )
  const asked = ctx.outbound.request(url, { ...request, signal: headersLate.signal })
  return await asked.finally(() => clearTimeout(timer))
}

export interface Headers {
  readonly status: number
  readonly etag: string | null
  readonly type: string
  /** Of the body as it will be read; unknown where it comes compressed. */
  readonly length: number | undefined
  /** The hashes of the body, as far as they were said, in hex. */
  readonly sums: Readonly<Partial<Record<'sha1' | 'md5', string>>>
}

export function headersOf({ status, headers }: OutboundResponse): Headers {
  const one = (name: string) => [headers[name]].flat()[0]
  const length = one('content-length')
  const isPlain = (one('content-encoding') ?? 'identity') === 'identity'
  const sumOf = (kind: 'sha1' | 'md5', form: RegExp) => {
    const sum = isPlain ? one(`x-checksum-${kind}`)?.toLowerCase() : undefined
    return sum !== undefined && form.test(sum) ? { [kind]: sum } : {}
  }
  return {
    status,
    etag: one('etag') ?? null,
    type: one('content-type') ?? 'application/octet-stream',
    length:
      isPlain && length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined,
    sums: { ...sumOf('sha1', /^[0-9a-f]{40}$/), ...sumOf('md5', /^[0-9a-f]{32}$/) },
  }
}

export const isGood = (found: Headers | undefined): found is Headers =>
  found !== undefined && found.status >= 200 && found.status < 300

/** An upstream that answers, but not with what was asked for. */
export class UpstreamStatusError extends OutboundError {
  readonly upstreamStatus: number

  constructor(status: number) {
    super('unreachable', `the upstream answered ${status}`)
    this.upstreamStatus = status
  }
}

/** An upstream's answer that cannot be passed on from here: clients may still ask it themselves. */
export class UnusableAnswerError extends OutboundError {
  constructor(text: string) {
    super('damaged', text)
  }
}

/** The answer to a client when an upstream fails. */
export function gatewayProblem(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const isSlow = error.reason === 'timeout'
  const message = isSlow ? '504 Gateway Timeout' : '502 Bad Gateway'
  return new Problem('bad_gateway', isSlow ? 504 : 502, { message })
}
