import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { onInstance, signedIn } from '../../access/subjects.ts'
import { later } from '../../base/clock.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, day, flag } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { inTransaction } from '../../store/transaction.ts'
import { avatarUrl } from './basic.ts'
import { countsFor } from './counts-queries.ts'
import { userEntity } from './entity.ts'
import { callerId, getUser, getUserDetails } from './find-user.ts'
import { avatarColumns, avatarParam } from './params.ts'
import { presentCurrentUser } from './present-user.ts'
import { readUserSettings } from './profile/profile.ts'
import { listActivities, updateUserRow } from './queries.ts'

const readScopes = ['api', 'read_api', 'read_user']

export const getCurrentUser = endpoint({
  method: 'GET',
  path: '/user',
  summary: 'Get the caller',
  access: signedIn(),
  scopes: readScopes,
  response: userEntity,
  handler: async ({ ctx }) => presentCurrentUser(ctx, await getUserDetails(ctx, callerId(ctx))),
})

const preferencesEntity = z.strictObject({
  id: z.int(),
  user_id: z.int(),
  view_diffs_file_by_file: z.boolean(),
  show_whitespace_in_diffs: z.boolean(),
  pass_user_identities_to_ci_jwt: z.boolean(),
})

function presentPreferences(user: { id: number; settings: string }) {
  const settings = readUserSettings(user.settings)
  return {
    id: user.id,
    user_id: user.id,
    view_diffs_file_by_file: settings.view_diffs_file_by_file,
    show_whitespace_in_diffs: settings.show_whitespace_in_diffs,
    pass_user_identities_to_ci_jwt: settings.pass_user_identities_to_ci_jwt,
  }
}

export const getPreferences = endpoint({
  method: 'GET',
  path: '/user/preferences',
  summary: "Get the caller's preferences",
  access: signedIn(),
  scopes: readScopes,
  response: preferencesEntity,
  handler: async ({ ctx }) => presentPreferences(await getUser(ctx, callerId(ctx))),
})

const preferences = {
  view_diffs_file_by_file: flag().optional(),
  show_whitespace_in_diffs: flag().optional(),
  pass_user_identities_to_ci_jwt: flag().optional(),
}

export const putPreferences = endpoint({
  method: 'PUT',
  path: '/user/preferences',
  summary: "Change the caller's preferences",
  access: signedIn(),
  body: preferences,
  check: atLeastOne(Object.keys(preferences)),
  response: preferencesEntity,
  async handler({ ctx, body }) {
    const row = await inTransaction(ctx, async (ctx) => {
      const user = await getUser(ctx, callerId(ctx))
      const settings = JSON.stringify({ ...readUserSettings(user.settings), ...body })
      return await updateUserRow(ctx.db, user.id, { settings, updated_at: ctx.now() })
    })
    return presentPreferences(row)
  },
})

export const putAvatar = endpoint({
  method: 'PUT',
  path: '/user/avatar',
  summary: "Set the caller's avatar",
  access: signedIn(),
  body: { avatar: avatarParam },
  response: z.strictObject({ avatar_url: z.string().nullable() }),
  async handler({ ctx, body }) {
    const columns = await avatarColumns(ctx, body.avatar)
    const row = await updateUserRow(ctx.db, callerId(ctx), { ...columns, updated_at: ctx.now() })
    await audit(ctx, { entity: { type: 'User', id: row.id }, action: 'user_avatar_changed' })
    return { avatar_url: avatarUrl(ctx, 'user', row.id, row) }
  },
})

export const getUserCounts = endpoint({
  method: 'GET',
  path: '/user_counts',
  summary: 'Count the issues, merge requests and to-dos of the caller',
  access: signedIn(),
  scopes: readScopes,
  response: z.strictObject({
    merge_requests: z.int(),
    assigned_issues: z.int(),
    assigned_merge_requests: z.int(),
    review_requested_merge_requests: z.int(),
    todos: z.int(),
  }),
  handler: ({ ctx }) => countsFor(ctx.db, callerId(ctx)),
})

export const getActivities = endpoint({
  method: 'GET',
  path: '/user/activities',
  summary: 'List when users were last active',
  access: onInstance(),
  query: { from: day().optional() },
  paginate: 'offset',
  response: z.array(
    z.strictObject({
      username: z.string(),
      last_activity_on: z.string().nullable(),
      last_activity_at: z.string().nullable(),
    }),
  ),
  async handler({ ctx, query, page }) {
    const halfYear = later(ctx.now(), -182 * 86_400_000)
    const rows = await listPage(ctx.db, listActivities(ctx.db, query.from ?? halfYear), page)
    return {
      ...rows,
      items: rows.items.map(({ username, last_activity_on }) => ({
        username,
        last_activity_on,
        last_activity_at: last_activity_on,
      })),
    }
  },
})
