import { z } from 'zod'
import { anyone, signedIn } from '../../../access/subjects.ts'
import { later } from '../../../base/clock.ts'
import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint, type Method } from '../../../http/endpoint.ts'
import { oneOf, text } from '../../../http/params.ts'
import { renderField } from '../../../markdown/render.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { callerId } from '../find-user.ts'
import { findStatus, saveStatus, type UserStatusRow } from './status-queries.ts'
import { getUserWithProfile } from './visible-profile.ts'

const statusEntity = z.strictObject({
  emoji: z.string().nullable(),
  message: z.string().nullable(),
  availability: z.enum(['not_set', 'busy']),
  message_html: z.string(),
  clear_status_at: z.string().nullable(),
})

async function presentStatus(
  ctx: Ctx,
  row: UserStatusRow | undefined,
): Promise<z.input<typeof statusEntity>> {
  const message = row?.message ?? null
  return {
    emoji: row?.emoji ?? null,
    message,
    availability: row?.availability ?? 'not_set',
    message_html: await renderField(ctx, message, null, { inline: true }),
    clear_status_at: row?.clear_at ?? null,
  }
}

const HOUR_MS = 3_600_000

/** How long a status may stand (docs/contract/D §1.1). */
const CLEAR_AFTER_MS = {
  '30_minutes': HOUR_MS / 2,
  '3_hours': 3 * HOUR_MS,
  '8_hours': 8 * HOUR_MS,
  '1_day': 24 * HOUR_MS,
  '3_days': 72 * HOUR_MS,
  '7_days': 7 * 24 * HOUR_MS,
  '30_days': 30 * 24 * HOUR_MS,
} as const

const clearAfter = oneOf(Object.keys(CLEAR_AFTER_MS) as (keyof typeof CLEAR_AFTER_MS)[])

export const getOwnStatus = endpoint({
  method: 'GET',
  path: '/user/status',
  summary: "Get the caller's status",
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: statusEntity,
  handler: async ({ ctx }) =>
    presentStatus(ctx, await findStatus(ctx.db, callerId(ctx), ctx.now())),
})

export const getStatus = endpoint({
  method: 'GET',
  path: '/users/:user_id/status',
  summary: 'Get the status of a user',
  access: anyone(),
  scopes: ['api', 'read_api', 'read_user'],
  params: { user_id: text() },
  response: statusEntity,
  async handler({ ctx, params }) {
    const user = await getUserWithProfile(ctx, params.user_id)
    return presentStatus(ctx, await findStatus(ctx.db, user.id, ctx.now()))
  },
})

interface StatusChanges {
  readonly emoji?: string | null | undefined
  readonly message?: string | null | undefined
  readonly availability?: 'not_set' | 'busy' | undefined
  readonly clear_status_after?: keyof typeof CLEAR_AFTER_MS | null | undefined
}

async function changeStatus(ctx: Ctx, body: StatusChanges, keep: boolean): Promise<UserStatusRow> {
  if (body.message && body.message.length > 100) {
    throw invalid({ message: ['is too long (maximum is 100 characters)'] })
  }
  const before = keep ? await findStatus(ctx.db, callerId(ctx), ctx.now()) : undefined
  const after = body.clear_status_after
  const kept = after === undefined ? (before?.clear_at ?? null) : null
  return saveStatus(ctx.db, {
    user_id: callerId(ctx),
    emoji: body.emoji === undefined ? (before?.emoji ?? 'speech_balloon') : body.emoji,
    message: body.message === undefined ? (before?.message ?? null) : body.message,
    availability: body.availability ?? before?.availability ?? 'not_set',
    clear_at: after ? later(ctx.now(), CLEAR_AFTER_MS[after]) : kept,
  })
}

/** PUT clears what was not sent, PATCH keeps it (docs/contract/D §1.1). */
function statusEndpoint(method: Extract<Method, 'PUT' | 'PATCH'>) {
  return endpoint({
    method,
    path: '/user/status',
    summary: method === 'PUT' ? "Set the caller's status" : "Change the caller's status",
    access: signedIn(),
    body: {
      emoji: text({ max: 255 }).nullish(),
      message: text({ max: 5000 }).nullish(),
      availability: oneOf(['not_set', 'busy']).optional(),
      clear_status_after: clearAfter.nullish(),
    },
    response: statusEntity,
    async handler({ ctx, body }) {
      const change = (ctx: Ctx) => changeStatus(ctx, body, method === 'PATCH')
      return presentStatus(ctx, await inTransaction(ctx, change))
    },
  })
}

export const putStatus = statusEndpoint('PUT')
export const patchStatus = statusEndpoint('PATCH')
