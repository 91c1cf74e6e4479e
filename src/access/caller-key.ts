import type { Ctx } from '../ctx.ts'
import { userOf } from './actor.ts'

/** Whose share of something a request takes: that of its user, or of its address; undefined for the server itself. */
export function callerKey({ actor, ip }: Pick<Ctx, 'actor' | 'ip'>): string | undefined {
  const user = userOf(actor)
  if (user) return `user ${user.id}`
  return ip === '' ? undefined : `address ${ip}`
}
