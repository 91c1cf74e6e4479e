import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { Answer, bytes, endpoint } from '../../http/endpoint.ts'
import { answersReads } from './queries.ts'

export const getHealth = endpoint({
  method: 'GET',
  path: '/-/health',
  host: true,
  ownSignIn: true,
  summary: 'Check that the server answers',
  access: anyone(),
  response: bytes('text/plain'),
  handler: ({ ctx }) => ({
    type: 'text/plain; charset=utf-8',
    body: `${ctx.config.vendor.prefix} OK`,
  }),
})

export const getLiveness = endpoint({
  method: 'GET',
  path: '/-/liveness',
  host: true,
  ownSignIn: true,
  summary: 'Check that the process lives',
  access: anyone(),
  response: z.strictObject({ status: z.literal('ok') }),
  handler: () => ({ status: 'ok' as const }),
})

const state = z.enum(['ok', 'failed'])
type State = z.infer<typeof state>

export const getReadiness = endpoint({
  method: 'GET',
  path: '/-/readiness',
  host: true,
  ownSignIn: true,
  summary: 'Check whether requests can be served',
  access: anyone(),
  response: z.strictObject({
    status: state,
    master_check: z.array(z.strictObject({ status: state })),
  }),
  async handler({ ctx }) {
    const status: State = (await answersReads(ctx.db)) ? 'ok' : 'failed'
    return new Answer(
      { status, master_check: [{ status }] },
      { status: status === 'ok' ? 200 : 503 },
    )
  },
})
