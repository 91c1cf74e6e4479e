import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { MEMBER_LEVELS } from '../../access/roles.ts'
import { anyone, onInstance } from '../../access/subjects.ts'
import { later } from '../../base/clock.ts'
import { existing, invalid } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, flag, id, instant, oneOf, oneOfNumbers, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { inTransaction } from '../../store/transaction.ts'
import { broadcastMessageEntity, presentBroadcastMessage, THEMES } from './entity.ts'
import {
  type BroadcastMessageRow,
  broadcastMessagesQuery,
  deleteBroadcastMessage,
  findBroadcastMessage,
  insertBroadcastMessage,
  updateBroadcastMessage,
} from './queries.ts'

// Parameters are looked at before the caller (docs/contract/A-resolved §1).
const adminAfterParameters = () => onInstance({ validateFirst: true })

const fields = {
  starts_at: instant().optional(),
  ends_at: instant().optional(),
  color: text({ max: 100 }).optional(),
  font: text({ max: 100 }).optional(),
  target_access_levels: csv(oneOfNumbers(MEMBER_LEVELS)).optional(),
  target_path: text({ max: 255 }).optional(),
  broadcast_type: oneOf(['banner', 'notification']).optional(),
  dismissable: flag().optional(),
  theme: oneOf(THEMES).optional(),
}

type Fields = z.infer<z.ZodObject<typeof fields>> & { readonly message?: string | undefined }

const HOUR_MS = 3_600_000

/** The columns of what was sent; 400 for a blank message or a colour that is none. */
function columnsOf(body: Fields) {
  const faults = {
    ...(body.message !== undefined && body.message.trim() === ''
      ? { message: ["can't be blank"] }
      : {}),
    ...colorFaults('color', body.color),
    ...colorFaults('font', body.font),
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  const { target_access_levels: levels, dismissable, ...plain } = body
  return {
    ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
    ...(levels ? { target_access_levels: JSON.stringify([...new Set(levels)]) } : {}),
    ...(dismissable === undefined
      ? {}
      : { dismissable: dismissable ? (1 as const) : (0 as const) }),
  }
}

function colorFaults(name: 'color' | 'font', given: string | undefined) {
  const isColor = given === undefined || /^#(?:[0-9a-f]{3}){1,2}$/i.test(given)
  return isColor ? {} : { [name]: ['must be a valid color code'] }
}

async function getMessage(ctx: Ctx, messageId: number): Promise<BroadcastMessageRow> {
  return existing(await findBroadcastMessage(ctx.db, messageId))
}

async function auditMessage(ctx: Ctx, action: string, row: BroadcastMessageRow): Promise<void> {
  const details = { message_id: row.id, type: row.broadcast_type }
  await audit(ctx, { entity: { type: 'Instance', id: 1 }, action, details })
}

export const listBroadcastMessages = endpoint({
  method: 'GET',
  path: '/broadcast_messages',
  summary: 'List broadcast messages, newest first',
  access: anyone(),
  paginate: 'offset',
  response: z.array(broadcastMessageEntity),
  async handler({ ctx, page }) {
    const rows = await listPage(ctx.db, broadcastMessagesQuery(ctx.db), page)
    return { ...rows, items: rows.items.map((row) => presentBroadcastMessage(row, ctx.now())) }
  },
})

export const getBroadcastMessage = endpoint({
  method: 'GET',
  path: '/broadcast_messages/:id',
  summary: 'Get a broadcast message',
  access: anyone(),
  params: { id: id() },
  response: broadcastMessageEntity,
  handler: async ({ ctx, params }) =>
    presentBroadcastMessage(await getMessage(ctx, params.id), ctx.now()),
})

export const createBroadcastMessage = endpoint({
  method: 'POST',
  path: '/broadcast_messages',
  summary: 'Create a broadcast message',
  access: adminAfterParameters(),
  body: { message: text({ max: 100_000 }), ...fields },
  response: broadcastMessageEntity,
  async handler({ ctx, body }) {
    const now = ctx.now()
    const columns = columnsOf(body)
    const row = await inTransaction(ctx, async (inner) => {
      const made = await insertBroadcastMessage(inner.db, {
        starts_at: now,
        ends_at: later(now, HOUR_MS),
        font: '#FFFFFF',
        ...columns,
        message: body.message,
        created_at: now,
        updated_at: now,
      })
      await auditMessage(inner, 'broadcast_message_created', made)
      return made
    })
    return presentBroadcastMessage(row, now)
  },
})

export const changeBroadcastMessage = endpoint({
  method: 'PUT',
  path: '/broadcast_messages/:id',
  summary: 'Change a broadcast message',
  access: adminAfterParameters(),
  params: { id: id() },
  body: { message: text({ max: 100_000 }).optional(), ...fields },
  response: broadcastMessageEntity,
  async handler({ ctx, params, body }) {
    await getMessage(ctx, params.id)
    const changes = { ...columnsOf(body), updated_at: ctx.now() }
    const row = await inTransaction(ctx, async (inner) => {
      const changed = await updateBroadcastMessage(inner.db, params.id, changes)
      await auditMessage(inner, 'broadcast_message_changed', changed)
      return changed
    })
    return presentBroadcastMessage(row, ctx.now())
  },
})

export const removeBroadcastMessage = endpoint({
  method: 'DELETE',
  path: '/broadcast_messages/:id',
  summary: 'Delete a broadcast message',
  access: adminAfterParameters(),
  params: { id: id() },
  async handler({ ctx, params, request }) {
    const row = await getMessage(ctx, params.id)
    assertUnmodifiedSince(request, row.updated_at)
    await inTransaction(ctx, async (inner) => {
      await deleteBroadcastMessage(inner.db, row.id)
      await auditMessage(inner, 'broadcast_message_deleted', row)
    })
  },
})
