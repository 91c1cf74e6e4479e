import { z } from 'zod'
import { onGroup, onProject } from '../../access/subjects.ts'
import { invalid, notFound } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { badgeEntity, presentBadge, presentRendered, renderedBadgeEntity } from './entity.ts'
import { isBadgeUrl } from './placeholders.ts'
import {
  deleteBadge,
  findGroupBadge,
  findProjectBadge,
  insertBadge,
  listGroupBadgeRows,
  listProjectBadgeRows,
  updateBadge,
} from './queries.ts'
import { projectRenderer } from './render.ts'

const tags = ['badges']
const params = { badge_id: id() }
const urls = { link_url: text({ max: 2048 }), image_url: text({ max: 2048 }) }
const body = { ...urls, name: text({ max: 255 }).nullish() }
const changes = {
  link_url: text({ max: 2048 }).optional(),
  image_url: text({ max: 2048 }).optional(),
  name: text({ max: 255 }).nullish(),
}

/** Group endpoints have no project to fill placeholders for (spec B-resolved §10). */
const asWritten = (url: string) => url

function refuseBadUrls(given: {
  link_url?: string | undefined
  image_url?: string | undefined
}): void {
  const fields: Record<string, string[]> = {}
  for (const name of ['link_url', 'image_url'] as const) {
    const url = given[name]
    if (url !== undefined && !isBadgeUrl(url))
      fields[name] = ['is blocked: Only allowed schemes are http, https']
  }
  if (Object.keys(fields).length > 0) throw invalid(fields)
}

export const listProjectBadges = endpoint({
  method: 'GET',
  path: '/projects/:id/badges',
  summary: 'List the badges of a project and of its groups',
  tags,
  access: onProject('read_badges'),
  query: { name: text().optional() },
  paginate: 'offset',
  response: z.array(badgeEntity),
  async handler({ ctx, project, query, page }) {
    const rows = await listProjectBadgeRows(ctx.db, project, query.name, page)
    const texts = rows.items.flatMap((row) => [row.link_url, row.image_url])
    const render = await projectRenderer(ctx, project, texts)
    return { ...rows, items: rows.items.map((row) => presentBadge(row, render)) }
  },
})

export const renderProjectBadge = endpoint({
  method: 'GET',
  path: '/projects/:id/badges/render',
  summary: 'Show how a badge would look, without keeping it',
  tags,
  access: onProject('admin_project'),
  query: urls,
  response: renderedBadgeEntity,
  async handler({ ctx, project, query }) {
    refuseBadUrls(query)
    const render = await projectRenderer(ctx, project, [query.link_url, query.image_url])
    return presentRendered({ ...query, name: null }, render)
  },
})

export const getProjectBadge = endpoint({
  method: 'GET',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Get a badge of a project or of its groups',
  tags,
  access: onProject('read_badges'),
  params,
  response: badgeEntity,
  async handler({ ctx, project, params: { badge_id } }) {
    const row = await findProjectBadge(ctx.db, project, badge_id)
    if (!row) throw notFound('Badge')
    return presentBadge(row, await projectRenderer(ctx, project, [row.link_url, row.image_url]))
  },
})

export const createProjectBadge = endpoint({
  method: 'POST',
  path: '/projects/:id/badges',
  summary: 'Add a badge to a project',
  tags,
  access: onProject('admin_project'),
  body,
  response: badgeEntity,
  status: 201,
  async handler({ ctx, project, body: given }) {
    refuseBadUrls(given)
    const row = await insertBadge(ctx.db, { projectId: project.id }, given, ctx.now())
    return presentBadge(row, await projectRenderer(ctx, project, [row.link_url, row.image_url]))
  },
})

export const updateProjectBadge = endpoint({
  method: 'PUT',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Change a badge of a project',
  tags,
  access: onProject('admin_project'),
  params,
  body: changes,
  response: badgeEntity,
  async handler({ ctx, project, params: { badge_id }, body: given }) {
    const known = await findProjectBadge(ctx.db, project, badge_id)
    if (known?.project_id !== project.id) throw notFound('Badge')
    refuseBadUrls(given)
    const row = await updateBadge(ctx.db, badge_id, given, ctx.now())
    return presentBadge(row, await projectRenderer(ctx, project, [row.link_url, row.image_url]))
  },
})

export const deleteProjectBadge = endpoint({
  method: 'DELETE',
  path: '/projects/:id/badges/:badge_id',
  summary: 'Remove a badge from a project',
  tags,
  access: onProject('admin_project'),
  params,
  async handler({ ctx, project, params: { badge_id } }) {
    const known = await findProjectBadge(ctx.db, project, badge_id)
    if (known?.project_id !== project.id) throw notFound('Badge')
    await deleteBadge(ctx.db, badge_id)
  },
})

export const listGroupBadges = endpoint({
  method: 'GET',
  path: '/groups/:id/badges',
  summary: 'List the badges of a group',
  tags,
  access: onGroup('read_badges'),
  query: { name: text().optional() },
  paginate: 'offset',
  response: z.array(badgeEntity),
  async handler({ ctx, group, query, page }) {
    const rows = await listGroupBadgeRows(ctx.db, group.id, query.name, page)
    return { ...rows, items: rows.items.map((row) => presentBadge(row, asWritten)) }
  },
})

export const renderGroupBadge = endpoint({
  method: 'GET',
  path: '/groups/:id/badges/render',
  summary: 'Show how a badge of a group would look, without keeping it',
  tags,
  access: onGroup('admin_badges'),
  query: urls,
  response: renderedBadgeEntity,
  handler({ query }) {
    refuseBadUrls(query)
    return presentRendered({ ...query, name: null }, asWritten)
  },
})

export const getGroupBadge = endpoint({
  method: 'GET',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Get a badge of a group',
  tags,
  access: onGroup('read_badges'),
  params,
  response: badgeEntity,
  async handler({ ctx, group, params: { badge_id } }) {
    const row = await findGroupBadge(ctx.db, group.id, badge_id)
    if (!row) throw notFound('Badge')
    return presentBadge(row, asWritten)
  },
})

export const createGroupBadge = endpoint({
  method: 'POST',
  path: '/groups/:id/badges',
  summary: 'Add a badge to a group',
  tags,
  access: onGroup('admin_badges'),
  body,
  response: badgeEntity,
  status: 201,
  async handler({ ctx, group, body: given }) {
    refuseBadUrls(given)
    const row = await insertBadge(ctx.db, { groupId: group.id }, given, ctx.now())
    return presentBadge(row, asWritten)
  },
})

export const updateGroupBadge = endpoint({
  method: 'PUT',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Change a badge of a group',
  tags,
  access: onGroup('admin_badges'),
  params,
  body: changes,
  response: badgeEntity,
  async handler({ ctx, group, params: { badge_id }, body: given }) {
    if (!(await findGroupBadge(ctx.db, group.id, badge_id))) throw notFound('Badge')
    refuseBadUrls(given)
    return presentBadge(await updateBadge(ctx.db, badge_id, given, ctx.now()), asWritten)
  },
})

export const deleteGroupBadge = endpoint({
  method: 'DELETE',
  path: '/groups/:id/badges/:badge_id',
  summary: 'Remove a badge from a group',
  tags,
  access: onGroup('admin_badges'),
  params,
  async handler({ ctx, group, params: { badge_id } }) {
    if (!(await findGroupBadge(ctx.db, group.id, badge_id))) throw notFound('Badge')
    await deleteBadge(ctx.db, badge_id)
  },
})
