import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { invalid } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onOwnBadge, onShownBadge } from './access.ts'
import { badgeEntity, presentBadge, presentRendered, renderedBadgeEntity } from './entity.ts'
import { isBadgeUrl } from './placeholders.ts'
import { deleteBadge, insertBadge, listBadgeRows, updateBadge } from './queries.ts'
import { rendererOf } from './render.ts'

const admin = { projects: 'admin_project', groups: 'admin_badges' } as const
const urls = { link_url: text({ max: 2048 }), image_url: text({ max: 2048 }) }
const body = { ...urls, name: text({ max: 255 }).nullish() }
const changes = {
  link_url: text({ max: 2048 }).optional(),
  image_url: text({ max: 2048 }).optional(),
  name: text({ max: 255 }).nullish(),
}

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

export const listBadges = endpoint({
  method: 'GET',
  path: '/:source/:id/badges',
  summary: 'List the badges of a project or group, a project’s with those of the groups above it',
  access: onEither('read_badges'),
  query: { name: text().optional() },
  paginate: 'offset',
  response: z.array(badgeEntity),
  async handler({ ctx, source, query, page }) {
    const rows = await listBadgeRows(ctx.db, source, query.name, page)
    const render = await rendererOf(ctx, source, rows.items)
    return { ...rows, items: rows.items.map((row) => presentBadge(row, render)) }
  },
})

export const renderBadge = endpoint({
  method: 'GET',
  path: '/:source/:id/badges/render',
  summary: 'Show how a badge of a project or group would look, without keeping it',
  access: onEither(admin),
  query: urls,
  response: renderedBadgeEntity,
  async handler({ ctx, source, query }) {
    refuseBadUrls(query)
    return presentRendered({ ...query, name: null }, await rendererOf(ctx, source, [query]))
  },
})

export const getBadge = endpoint({
  method: 'GET',
  path: '/:source/:id/badges/:badge_id',
  summary: 'Get a badge of a project or group',
  access: onShownBadge(),
  response: badgeEntity,
  handler: async ({ ctx, source, badge }) =>
    presentBadge(badge, await rendererOf(ctx, source, [badge])),
})

export const createBadge = endpoint({
  method: 'POST',
  path: '/:source/:id/badges',
  summary: 'Add a badge to a project or group',
  access: onEither(admin),
  body,
  response: badgeEntity,
  async handler({ ctx, source, body: given }) {
    refuseBadUrls(given)
    const row = await insertBadge(ctx.db, source, given, ctx.now())
    return presentBadge(row, await rendererOf(ctx, source, [row]))
  },
})

export const changeBadge = endpoint({
  method: 'PUT',
  path: '/:source/:id/badges/:badge_id',
  summary: 'Change a badge of a project or group',
  access: onOwnBadge(),
  body: changes,
  response: badgeEntity,
  async handler({ ctx, source, badge, body: given }) {
    refuseBadUrls(given)
    const row = await updateBadge(ctx.db, badge.id, given, ctx.now())
    return presentBadge(row, await rendererOf(ctx, source, [row]))
  },
})

export const removeBadge = endpoint({
  method: 'DELETE',
  path: '/:source/:id/badges/:badge_id',
  summary: 'Remove a badge from a project or group',
  access: onOwnBadge(),
  handler: ({ ctx, badge }) => deleteBadge(ctx.db, badge.id),
})
