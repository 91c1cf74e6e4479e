import { z } from 'zod'
import { getVisibleProject } from '../../../access/subjects.ts'
import { viewerOf } from '../../../access/visible-queries.ts'
import { existing, notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { id, integer, oneOf, text } from '../../../http/params.ts'
import { linksIssue, onIssue } from '../access.ts'
import { issueEntity, linkedIssueEntity } from '../entity.ts'
import { getIssue } from '../find.ts'
import { presentIssue, presentIssues } from '../present.ts'
import { type IssueRow, listIssueLinks, listSeenIssues } from '../queries.ts'
import { type LinkType, linkIssues, linkTypes, unlinkIssues } from './link-issues.ts'

const path = '/projects/:id/issues/:issue_iid/links'
const params = { issue_link_id: id() }

const linkEntity = z.strictObject({
  id: z.int(),
  source_issue: issueEntity,
  target_issue: issueEntity,
  link_type: z.enum(linkTypes),
})

type Link = Awaited<ReturnType<typeof listIssueLinks>>[number]

/** The link as it reads from one of its ends. */
function typeFrom(link: Pick<Link, 'source_id' | 'link_type'>, issueId: number): LinkType {
  if (link.link_type === 'relates_to' || link.source_id === issueId) return link.link_type
  return 'is_blocked_by'
}

async function presentLink(ctx: Ctx, link: Link, from: IssueRow, to: IssueRow) {
  return {
    id: link.id,
    source_issue: await presentIssue(ctx, from),
    target_issue: await presentIssue(ctx, to),
    link_type: typeFrom(link, from.id),
  }
}

async function getLink(ctx: Ctx, row: IssueRow, linkId: number) {
  const link = existing((await listIssueLinks(ctx.db, row.id)).find((one) => one.id === linkId))
  const otherId = link.source_id === row.id ? link.target_id : link.source_id
  const [seen] = await listSeenIssues(ctx.db, viewerOf(ctx), [otherId])
  if (!seen) throw notFound()
  return { link, other: seen }
}

export const listLinksOfIssue = endpoint({
  method: 'GET',
  path,
  summary: 'List the issues that an issue is linked with',
  access: onIssue(),
  response: z.array(linkedIssueEntity),
  async handler({ ctx, issue: row }) {
    const links = await listIssueLinks(ctx.db, row.id)
    const ids = links.map((link) => (link.source_id === row.id ? link.target_id : link.source_id))
    const others = await listSeenIssues(ctx.db, viewerOf(ctx), ids)
    const shown = new Map((await presentIssues(ctx, others)).map((issue) => [issue.id, issue]))
    return links.flatMap((link, at) => {
      const issue = shown.get(ids[at] ?? 0)
      if (!issue) return []
      const { created_at, updated_at } = link
      const about = { issue_link_id: link.id, link_type: typeFrom(link, row.id) }
      return [{ ...issue, ...about, link_created_at: created_at, link_updated_at: updated_at }]
    })
  },
})

export const createIssueLink = endpoint({
  method: 'POST',
  path,
  summary: 'Link an issue with another',
  access: onIssue('update_issue', { signedIn: true }),
  body: {
    target_project_id: text(),
    target_issue_iid: integer(),
    link_type: oneOf(linkTypes).optional(),
  },
  conditions: [linksIssue],
  response: linkEntity,
  async handler({ ctx, project, issue, body }) {
    const targetProject = await getVisibleProject(ctx, body.target_project_id)
    const other = await getIssue(ctx, targetProject, body.target_issue_iid)
    const link = await linkIssues(ctx, project, issue, other, body.link_type ?? 'relates_to')
    return presentLink(ctx, link, issue, other)
  },
})

export const getIssueLink = endpoint({
  method: 'GET',
  path: `${path}/:issue_link_id`,
  summary: 'Get a link between two issues',
  access: onIssue(),
  params,
  response: linkEntity,
  async handler({ ctx, issue, params: { issue_link_id } }) {
    const { link, other } = await getLink(ctx, issue, issue_link_id)
    return presentLink(ctx, link, issue, other)
  },
})

export const removeIssueLink = endpoint({
  method: 'DELETE',
  path: `${path}/:issue_link_id`,
  summary: 'Remove a link between two issues',
  access: onIssue('update_issue', { signedIn: true }),
  params,
  response: linkEntity,
  async handler({ ctx, project, issue, params: { issue_link_id } }) {
    const { link, other } = await getLink(ctx, issue, issue_link_id)
    await unlinkIssues(ctx, project, issue, other, link.id)
    return presentLink(ctx, link, issue, other)
  },
})
