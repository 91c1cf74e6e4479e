import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { callerId } from '../users/find-user.ts'
import { endOtherSessions, endOwnSession, presentSession } from './own-sessions.ts'
import { sessionsQuery } from './queries.ts'

const sessionEntity = z.strictObject({
  id: z.int(),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: z.string(),
  expires_at: z.string(),
  /** The browser that asks, on pages. */
  current: z.boolean(),
})

export const listOwnSessions = endpoint({
  method: 'GET',
  path: '/user/sessions',
  summary: 'List the browsers in which the caller is signed in',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  paginate: 'offset',
  response: z.array(sessionEntity),
  async handler({ ctx, page }) {
    const rows = await listPage(ctx.db, sessionsQuery(ctx.db, callerId(ctx), ctx.now()), page)
    return { ...rows, items: rows.items.map((row) => presentSession(ctx, row)) }
  },
})

export const endSessionById = endpoint({
  method: 'DELETE',
  path: '/user/sessions/:session_id',
  summary: 'Sign the caller out of a browser',
  access: signedIn(),
  params: { session_id: id() },
  handler: ({ ctx, params }) => endOwnSession(ctx, params.session_id),
})

export const endSessions = endpoint({
  method: 'DELETE',
  path: '/user/sessions',
  summary: 'Sign the caller out of every browser but the one that asks',
  access: signedIn(),
  handler: ({ ctx }) => endOtherSessions(ctx),
})
