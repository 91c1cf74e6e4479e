import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { Pace, type PaceOptions } from '../pace.ts'
import { wrongType } from './refusal.ts'

/** How slowly a client may send, by the settings of the server. */
export function paceOf({ config }: Pick<Ctx, 'config'>, maxBytes: number): PaceOptions {
  return { idleMs: config.gitIdle, minRate: 100, graceMs: 120_000, maxBytes }
}

/**
 * The decoded body of a request as a stream that gives up slow senders and stops at a limit, both
 * counted behind the decompression: a small body may inflate to anything.
 */
export function decodedBody(request: IncomingMessage, options: PaceOptions): Readable {
  const pace = new Pace(options)
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding === 'gzip' || encoding === 'x-gzip') {
    // The error, if any, arrives at whoever reads the last stream.
    return pipeline(request, createGunzip(), pace, () => {})
  }
  if (encoding !== 'identity' && encoding !== '') throw wrongType('plain or gzip')
  return pipeline(request, pace, () => {})
}

/** The whole of a small body. */
export async function wholeBody(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Errors of reading a request, in our words. */
export function asBodyError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('Z_')) return new GitError('invalid', 'the body is not valid gzip')
  return error
}
