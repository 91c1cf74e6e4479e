import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { badParameters, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { id, integer, oneOf, parameter, text } from '../../http/params.ts'
import { jobTokenOf, signInJob } from '../pipelines/process/sign-in-job.ts'
import { noteContact, readRunnerInfo } from '../runners/contact.ts'
import { signInRunner } from '../runners/runner-token.ts'
import { updateInterval } from '../traces/watchers.ts'
import type { JobPayload } from './payload.ts'
import { type Picker, pickJob } from './pick-job.ts'
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
  summary: 'Request a job for a runner',
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
    const queue = queueOf(ctx.db)
    // Before anything is read: what changes meanwhile is another version.
    const found = queue.version
    const asking = await signInRunner(ctx, request, body.token)
    const info = readRunnerInfo(body.info)
    const manager = await noteContact(ctx, asking, body.system_id, info)
    if (asking.paused === 1) return nothing(ctx, found)
    const picker = { managerId: manager.id, features: info.features ?? {} }
    const wait = { seen: body.last_update ?? '', token: body.token }
    return await nextJob(ctx, request, { ...picker, runner: asking }, wait)
  },
})

/**
 * The next job for a runner. Whoever has seen the queue as it is waits for it to change, and after a change of what decides
 * who may have a job waits on when there is still none for it.
 */
async function nextJob(
  ctx: Ctx,
  request: RequestFacts,
  picker: Picker,
  wait: { readonly seen: string; readonly token: string | undefined },
): Promise<JobPayload | Answer<null>> {
  const queue = queueOf(ctx.db)
  const until = performance.now() + HOLD_MS
  let { seen } = wait
  let { runner } = picker
  for (;;) {
    const version = queue.version
    if (seen !== version) {
      const isNew = !queue.hasJobsOf(seen)
      const payload = await pickJob(ctx, { ...picker, runner })
      if (payload) return payload
      if (isNew) return nothing(ctx, version)
    }
    seen = version
    await queue.change(version, until - performance.now(), request)
    const isOver = request.signal.aborted || request.stopping.aborted
    if (isOver || performance.now() >= until) return nothing(ctx, version)
    // It may have been changed, paused or deleted meanwhile.
    const current = await signInRunner(ctx, request, wait.token)
    if (current.paused === 1) return nothing(ctx, version)
    runner = current
  }
}

function nothing(ctx: Ctx, version: string): Answer<null> {
  const headers = ctx.config.vendor.headers({ 'Last-Update': version })
  return new Answer(null, { status: 204, headers })
}

export const updateRunningJob = endpoint({
  ...common,
  method: 'PUT',
  path: '/jobs/:id',
  summary: 'Get the state of a running job',
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
