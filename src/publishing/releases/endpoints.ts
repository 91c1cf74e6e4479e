import { z } from 'zod'
import { onProject, type Project } from '../../access/subjects.ts'
import { badParameters, existing, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import {
  atLeastOne,
  csv,
  flag,
  hash,
  instant,
  integer,
  list,
  oneOf,
  text,
} from '../../http/params.ts'
import { onRelease, onReleaseLink, releasesNewTag, releasesTag } from './access.ts'
import { LINK_TYPES, type LinkRow, linkEntity, presentLink, releaseEntity } from './entity.ts'
import { asset } from './host-assets.ts'
import { presentReleases, releaseUrl } from './present.ts'
import {
  deleteLink,
  findLatestRelease,
  listLinkRows,
  listReleaseRows,
  type ReleaseRow,
} from './queries.ts'
import { addLink, changeLink, changeRelease, createRelease, removeRelease } from './verbs.ts'

const path = '/projects/:id/releases/:tag_name'
const linkFields = {
  filepath: text({ max: 128 }).optional(),
  direct_asset_path: text({ max: 128 }).optional(),
  link_type: oneOf(LINK_TYPES).optional(),
}
const newLink = { ...linkFields, name: text({ max: 255 }), url: text({ max: 2048 }) }
const fields = {
  name: text({ max: 255 }).optional(),
  description: text().nullish(),
  milestones: csv(text({ max: 255 }), { max: 100 }).optional(),
  milestone_ids: csv(integer(), { max: 100 }).optional(),
  released_at: instant().optional(),
}

/** Milestones are named in one of two ways. */
function oneWayToMilestones(sent: ReadonlySet<string>): string[] {
  const names = ['milestones', 'milestone_ids']
  return names.every((name) => sent.has(name)) ? [`${names.join(', ')} are mutually exclusive`] : []
}

const html = { include_html_description: flag().optional() }

async function presentOne(ctx: Ctx, project: Project, row: ReleaseRow, html?: boolean) {
  const [release] = await presentReleases(ctx, project, [row], { html })
  return existing(release)
}

function presentLinkOf(ctx: Ctx, project: Project, { tag }: ReleaseRow, link: LinkRow) {
  return presentLink(link, `${releaseUrl(ctx, project, tag)}/downloads`)
}

export const listReleases = endpoint({
  method: 'GET',
  path: '/projects/:id/releases',
  summary: 'List the releases of a project',
  access: onProject('read_releases'),
  jobToken: true,
  query: {
    ...html,
    order_by: oneOf(['released_at', 'created_at']).optional(),
    sort: oneOf(['asc', 'desc']).optional(),
    updated_before: instant().optional(),
    updated_after: instant().optional(),
  },
  paginate: 'offset',
  response: z.array(releaseEntity),
  async handler({ ctx, project, query, page }) {
    const filter = {
      orderBy: query.order_by ?? 'released_at',
      sort: query.sort ?? 'desc',
      updatedBefore: query.updated_before,
      updatedAfter: query.updated_after,
    } as const
    const rows = await listReleaseRows(ctx.db, project.id, filter, page)
    return {
      ...rows,
      items: await presentReleases(ctx, project, rows.items, {
        html: query.include_html_description,
      }),
    }
  },
})

async function redirectToLatest(ctx: Ctx, project: Project, suffix: string): Promise<never> {
  const row = existing(await findLatestRelease(ctx.db, project.id, ctx.now()))
  if (suffix.split('/').some((part) => part === '..' || part === '.'))
    throw badParameters('suffix_path is invalid')
  const base = `${ctx.config.externalUrl}/api/v4/projects/${project.id}/releases/${encodeURIComponent(row.tag)}`
  const to = suffix === '' ? base : `${base}/${suffix.split('/').map(encodeURIComponent).join('/')}`
  throw new Problem('moved', 302, '', { headers: { Location: to } })
}

export const getLatestRelease = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/permalink/latest',
  summary: 'Go to the newest release',
  access: onProject('read_releases'),
  jobToken: true,
  response: releaseEntity,
  handler: ({ ctx, project }) => redirectToLatest(ctx, project, ''),
})

export const getBelowLatestRelease = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/permalink/latest/*suffix_path',
  summary: 'Go to something of the newest release',
  access: onProject('read_releases'),
  jobToken: true,
  params: { suffix_path: text({ max: 1024 }) },
  response: releaseEntity,
  handler: ({ ctx, project, params: { suffix_path } }) =>
    redirectToLatest(ctx, project, suffix_path),
})

export const getProjectRelease = endpoint({
  method: 'GET',
  path,
  summary: 'Get the release of a tag',
  access: onRelease(),
  jobToken: true,
  query: html,
  response: releaseEntity,
  handler: ({ ctx, project, release, query }) =>
    presentOne(ctx, project, release, query.include_html_description),
})

export const downloadAsset = endpoint({ ...asset, path: `${path}/downloads/*direct_asset_path` })

export const createProjectRelease = endpoint({
  method: 'POST',
  path: '/projects/:id/releases',
  summary: 'Make a release of a tag, which is made too when it is not there',
  access: onProject('admin_release'),
  jobToken: true,
  body: {
    ...fields,
    tag_name: text({ max: 1024 }),
    tag_message: text().optional(),
    ref: text({ max: 1024 }).optional(),
    assets: hash({
      links: list(hash(newLink), { max: 500 }).optional(),
    }).optional(),
    legacy_catalog_publish: flag().optional(),
  },
  check: oneWayToMilestones,
  conditions: [releasesNewTag],
  response: releaseEntity,
  async handler({ ctx, project, body }) {
    const { assets, ...rest } = body
    const row = await createRelease(ctx, project, { ...rest, links: assets?.links ?? [] })
    return presentOne(ctx, project, row)
  },
})

export const updateRelease = endpoint({
  method: 'PUT',
  path,
  summary: 'Change a release',
  access: onRelease('admin_release'),
  jobToken: true,
  body: fields,
  check: oneWayToMilestones,
  conditions: [releasesTag],
  response: releaseEntity,
  handler: async ({ ctx, project, release, body }) =>
    presentOne(ctx, project, await changeRelease(ctx, project, release, body)),
})

export const deleteProjectRelease = endpoint({
  method: 'DELETE',
  path,
  summary: 'Delete a release; its tag stays',
  access: onRelease('admin_release'),
  jobToken: true,
  conditions: [releasesTag],
  response: releaseEntity,
  async handler({ ctx, project, release }) {
    const shown = await presentOne(ctx, project, release)
    await removeRelease(ctx, project, release)
    return shown
  },
})

export const listReleaseLinks = endpoint({
  method: 'GET',
  path: `${path}/assets/links`,
  summary: 'List the links of a release',
  access: onRelease(),
  jobToken: true,
  paginate: 'offset',
  response: z.array(linkEntity),
  async handler({ ctx, project, release, page }) {
    const rows = await listLinkRows(ctx.db, release.id, page)
    return {
      ...rows,
      items: rows.items.map((link) => presentLinkOf(ctx, project, release, link)),
    }
  },
})

export const getReleaseLink = endpoint({
  method: 'GET',
  path: `${path}/assets/links/:link_id`,
  summary: 'Get a link of a release',
  access: onReleaseLink(),
  jobToken: true,
  response: linkEntity,
  handler: ({ ctx, project, release, link }) => presentLinkOf(ctx, project, release, link),
})

export const createReleaseLink = endpoint({
  method: 'POST',
  path: `${path}/assets/links`,
  summary: 'Add a link to a release',
  access: onRelease('admin_release'),
  jobToken: true,
  body: newLink,
  conditions: [releasesTag],
  response: linkEntity,
  handler: async ({ ctx, project, release, body }) =>
    presentLinkOf(ctx, project, release, await addLink(ctx, release.id, body)),
})

export const updateReleaseLink = endpoint({
  method: 'PUT',
  path: `${path}/assets/links/:link_id`,
  summary: 'Change a link of a release',
  access: onReleaseLink('admin_release'),
  jobToken: true,
  body: { ...linkFields, name: text({ max: 255 }).optional(), url: text({ max: 2048 }).optional() },
  check: atLeastOne(['name', 'url']),
  conditions: [releasesTag],
  response: linkEntity,
  handler: async ({ ctx, project, release, link, body }) =>
    presentLinkOf(ctx, project, release, await changeLink(ctx, link.id, body)),
})

export const deleteReleaseLink = endpoint({
  method: 'DELETE',
  path: `${path}/assets/links/:link_id`,
  summary: 'Remove a link from a release',
  access: onReleaseLink('admin_release'),
  jobToken: true,
  conditions: [releasesTag],
  response: linkEntity,
  async handler({ ctx, project, release, link }) {
    await deleteLink(ctx.db, link.id)
    return presentLinkOf(ctx, project, release, link)
  },
})
