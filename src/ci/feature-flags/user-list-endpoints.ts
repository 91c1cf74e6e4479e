import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { conflict, invalidText } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { nextIid } from '../../store/iid.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { onUserList } from './access.ts'
import { presentUserList, userListEntity } from './entity.ts'
import {
  deleteUserList,
  insertUserList,
  isListUsed,
  listUserLists,
  updateUserList,
} from './queries.ts'

const path = '/projects/:id/feature_flags_user_lists'
const taken = {
  'feature_flag_user_lists.project_id, feature_flag_user_lists.name': () =>
    invalidText(['Name has already been taken']),
}
const name = text({ max: 255 })
const user_xids = text({ max: 100_000 })

export const listFlagUserLists = endpoint({
  method: 'GET',
  path,
  summary: 'List the user lists that feature flags of a project use',
  access: onProject('read_feature_flags'),
  query: { search: text({ max: 255 }).optional() },
  paginate: 'offset',
  response: z.array(userListEntity),
  async handler({ ctx, project, query, page }) {
    const rows = await listUserLists(ctx.db, project.id, query.search, page)
    return { ...rows, items: rows.items.map(presentUserList) }
  },
})

export const getFlagUserList = endpoint({
  method: 'GET',
  path: `${path}/:iid`,
  summary: 'Read a user list of feature flags',
  access: onUserList(),
  response: userListEntity,
  handler: ({ list }) => presentUserList(list),
})

export const addFlagUserList = endpoint({
  method: 'POST',
  path,
  summary: 'Add a user list for feature flags',
  access: onProject('admin_feature_flags'),
  body: { name, user_xids },
  response: userListEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const row = await uniquely(taken, () =>
      inTransaction(ctx, async (ctx) =>
        insertUserList(ctx.db, {
          ...body,
          iid: await nextIid(ctx.db, project.id, 'feature_flag_user_list'),
          project_id: project.id,
          created_at: ctx.now(),
          updated_at: ctx.now(),
        }),
      ),
    )
    return presentUserList(row)
  },
})

export const editFlagUserList = endpoint({
  method: 'PUT',
  path: `${path}/:iid`,
  summary: 'Change a user list of feature flags',
  access: onUserList('admin_feature_flags'),
  body: { name: name.optional(), user_xids: user_xids.optional() },
  response: userListEntity,
  async handler({ ctx, list, body }) {
    const values = {
      name: body.name ?? list.name,
      user_xids: body.user_xids ?? list.user_xids,
      updated_at: ctx.now(),
    }
    return presentUserList(await uniquely(taken, () => updateUserList(ctx.db, list.id, values)))
  },
})

export const dropFlagUserList = endpoint({
  method: 'DELETE',
  path: `${path}/:iid`,
  summary: 'Delete a user list that no feature flag uses',
  access: onUserList('admin_feature_flags'),
  async handler({ ctx, list }) {
    if (await isListUsed(ctx.db, list.id)) {
      throw conflict(['User list is associated with a strategy'])
    }
    await deleteUserList(ctx.db, list.id)
  },
})
