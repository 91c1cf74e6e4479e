import { z } from 'zod'
import { onGroup, signedIn } from '../../access/subjects.ts'
import { tooLarge } from '../../base/problem.ts'
import { endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { file, filledText, id } from '../../http/params.ts'
import { mostBytes } from './import-facts.ts'
import { importGroup } from './import-group.ts'
import { exportStatus, startExport } from './start-export.ts'

const accepted = z.strictObject({ message: z.literal('202 Accepted') })

export const postGroupExport = endpoint({
  method: 'POST',
  path: '/groups/:id/export',
  summary: 'Begin to export a group with the groups below it',
  access: onGroup('admin_group'),
  response: accepted,
  status: 202,
  limit: perMinuteAsSet('group_export_limit'),
  async handler({ ctx, group }) {
    await startExport(ctx, { type: 'group', id: group.id })
    return { message: '202 Accepted' as const }
  },
})

export const getGroupExport = endpoint({
  method: 'GET',
  path: '/groups/:id/export',
  summary: 'Get how far the export of a group is',
  access: onGroup('admin_group'),
  response: z.strictObject({
    id: z.int(),
    name: z.string(),
    full_path: z.string(),
    export_status: z.enum(['none', 'queued', 'started', 'finished']),
  }),
  handler: async ({ ctx, group }) => ({
    id: group.id,
    name: group.name,
    full_path: group.full_path,
    export_status: await exportStatus(ctx, { type: 'group', id: group.id }),
  }),
})

export const postGroupImport = endpoint({
  method: 'POST',
  path: '/groups/import',
  summary: 'Make a group from an archive',
  access: signedIn(),
  body: { file: file(), name: filledText(), path: filledText(), parent_id: id().optional() },
  response: accepted,
  status: 202,
  limit: perMinuteAsSet('group_import_limit'),
  async handler({ ctx, body }) {
    if (body.file.size > mostBytes(ctx, 'max_import_size')) throw tooLarge()
    await importGroup(ctx, body.file.path, {
      name: body.name,
      path: body.path,
      parentId: body.parent_id,
    })
    return { message: '202 Accepted' as const }
  },
})
