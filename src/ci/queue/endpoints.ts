import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { badParameters, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { id, integer, oneOf, parameter, text } from '../../http/params.ts'
import { jobTokenOf, signInJob } from '../pipelines/process/sign-in-job.ts'
import { noteContact, readRunnerInfo } from '../runners/contact.ts'
import { signInRunner } from '../runners/runner-token.ts'
import { updateInterval } from '../traces/watchers.ts'
import { pickJob } from './pick-job.ts'
import { type JobReport, reportJob } from './report-job.ts'
import { queueOf } from './waiting.ts'

const common = { access: anyone(), ownSignIn: true } as const
const anything = () =>
  parameter({ type: 'object', additionalProperties: true }, (raw) => raw).optional()

/** How long a runner that has seen the queue as it is waits for it to change. */
const HOLD_MS = 50_000

export const requestJob = endpoint({
  ...common,
  method: 'POST',
  path: '/jobs/request',
  summary: 'Give a runner the next job for it, when there is one',
  body: {
    token: text().optional(),
    system_id: text({ max: 64 }).optional(),
    last_update: text({ max: 255 }).optional(),
    info: anything(),
    session: anything(),
  },
  response: z.looseObject({ id: z.int(), token: z.string() }).nullable(),
  status: 201,
  async handler({ ctx, body, request }) {
    const asking = await signInRunner(ctx, request, body.token)
    const info = readRunnerInfo(body.info)
    const manager = await noteContact(ctx, asking, body.system_id, info)
    const queue = queueOf(ctx.db)
    if (asking.paused === 1) return nothing(ctx, queue.version)
    // Whoever has seen this version has been told that it holds nothing for them.
    const hasWaited = await queue.change(body.last_update ?? '', HOLD_MS, request.signal)
    const version = queue.version
    if (request.signal.aborted) return nothing(ctx, version)
    // It may have been changed, paused or deleted meanwhile.
    const runner = hasWaited ? await signInRunner(ctx, request, body.token) : asking
    if (runner.paused === 1) return nothing(ctx, version)
    const picker = { runner, managerId: manager.id, features: info.features ?? {} }
    return (await pickJob(ctx, picker)) ?? nothing(ctx, version)
  },
})

function nothing(ctx: Ctx, version: string): Answer<null> {
  const headers = ctx.config.vendor.headers({ 'Last-Update': version })
  return new Answer(null, { status: 204, headers })
}

export const updateRunningJob = endpoint({
  ...common,
  method: 'PUT',
  path: '/jobs/:id',
  summary: 'Tell the state of a running job',
  params: { id: id() },
  body: {
    token: text().optional(),
    state: oneOf(['pending', 'running', 'success', 'failed']).optional(),
    failure_reason: text({ max: 255 }).optional(),
    exit_code: integer().optional(),
    checksum: text({ max: 255 }).optional(),
    output: anything(),
    info: anything(),
  },
  response: z.int(),
  async handler({ ctx, params, body, request }) {
    const running = await signInJob(ctx, params.id, jobTokenOf(request, body.token))
    const report: JobReport = {
      state: body.state ?? 'running',
      reason: body.failure_reason,
      exitCode: body.exit_code,
      ...readOutput(body.output, body.checksum),
    }
    const { status, jobStatus } = await reportJob(ctx, running, report)
    const interval = String(updateInterval(ctx, params.id))
    const headers = {
      'Job-Status': jobStatus,
      ...ctx.config.vendor.headers({ 'Trace-Update-Interval': interval }),
    }
    return new Answer(status, { status, headers })
  },
})

/** `output: {checksum: 'crc32:…', bytesize}`, or with older programs the checksum alone. */
function readOutput(output: unknown, checksum: string | undefined) {
  const given =
    typeof output === 'object' && output !== null ? (output as Record<string, unknown>) : {}
  const text = typeof given.checksum === 'string' ? given.checksum : checksum
  const size = typeof given.bytesize === 'number' ? given.bytesize : undefined
  const crc = /^crc32:([0-9a-f]{1,8})$/i.exec(text ?? '')?.[1]
  if (text !== undefined && text !== '' && crc === undefined) {
    throw badParameters('checksum is invalid')
  }
  return { crc: crc === undefined ? undefined : Number.parseInt(crc, 16), bytesize: size }
}

export const discoverJobRouter = endpoint({
  ...common,
  method: 'GET',
  path: '/runners/router/discovery',
  summary: 'Where a job router is; there is none',
  response: z.null(),
  handler() {
    throw notFound()
  },
})
