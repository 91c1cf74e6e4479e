import { z } from 'zod'
import {
  assertMayInProject,
  getVisibleProject,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, integer, oneOf, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { addSystemNote } from '../notes/verbs.ts'
import { issueEntity, linkedIssueEntity } from './entity.ts'
import { asNoteable, getIssue } from './find.ts'
import { presentIssue, presentIssues } from './present.ts'
import {
  deleteIssueLink,
  type IssueRow,
  insertIssueLink,
  listIssueLinks,
  listSeenIssues,
} from './queries.ts'

const tags = ['issues']
const path = '/projects/:id/issues/:issue_iid/links'
const params = { issue_iid: integer() }
const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const
type LinkType = (typeof linkTypes)[number]

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

async function getLink(ctx: Ctx, project: Project, iid: number, linkId: number) {
  const row = await getIssue(ctx, project, iid)
  const link = (await listIssueLinks(ctx.db, row.id)).find((one) => one.id === linkId)
  if (!link) throw notFound()
  const otherId = link.source_id === row.id ? link.target_id : link.source_id
  const [seen] = await listSeenIssues(ctx.db, viewerOf(ctx.actor, dayOf(ctx.now())), [otherId])
  if (!seen) throw notFound()
  return { row, link, other: seen }
}

export const listLinksOfIssue = endpoint({
  method: 'GET',
  path,
  summary: 'List the issues that an issue is linked with',
  tags,
  access: onProject('read_issues'),
  params,
  response: z.array(linkedIssueEntity),
  async handler({ ctx, project, params: { issue_iid } }) {
    const row = await getIssue(ctx, project, issue_iid)
    const links = await listIssueLinks(ctx.db, row.id)
    const ids = links.map((link) => (link.source_id === row.id ? link.target_id : link.source_id))
    const others = await listSeenIssues(ctx.db, viewerOf(ctx.actor, dayOf(ctx.now())), ids)
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
  tags,
  access: onProject('update_issue', { signedIn: true }),
  params,
  body: {
    target_project_id: text(),
    target_issue_iid: integer(),
    link_type: oneOf(linkTypes).optional(),
  },
  response: linkEntity,
  status: 201,
  async handler({ ctx, project, params: { issue_iid }, body }) {
    const row = await getIssue(ctx, project, issue_iid)
    const targetProject = await getVisibleProject(ctx, body.target_project_id)
    assertMayInProject(ctx, targetProject, 'read_issues')
    const other = await getIssue(ctx, targetProject, body.target_issue_iid)
    if (other.id === row.id) throw notFound()
    const turned = body.link_type === 'is_blocked_by'
    const now = ctx.now()
    const values = {
      source_id: turned ? other.id : row.id,
      target_id: turned ? row.id : other.id,
      link_type:
        body.link_type === undefined || body.link_type === 'relates_to' ? 'relates_to' : 'blocks',
      created_at: now,
      updated_at: now,
    } as const
    const taken = () => conflict('Issue(s) already assigned')
    const known = (await listIssueLinks(ctx.db, row.id)).some(
      (link) => link.source_id === other.id || link.target_id === other.id,
    )
    if (known) throw taken()
    const link = await inTransaction(ctx, async (ctx) => {
      const unique = { 'issue_links.source_id, issue_links.target_id': taken }
      const made = await uniquely(unique, () => insertIssueLink(ctx.db, values))
      const word =
        body.link_type === 'blocks'
          ? 'marked this issue as blocking'
          : 'marked this issue as related to'
      await addSystemNote(
        ctx,
        asNoteable(ctx, project, row),
        'relate',
        `${word} ${other.project_path}#${other.iid}`,
      )
      return made
    })
    return presentLink(ctx, link, row, other)
  },
})

export const getIssueLink = endpoint({
  method: 'GET',
  path: `${path}/:issue_link_id`,
  summary: 'Get a link between two issues',
  tags,
  access: onProject('read_issues'),
  params: { ...params, issue_link_id: id() },
  response: linkEntity,
  async handler({ ctx, project, params: { issue_iid, issue_link_id } }) {
    const { row, link, other } = await getLink(ctx, project, issue_iid, issue_link_id)
    return presentLink(ctx, link, row, other)
  },
})

export const removeIssueLink = endpoint({
  method: 'DELETE',
  path: `${path}/:issue_link_id`,
  summary: 'Remove a link between two issues',
  tags,
  access: onProject('update_issue', { signedIn: true }),
  params: { ...params, issue_link_id: id() },
  response: linkEntity,
  async handler({ ctx, project, params: { issue_iid, issue_link_id } }) {
    const { row, link, other } = await getLink(ctx, project, issue_iid, issue_link_id)
    await deleteIssueLink(ctx.db, link.id)
    return presentLink(ctx, link, row, other)
  },
})
