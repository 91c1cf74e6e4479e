import { z } from 'zod'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { type AgentSubject, findUserAgent, insertUserAgent } from './queries.ts'

export const userAgentEntity = z.strictObject({
  user_agent: z.string(),
  ip_address: z.string(),
  akismet_submitted: z.boolean(),
})

/** Records the program and the address that something was made with. */
export async function recordUserAgent(
  ctx: Ctx,
  type: AgentSubject,
  id: number,
  request: Pick<RequestFacts, 'headers' | 'ip'>,
): Promise<void> {
  const agent = request.headers['user-agent']
  if (typeof agent !== 'string' || request.ip === '') return
  await insertUserAgent(ctx.db, {
    subject_type: type,
    subject_id: id,
    user_agent: agent.slice(0, 1000),
    ip_address: request.ip,
    created_at: ctx.now(),
  })
}

/** What was recorded, or 404. */
export async function getUserAgent(ctx: Ctx, type: AgentSubject, id: number) {
  const row = existing(await findUserAgent(ctx.db, type, id), 'UserAgentDetail')
  return { ...row, akismet_submitted: false }
}
