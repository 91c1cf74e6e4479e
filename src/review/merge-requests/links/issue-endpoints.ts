import { z } from 'zod'
import { findVisibleProject, type Project } from '../../../access/subjects.ts'
import { viewerOf } from '../../../access/visible-queries.ts'
import { type OffsetPage, pageOf } from '../../../base/page.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { text } from '../../../http/params.ts'
import { findReferences } from '../../../markdown/find-references.ts'
import { getIssueElsewhere, onIssue } from '../../../planning/issues/access.ts'
import { issueEntity } from '../../../planning/issues/entity.ts'
import { presentIssues } from '../../../planning/issues/present.ts'
import { getCommit } from '../../../repositories/commits/describe-commit.ts'
import { onCode } from '../../../repositories/repository/access.ts'
import { mayReadRequestsOf, onMergeRequest, readsRequests } from '../access.ts'
import { listedMergeRequestEntity } from '../entity.ts'
import { path } from '../path.ts'
import { presentMergeRequests } from '../present.ts'
import { listClosersOfIssue, listMentioning, listWithCommit } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { findIssueByPath, listClosingIssues, listSeenIssueIds } from './closing-issue-queries.ts'

interface Named {
  readonly id: number
  readonly project_id: number
  readonly iid: number
}

/** A page of those issues that the caller sees, for the wire; the others are not counted either. */
async function pageOfSeen(ctx: Ctx, named: readonly Named[], page: OffsetPage) {
  const ids = named.map((one) => one.id)
  const visible = await listSeenIssueIds(ctx.db, viewerOf(ctx), ids)
  const seen = named.filter((one) => visible.has(one.id))
  const { items, total } = pageOf(seen, page)
  return { items: await presentSeen(ctx, items), total }
}

async function presentSeen(ctx: Ctx, named: readonly Named[]) {
  const rows = []
  for (const { project_id, iid } of named) {
    const project = await findVisibleProject(ctx, String(project_id))
    if (!project) continue
    const row = await getIssueElsewhere(ctx, project, iid).catch((error: unknown) => {
      if (error instanceof Problem) return undefined
      throw error
    })
    if (row) rows.push(row)
  }
  return presentIssues(ctx, rows)
}

export const listClosedIssues = endpoint({
  method: 'GET',
  path: `${path}/closes_issues`,
  summary: 'List the issues that the merge will close',
  access: onMergeRequest(),
  paginate: 'offset',
  response: z.array(issueEntity),
  async handler({ ctx, mergeRequest: row, page }) {
    return await pageOfSeen(ctx, await listClosingIssues(ctx.db, row.id), page)
  },
})

export const listRelatedIssues = endpoint({
  method: 'GET',
  path: `${path}/related_issues`,
  summary: 'List the issues that a merge request mentions or will close',
  access: onMergeRequest(),
  paginate: 'offset',
  response: z.array(issueEntity),
  async handler({ ctx, mergeRequest: row, page }) {
    const named: Named[] = await listClosingIssues(ctx.db, row.id)
    for (const reference of findReferences(`${row.title}\n${row.description ?? ''}`)) {
      if (reference.kind !== 'issue') continue
      const path = reference.project ?? row.target_path
      const issue = await findIssueByPath(ctx.db, path, reference.iid)
      const known = named.some(
        (one) => one.project_id === issue?.project_id && one.iid === issue.iid,
      )
      if (issue && !known) named.push(issue)
    }
    return await pageOfSeen(ctx, named, page)
  },
})

/** Those whose projects let the caller read merge requests. */
async function seen(ctx: Ctx, rows: readonly MergeRequestRow[]): Promise<MergeRequestRow[]> {
  const visible = new Map<number, boolean>()
  for (const { target_project_id: id } of rows) {
    if (visible.has(id)) continue
    visible.set(id, await mayReadRequestsOf(ctx, id))
  }
  return rows.filter((row) => visible.get(row.target_project_id))
}

async function relatedTo(
  ctx: Ctx,
  project: Project,
  issue: { readonly id: number; readonly iid: number },
): Promise<MergeRequestRow[]> {
  const { iid } = issue
  const closers = await listClosersOfIssue(ctx.db, issue.id)
  const mentioning = (await listMentioning(ctx.db, project.id, iid)).filter((row) =>
    findReferences(`${row.title}\n${row.description ?? ''}`).some(
      (one) =>
        one.kind === 'issue' &&
        one.iid === iid &&
        (one.project ?? project.full_path) === project.full_path,
    ),
  )
  const known = new Set(closers.map((row) => row.id))
  return seen(ctx, [...closers, ...mentioning.filter((row) => !known.has(row.id))])
}

async function presentPage(ctx: Ctx, rows: readonly MergeRequestRow[], page: OffsetPage) {
  const { items, total } = pageOf(rows, page)
  return { items: await presentMergeRequests(ctx, items), total }
}

export const listMergeRequestsClosingIssue = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/closed_by',
  summary: 'List the merge requests that will close an issue, or did',
  access: onIssue(),
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  async handler({ ctx, issue, page }) {
    return presentPage(ctx, await seen(ctx, await listClosersOfIssue(ctx.db, issue.id)), page)
  },
})

export const listMergeRequestsRelatedToIssue = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/related_merge_requests',
  summary: 'List the merge requests that mention an issue or will close it',
  access: onIssue(),
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  async handler({ ctx, project, issue, page }) {
    return presentPage(ctx, await relatedTo(ctx, project, issue), page)
  },
})

export const listMergeRequestsOfCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/merge_requests',
  summary: 'List the merge requests of a commit',
  access: onCode({ hidden: true }),
  jobToken: true,
  params: { sha: text({ max: 1024 }) },
  query: { state: text({ max: 20 }).optional() },
  conditions: [readsRequests],
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  async handler({ ctx, project, repo, params, query, page }) {
    const commit = await getCommit(repo, params.sha)
    const found = await listWithCommit(ctx.db, project.id, commit.id)
    const rows = found.filter(
      (row) => !query.state || query.state === 'all' || row.state === query.state,
    )
    // Without totals (docs/contract/B-resolved §2.3).
    return { items: (await presentPage(ctx, rows, page)).items }
  },
})
