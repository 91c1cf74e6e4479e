import { z } from 'zod'
import { groupSource } from '../../access/sources.ts'
import { onGroup } from '../../access/subjects.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { endpoint } from '../../http/endpoint.ts'
import { day, filledText, flag, id, integer, text } from '../../http/params.ts'
import { sentAvatar } from '../../identity/users/avatar/sent-avatar.ts'
import { sharesLevel } from '../members/access.ts'
import { shareSource } from '../members/share-source.ts'
import { limitsArtifacts, limitsRepository } from '../namespaces/access.ts'
import { changeGroup } from './change-group.ts'
import { groupDetailEntity } from './entity.ts'
import { groupBodyParams } from './params.ts'
import { readGroup } from './present.ts'
import { saveState } from './record.ts'
import { removeOrMarkGroup, unmarkGroup } from './remove-group.ts'
import { sentGroupColumns, sentGroupSettings } from './settings.ts'
import { transferGroup } from './transfer-group.ts'

export const putGroup = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  summary: 'Change a group',
  access: onGroup('admin_group'),
  body: { name: filledText().optional(), path: filledText().optional(), ...groupBodyParams },
  conditions: [limitsArtifacts, limitsRepository],
  response: groupDetailEntity,
  async handler({ ctx, group, body, request }) {
    await changeGroup(ctx, group.id, {
      name: body.name,
      path: body.path,
      description: body.description,
      visibility: body.visibility,
      settings: sentGroupSettings(body, request.sent),
      columns: sentGroupColumns(body),
      avatar: await sentAvatar(ctx, body.avatar),
    })
    return await readGroup(ctx, group.id, { projects: true })
  },
})

export const deleteGroup = endpoint({
  method: 'DELETE',
  path: '/groups/:id',
  summary: 'Delete a group with everything below it',
  access: onGroup('delete_group'),
  query: { permanently_remove: flag().optional(), full_path: text().optional() },
  response: z.strictObject({ message: z.literal('202 Accepted') }),
  status: 202,
  async handler({ ctx, group, query, request }) {
    assertUnmodifiedSince(request, group.updated_at)
    await removeOrMarkGroup(ctx, group.id, {
      permanently: query.permanently_remove ?? false,
      fullPath: query.full_path,
    })
    return { message: '202 Accepted' as const }
  },
})

export const restoreGroup = endpoint({
  method: 'POST',
  path: '/groups/:id/restore',
  summary: 'Restore a group that is marked for deletion',
  access: onGroup('delete_group'),
  response: groupDetailEntity,
  async handler({ ctx, group }) {
    await unmarkGroup(ctx, group.id)
    return await readGroup(ctx, group.id)
  },
})

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/groups/:id/${verb}`,
    summary,
    access: onGroup('archive_group'),
    status: 200,
    response: groupDetailEntity,
    async handler({ ctx, group }) {
      await saveState(ctx, group.id, `${verb}d`)
      return await readGroup(ctx, group.id)
    },
  })

export const archiveGroup = archiving('archive', 'Make a group and everything below it read-only')
export const unarchiveGroup = archiving('unarchive', 'Make an archived group writable again')

export const postGroupTransfer = endpoint({
  method: 'POST',
  path: '/groups/:id/transfer',
  summary: 'Move a group below another, or to the top',
  access: onGroup('transfer_group'),
  body: { group_id: id().optional() },
  response: groupDetailEntity,
  async handler({ ctx, group, body }) {
    await transferGroup(ctx, group.id, body.group_id)
    return await readGroup(ctx, group.id)
  },
})

export const postGroupShare = endpoint({
  method: 'POST',
  path: '/groups/:id/share',
  summary: 'Share a group with another group',
  access: onGroup('admin_group'),
  body: {
    group_id: id(),
    group_access: integer(),
    expires_at: day().nullable().optional(),
    member_role_id: id().nullable().optional(),
  },
  conditions: [sharesLevel],
  response: groupDetailEntity,
  async handler({ ctx, group, body }) {
    await shareSource(ctx, groupSource(group), body)
    return await readGroup(ctx, group.id)
  },
})
