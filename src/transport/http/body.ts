import { pipeline, type Readable } from 'node:stream'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import type { IncomingBody } from '../../http/body/incoming.ts'
import type { BodyBudgets } from '../../http/body/limits.ts'
import { BodyLimit, type BodyLimitOptions } from '../body-limit.ts'
import { wrongType } from './refusal.ts'

/** How slowly a client may send, by the settings of the server. */
export function bodyLimits({ config }: Pick<Ctx, 'config'>, maxBytes: number): BodyLimitOptions {
  return { idleMs: config.gitIdle, minRate: 100, graceMs: 120_000, maxBytes }
}

/**
 * The decoded body of a request as a stream that gives up slow senders and stops at a limit, both
 * counted behind the decompression: a small body may inflate to anything.
 */
export function decodedBody(body: IncomingBody, options: BodyLimitOptions): Readable {
  if (!['identity', 'gzip', 'x-gzip'].includes(body.encoding)) throw wrongType('plain or gzip')
  const source = body.open({ idleMs: 0, maxBytes: Number.POSITIVE_INFINITY })
  // The error, if any, arrives at whoever reads the last stream.
  return pipeline(source, new BodyLimit(options), () => {})
}

/** The whole of a small body, charged to whoever sends it while `use` works on it. */
export async function withWholeBody<T>(
  ctx: Ctx,
  budgets: BodyBudgets,
  body: IncomingBody,
  maxBytes: number,
  use: (bytes: Buffer) => T,
): Promise<T> {
  const { memory, anonymousMemory } = budgets
  const charge = (ctx.actor.kind === 'anonymous' ? anonymousMemory : memory).open(ctx.ip)
  try {
    const chunks: Buffer[] = []
    for await (const chunk of decodedBody(body, bodyLimits(ctx, maxBytes))) {
      charge.take(chunk.length)
      chunks.push(chunk)
    }
    return use(Buffer.concat(chunks))
  } finally {
    charge.release()
  }
}

/** Errors of reading a request, in our words. */
export function asBodyError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('Z_')) return new GitError('invalid', 'the body is not valid gzip')
  return error
}
