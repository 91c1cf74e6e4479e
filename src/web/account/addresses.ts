import { call } from '../../http/call/call.ts'
import { listOwnEmails } from '../../identity/users/addresses/endpoints.ts'
import { getCurrentUser } from '../../identity/users/current-endpoints.ts'
import type { PageCtx } from '../page-ctx.ts'

/** The addresses that the caller has confirmed, as choices of a field. */
export async function confirmedAddresses(
  ctx: PageCtx,
): Promise<{ readonly value: string; readonly label: string }[]> {
  const [user, { items }] = await Promise.all([
    call(getCurrentUser, ctx, { path: {} }),
    call(listOwnEmails, ctx, { path: {}, query: { per_page: 100 } }),
  ])
  const first = user.confirmed_at && user.email !== undefined ? [user.email] : []
  const further = items.filter((one) => one.confirmed_at !== null).map(({ email }) => email)
  return [...new Set([...first, ...further])].map((email) => ({ value: email, label: email }))
}
