import { userOf } from '../../access/actor.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx, Effect } from '../../ctx.ts'
import { findClosedIssues, findReferences, type Reference } from '../../markdown/find-references.ts'
import { listSeenIssuesAt, listSeenMergeRequestsAt } from '../../markdown/queries.ts'
import type { ReadPush } from '../../repositories/effects.ts'
import { mentionCommits } from './commit-task.ts'
import { type MentionSource, noteMention } from './note-mention.ts'
import { isCommitOfMergeRequest } from './queries.ts'

/** Most commits that one text is searched for. */
const MAX_COMMITS = 20

/**
 * Lets what a text mentions say so with a note `mentioned in …`, once for each source, as far as the caller may see it.
 * Commits are looked for by a task, since no repository is read in a transaction.
 */
export async function crossReference(
  ctx: Ctx,
  source: MentionSource,
  found: readonly Reference[],
): Promise<void> {
  await mentionNumbered(ctx, source, found, () => Promise.resolve(true))
  const commits = found.flatMap((one) =>
    one.kind === 'commit'
      ? [{ project: one.project ?? source.project.full_path, sha: one.sha }]
      : [],
  )
  if (commits.length === 0) return
  const { type, id, iid, commitId, project } = source
  await ctx.work.enqueue(ctx.db, mentionCommits, {
    user_id: userOf(ctx.actor)?.id ?? null,
    source: {
      type,
      id,
      iid,
      commitId,
      project: { id: project.id, full_path: project.full_path },
    },
    commits: commits.slice(0, MAX_COMMITS),
  })
}

type SeenRequest = Awaited<ReturnType<typeof listSeenMergeRequestsAt>>[number]

async function mentionNumbered(
  ctx: Ctx,
  source: MentionSource,
  found: readonly Reference[],
  isNews: (request: SeenRequest) => Promise<boolean>,
): Promise<void> {
  const viewer = viewerOf(ctx)
  const numbered = found.flatMap((one) =>
    one.kind === 'issue' || one.kind === 'merge_request'
      ? [{ kind: one.kind, path: one.project ?? source.project.full_path, iid: one.iid }]
      : [],
  )
  for (const path of new Set(numbered.map((one) => one.path))) {
    const iids = (kind: Reference['kind']) =>
      numbered.filter((one) => one.kind === kind && one.path === path).map((one) => one.iid)
    for (const row of await listSeenIssuesAt(ctx.db, viewer, path, iids('issue'))) {
      await noteMention(ctx, source, scopeOf('Issue', row))
    }
    const requests = await listSeenMergeRequestsAt(ctx.db, viewer, path, iids('merge_request'))
    for (const row of requests) {
      if (await isNews(row)) await noteMention(ctx, source, scopeOf('MergeRequest', row))
    }
  }
}

function scopeOf(
  type: 'Issue' | 'MergeRequest',
  row: { readonly id: number; readonly project_id: number },
) {
  return { type, id: row.id, commitId: null, projectId: row.project_id }
}

interface PushedCommit {
  readonly id: string
  readonly message: string
}

/** Issues and merge requests that the commits of one branch of a push mention, all together. */
const MAX_MENTIONED = 200

/** Lets what pushed commits mention say so. */
export async function crossReferencePush(
  _ctx: Ctx,
  { project, news }: ReadPush,
): Promise<Effect<undefined>> {
  return async (ctx) => {
    for (const { name: branch, commits } of news.filter((one) => one.kind === 'branch')) {
      const lands = branch === project.default_branch
      await crossReferenceCommits(ctx, project, { branch, lands, commits })
    }
  }
}

/**
 * Lets what the messages of pushed commits mention say so, in the caller's transaction. Issues that the same push closes
 * say it already, and a commit of the merge request itself is no news there (docs/contract/B-resolved §11.3).
 */
async function crossReferenceCommits(
  ctx: Ctx,
  project: MentionSource['project'],
  push: {
    readonly branch: string
    readonly lands: boolean
    readonly commits: readonly PushedCommit[]
  },
): Promise<void> {
  let left = MAX_MENTIONED
  for (const commit of [...push.commits].reverse()) {
    if (left <= 0) return
    const closed = push.lands ? findClosedIssues(commit.message, ctx.config.externalUrl) : []
    const found = findReferences(commit.message).filter(
      (one) =>
        one.kind !== 'issue' ||
        !closed.some((issue) => issue.iid === one.iid && issue.project === one.project),
    )
    const source = { type: 'Commit', id: null, iid: null, commitId: commit.id, project } as const
    const isNews = async (request: SeenRequest) => {
      const own = request.source_project_id === project.id && request.source_branch === push.branch
      return !own && !(await isCommitOfMergeRequest(ctx.db, request.id, commit.id))
    }
    await mentionNumbered(ctx, source, found.slice(0, left), isNews)
    left -= found.length
  }
}
