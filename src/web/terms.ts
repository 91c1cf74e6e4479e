import { hasAcceptedTerms } from '../access/authentication/terms.ts'
import { Problem } from '../base/problem.ts'
import type { PageCtx } from './page-ctx.ts'

export const TERMS_ADDRESS = '/-/users/terms'

/** Leads people who have not accepted the terms to them, and back to this page afterwards. */
export async function assertTermsSeen(ctx: PageCtx): Promise<void> {
  const { actor, request } = ctx
  if (actor.kind !== 'user' || (await hasAcceptedTerms(ctx, actor.user))) return
  const isRead = request.method === 'GET'
  const query = isRead ? `?${new URLSearchParams({ return_to: ctx.address })}` : ''
  const message = 'You must accept the terms of service first'
  throw new Problem(
    'moved',
    isRead ? 302 : 303,
    { message },
    { headers: { Location: TERMS_ADDRESS + query } },
  )
}
