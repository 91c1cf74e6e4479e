import { isAdmin } from '../../access/actor.ts'
import { findTokenById } from '../../access/authentication/token-queries.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { eitherRecord } from '../../access/records.ts'
import { onEither, type Source, type SourceRef } from '../../access/sources.ts'
import { badRequest, hidden, notFound, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { getUser } from '../users/find-user.ts'

/** 401, 404, 403, and only then parameters (docs/contract/A-resolved §1). */
const order = { signedIn: true } as const

/** The project or group whose service accounts the caller administers. */
export const onAccountsOf = () => onEither('admin_service_accounts', order)

/** The project or group that is given a service account. */
export const onNewAccountOf = () => onEither('change_service_accounts', order)

/** The service account of a group or project; anybody else's is not found. */
async function getServiceAccount(ctx: Ctx, source: SourceRef, userId: number) {
  const user = await getUser(ctx, userId)
  const belongs = user.service_source_type === source.type && user.service_source_id === source.id
  if (user.kind !== 'service_account' || !belongs) throw notFound('User')
  return user
}

const account = eitherRecord('admin_service_accounts', {
  params: { user_id: id() },
  find: async ({ ctx, source, params }) => ({
    account: await getServiceAccount(ctx, source, params.user_id),
  }),
})

/** A service account that is read or taken away. */
export const onServiceAccount = () => account('admin_service_accounts', order)

/** One that is changed or given a token, which nothing archived is. */
export const onChangedAccount = () => account('change_service_accounts', order)

/** A token of a service account; `missing` is the refusal where there is none. */
function accountToken(missing: (source: Source) => Problem) {
  return eitherRecord('admin_service_accounts', {
    params: { user_id: id(), token_id: id() },
    async find({ ctx, source, params }) {
      const account = await getServiceAccount(ctx, source, params.user_id)
      const token = await findTokenById(ctx.db, params.token_id)
      if (token?.user_id !== account.id) throw missing(source)
      return { token }
    },
  })
}

const noToken = () => notFound('Personal Access Token')

export const onAccountToken = () => accountToken(noToken)('admin_service_accounts', order)

export const onRotatedAccountToken = () =>
  accountToken((source) => (source.type === 'group' ? hidden() : noToken()))(
    'change_service_accounts',
    order,
  )

interface Creating {
  readonly ctx: Ctx
  readonly source: Source
}

/** The instance may keep the service accounts of groups to administrators. */
export const createsAccount: Condition<Creating> = condition(
  'groups: allow_top_level_group_owners_to_create_service_accounts, or admin',
  ({ ctx, source }) =>
    source.type === 'project' ||
    isAdmin(ctx.actor) ||
    ctx.settings.get('allow_top_level_group_owners_to_create_service_accounts') ||
    badRequest('User does not have permission to create a service account in this namespace.'),
)
