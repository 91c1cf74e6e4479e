import { userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { instanceRecord } from '../../access/records.ts'
import { signedIn } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id, text } from '../../http/params.ts'
import { getUser } from './find-user.ts'
import type { UserRow } from './queries.ts'

const conditions = ({ ctx, user }: { readonly ctx: Ctx; readonly user: UserRow }) => ({
  oneself: user.id === userOf(ctx.actor)?.id,
})

/** The user of `:id`. */
export const onUser = instanceRecord(
  {
    params: { id: id() },
    find: async ({ ctx, params }) => ({ user: await getUser(ctx, params.id) }),
    conditions,
  },
  signedIn,
)

/** The user of `:user_id`, by number or name. */
export const onUserByName = instanceRecord(
  {
    params: { user_id: text() },
    find: async ({ ctx, params }) => ({ user: await getUser(ctx, params.user_id) }),
    conditions,
  },
  signedIn,
)

interface Listing {
  readonly ctx: Ctx
  readonly query: { readonly username?: string | undefined }
}

/** Anonymous callers may look somebody up, but not read the list. */
export const namesUser: Condition<Listing> = condition(
  'username: needed without signing in',
  ({ ctx, query }) =>
    ctx.actor.kind !== 'anonymous' ||
    query.username !== undefined ||
    forbidden('Not authorized to access /api/v4/users'),
)
