import type { InferResult } from 'kysely'
import { userOf } from '../../access/actor.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import { sshUrl } from '../../base/config.ts'
import { Problem } from '../../base/problem.ts'
import { apiVersion, productVersion } from '../../base/version.ts'
import { mayReadBuilds } from '../../ci/pipelines/access.ts'
import type { Ctx } from '../../ctx.ts'
import type { UserBasic } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { countAssociations } from '../../identity/users/queries.ts'
import { getIssue } from '../../planning/issues/find.ts'
import { issueUrl } from '../../planning/issues/present.ts'
import { findPersonalNamespace } from '../../projects/projects/queries.ts'
import { presentSnippets, type SnippetEntity } from '../../publishing/snippets/entity.ts'
import { countSnippets, listSnippetsBelow } from '../../publishing/snippets/queries.ts'
import { getMergeRequest } from '../../review/merge-requests/find.ts'
import { mergeRequestUrl } from '../../review/merge-requests/present.ts'
import { rightsIn } from './access.ts'
import { connection, RecordBudget, type Slice, windowOf } from './connection.ts'
import {
  issuesQuery,
  MOST_COUNTED,
  mergeRequestsQuery,
  pipelinesQuery,
  readWindow,
} from './queries.ts'

/** One query on its way. */
interface Query extends Ctx {
  readonly budget: RecordBudget
  /** Those who have been looked up, by id: many records have the same author. */
  readonly authors: Map<number, Promise<ReturnType<typeof presentUser> | null>>
}

function gid(ctx: Ctx, type: string, id: number): string {
  return `gid://${ctx.config.vendor.prefix}/${type}/${id}`
}

function presentUser(ctx: Ctx, user: UserBasic) {
  return {
    id: gid(ctx, 'User', user.id),
    username: user.username,
    name: user.name,
    state: user.state,
    active: user.state === 'active',
    webUrl: user.web_url,
    avatarUrl: user.avatar_url,
    publicEmail: user.public_email,
  }
}

function presentCaller(ctx: Ctx, user: UserBasic, bot: boolean) {
  return {
    ...presentUser(ctx, user),
    bot,
    async groupCount() {
      return (await countAssociations(ctx.db, user.id, dayOf(ctx.now()))).groups_count
    },
    async namespace() {
      const own = await findPersonalNamespace(ctx.db, user.id)
      if (!own) return null
      const { id, name, path, full_path: fullPath } = own
      return { id: gid(ctx, 'Namespaces::UserNamespace', id), name, path, fullPath }
    },
  }
}

function authorOf(ctx: Query, id: number | null) {
  if (id === null) return null
  const found = ctx.authors.get(id) ?? userById(ctx, id)
  ctx.authors.set(id, found)
  return found
}

async function userById(ctx: Ctx, id: number) {
  const user = (await usersById(ctx, [id])).get(id)
  return user ? presentUser(ctx, user) : null
}

/** Nothing instead of a refusal: this is how GraphQL says that there is no such thing. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null
    throw error
  }
}

type IssueLike = InferResult<ReturnType<typeof issuesQuery>>[number]

function presentIssue(ctx: Query, project: Project, row: IssueLike) {
  return {
    id: gid(ctx, 'Issue', row.id),
    iid: String(row.iid),
    title: row.title,
    description: row.description,
    state: row.state,
    confidential: row.confidential === 1,
    webUrl: issueUrl(ctx, { project_path: project.full_path, iid: row.iid }),
    author: () => authorOf(ctx, row.author_id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    closedAt: row.closed_at,
    dueDate: row.due_date,
  }
}

type MergeRequestLike = InferResult<ReturnType<typeof mergeRequestsQuery>>[number]

function presentMergeRequest(ctx: Query, project: Project, row: MergeRequestLike) {
  return {
    id: gid(ctx, 'MergeRequest', row.id),
    iid: String(row.iid),
    title: row.title,
    description: row.description,
    state: row.state,
    draft: row.draft === 1,
    sourceBranch: row.source_branch,
    targetBranch: row.target_branch,
    diffHeadSha: row.head_sha,
    mergeCommitSha: row.merge_commit_sha,
    webUrl: mergeRequestUrl(ctx, { target_path: project.full_path, iid: row.iid }),
    author: () => authorOf(ctx, row.author_id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    mergedAt: row.merged_at,
  }
}

type PipelineLike = InferResult<ReturnType<typeof pipelinesQuery>>[number]

function presentPipeline(ctx: Ctx, row: PipelineLike) {
  return {
    id: gid(ctx, 'Ci::Pipeline', row.id),
    iid: String(row.iid),
    sha: row.sha,
    ref: row.ref,
    status: row.status.toUpperCase(),
    source: row.source,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}

function presentSnippet(ctx: Ctx, entity: SnippetEntity) {
  return {
    id: gid(ctx, 'ProjectSnippet', entity.id),
    title: entity.title,
    description: entity.description,
    fileName: entity.file_name,
    visibilityLevel: entity.visibility,
    webUrl: entity.web_url,
    rawUrl: entity.raw_url,
    httpUrlToRepo: entity.http_url_to_repo,
    sshUrlToRepo: entity.ssh_url_to_repo,
    author: entity.author ? presentUser(ctx, entity.author) : null,
    createdAt: entity.created_at,
    updatedAt: entity.updated_at,
  }
}

/** What somebody finds who may not look. */
const nothing = { rows: [], count: async () => 0 }

type Listed = Slice & { readonly state?: string | undefined }

function presentProject(ctx: Query, project: Project) {
  const { externalUrl } = ctx.config
  const webUrl = `${externalUrl}/${project.full_path}`
  const may = rightsIn(ctx, project)
  const projectId = project.id
  return {
    id: gid(ctx, 'Project', project.id),
    name: project.name,
    path: project.path,
    fullPath: project.full_path,
    description: project.description,
    visibility: project.visibility,
    archived: project.archived,
    webUrl,
    httpUrlToRepo: `${webUrl}.git`,
    sshUrlToRepo: sshUrl(ctx.config, `${project.full_path}.git`),
    starCount: project.star_count,
    createdAt: project.created_at,
    lastActivityAt: project.last_activity_at,
    repository: {
      rootRef: may('read_code') ? project.default_branch : null,
      empty: project.empty_repo === 1,
    },
    async mergeRequest({ iid }: { readonly iid: string }) {
      if (!may('read_merge_requests')) return null
      const row = await orNull(getMergeRequest(ctx, project, Number(iid)))
      return row && presentMergeRequest(ctx, project, row)
    },
    async mergeRequests(given: Listed) {
      const window = windowOf(given, ctx.budget)
      const query = mergeRequestsQuery(ctx.db, projectId, given.state)
      const found = may('read_merge_requests')
        ? await readWindow(ctx.db, query, 'id', window)
        : nothing
      return connection(found, window, (row) => presentMergeRequest(ctx, project, row))
    },
    async issue({ iid }: { readonly iid: string }) {
      if (!may('read_issues')) return null
      const row = await orNull(getIssue(ctx, project, Number(iid)))
      return row && presentIssue(ctx, project, row)
    },
    async issues(given: Listed) {
      const window = windowOf(given, ctx.budget)
      const query = issuesQuery(ctx.db, projectId, seesIssue(viewerOf(ctx)), given.state)
      const found = may('read_issues')
        ? await readWindow(ctx.db, query, 'issues.id', window)
        : nothing
      return connection(found, window, (row) => presentIssue(ctx, project, row))
    },
    async pipelines(given: Slice & { readonly ref?: string; readonly sha?: string }) {
      const window = windowOf(given, ctx.budget)
      const query = pipelinesQuery(ctx.db, { projectId, ref: given.ref, sha: given.sha })
      const found = mayReadBuilds(ctx, project)
        ? await readWindow(ctx.db, query, 'id', window)
        : nothing
      return connection(found, window, (row) => presentPipeline(ctx, row))
    },
    async snippets(given: Slice) {
      const window = windowOf(given, ctx.budget)
      const viewer = viewerOf(ctx)
      const range = { below: window.after, limit: window.limit }
      const found = await listSnippetsBelow(ctx.db, viewer, { projectId }, range)
      const rows = await presentSnippets(ctx, found)
      const count = () => countSnippets(ctx.db, viewer, { projectId }, MOST_COUNTED)
      return connection({ rows, count }, window, (row) => presentSnippet(ctx, row))
    },
  }
}

/** The fields of `Query`, for one request. */
export function queryRoot(given: Ctx) {
  const ctx: Query = { ...given, budget: new RecordBudget(), authors: new Map() }
  return {
    echo: ({ text }: { readonly text: string }) =>
      `"${userOf(ctx.actor)?.username ?? 'nil'}" says: ${text}`,
    metadata: () =>
      ctx.actor.kind === 'anonymous'
        ? null
        : {
            version: apiVersion,
            revision: productVersion,
            enterprise: false,
            kas: { enabled: false, externalUrl: null, version: null },
          },
    async currentUser() {
      const user = userOf(ctx.actor)
      const basic = user && (await usersById(ctx, [user.id])).get(user.id)
      return basic ? presentCaller(ctx, basic, user.kind !== 'human') : null
    },
    async project({ fullPath }: { readonly fullPath: string }) {
      // A number would be an id to the look-up, and is no path here.
      if (!fullPath.includes('/')) return null
      const project = await findVisibleProject(ctx, fullPath)
      return project ? presentProject(ctx, project) : null
    },
  }
}
