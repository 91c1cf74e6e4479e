import type { Readable } from 'node:stream'
import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { badRequest, forbidden, Problem, tooLarge } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { flag, id, text } from '../../http/params.ts'
import { endJob } from '../pipelines/process/change-jobs.ts'
import { jobOf } from '../pipelines/process/running.ts'
import { jobTokenOf, signInJob } from '../pipelines/process/sign-in-job.ts'
import { appendTrace } from './append-trace.ts'
import { updateInterval } from './watchers.ts'

/** Bytes of one chunk. Stock runners send at most one mebibyte. */
const MOST_CHUNK = 16 * 1024 * 1024

export const patchJobTrace = endpoint({
  method: 'PATCH',
  path: '/jobs/:id/trace',
  summary: 'Add to the log of a running job',
  access: anyone(),
  ownSignIn: true,
  raw: true,
  params: { id: id() },
  query: { debug_trace: flag().default(false), token: text().optional() },
  response: z.null(),
  status: 202,
  async handler({ ctx, params, query, request }) {
    const token = jobTokenOf(request, query.token)
    const running = await signInJob(ctx, params.id, token)
    const start = startOf(request.headers['content-range'])
    const bytes = await readChunk(request.body)
    const done = await appendTrace(ctx, running, { start, bytes, debug: query.debug_trace })
    if (done.outcome === 'too_large') return await endTooLarge(ctx, params.id)
    if (done.outcome === 'ended') {
      await signInJob(ctx, params.id, token)
      throw forbidden()
    }
    const headers = {
      'Job-Status': running.status,
      Range: `0-${done.size}`,
      ...ctx.config.vendor.headers({
        'Trace-Update-Interval': String(updateInterval(ctx, params.id)),
      }),
    }
    if (done.outcome === 'wrong_start') {
      throw new Problem('bad_request', 416, { message: '416 Range Not Satisfiable' }, { headers })
    }
    return new Answer(null, { headers })
  },
})

/** Only where the chunk begins counts (docs/contract/B-resolved §6 Trace). */
function startOf(header: string | readonly string[] | undefined): number {
  if (typeof header !== 'string') throw badRequest('Missing header Content-Range')
  const start = /^(?:bytes\s+)?(\d{1,15})-/.exec(header)?.[1]
  if (start === undefined) throw badRequest('Invalid header Content-Range')
  return Number(start)
}

async function readChunk(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_CHUNK) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

async function endTooLarge(ctx: Ctx, jobId: number): Promise<never> {
  const job = await jobOf(ctx.db, jobId)
  if (job) await endJob(ctx, job, { status: 'failed', reason: 'trace_size_exceeded' })
  throw forbidden('Job log is too large')
}
