import { z } from 'zod'
import { projectSource } from '../../access/sources.ts'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, day, id, integer, text } from '../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { sharesLevel } from '../members/access.ts'
import { shareSource } from '../members/share-source.ts'
import { listMembers } from '../members/visible-members.ts'

const shareEntity = z.strictObject({
  id: z.int(),
  project_id: z.int(),
  group_id: z.int(),
  group_access: z.int(),
  expires_at: z.string().nullable(),
})

export const postProjectShare = endpoint({
  method: 'POST',
  path: '/projects/:id/share',
  summary: 'Share a project with a group',
  access: onProject('share_project'),
  body: { group_id: id(), group_access: integer(), expires_at: day().nullable().optional() },
  conditions: [sharesLevel],
  response: shareEntity,
  async handler({ ctx, project, body }) {
    return {
      id: await shareSource(ctx, projectSource(project), body),
      project_id: project.id,
      group_id: body.group_id,
      group_access: body.group_access,
      expires_at: body.expires_at ?? null,
    }
  },
})

export const getProjectUsers = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  summary: 'List the users who belong to a project',
  access: onProject('read_members'),
  query: { search: text().optional(), skip_users: csv(id()).optional() },
  paginate: 'offset',
  response: z.array(userBasicEntity),
  async handler({ ctx, project, query, page }) {
    const filters = { query: query.search, skip_users: query.skip_users, all: true }
    const rows = await listMembers(ctx, projectSource(project), filters, page)
    return { ...rows, items: rows.items.map((row) => presentUserBasic(ctx, row)) }
  },
})
