import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { groupedTrailers, lastTrailers, parseTrailers } from '../../git/history/trailers.ts'
import type { Commit, CommitStats } from '../../git/types.ts'
import { projectUrl } from '../repository/access.ts'
import { type PipelineBasic, pipelineBasicEntity } from './pipeline-entity.ts'

const commitFields = {
  id: z.string(),
  short_id: z.string(),
  created_at: z.string(),
  parent_ids: z.array(z.string()),
  title: z.string(),
  message: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  authored_date: z.string(),
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: z.string(),
  trailers: z.record(z.string(), z.string()),
  extended_trailers: z.record(z.string(), z.array(z.string())),
  web_url: z.string(),
}

const statsEntity = z.strictObject({
  additions: z.int(),
  deletions: z.int(),
  total: z.int(),
})

/** A commit as branches, tags and comparisons show it. */
export const commitEntity = z.strictObject(commitFields)
export type CommitBrief = z.input<typeof commitEntity>

/** A commit in the commits list; `stats` only where they were asked for. */
export const listedCommitEntity = z.strictObject({ ...commitFields, stats: statsEntity.optional() })

/** A single commit. */
export const commitDetailEntity = z.strictObject({
  ...commitFields,
  stats: statsEntity.optional(),
  status: z.string().nullable(),
  project_id: z.int(),
  last_pipeline: pipelineBasicEntity.nullable(),
})
export type CommitDetail = z.input<typeof commitDetailEntity>

/** The whole first line: longer than what other tools cut it to (docs/contract/B-resolved §2). */
export function titleOf(commit: Pick<Commit, 'message'>): string {
  return commit.message.split('\n', 1)[0] ?? ''
}

interface CommitOptions {
  /** Lists leave trailers empty unless they were asked for. */
  readonly trailers: boolean
}

export function presentCommit(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  commit: Commit,
  options: CommitOptions = { trailers: false },
): CommitBrief {
  const trailers = options.trailers ? parseTrailers(commit.message) : []
  return {
    id: commit.id,
    short_id: commit.id.slice(0, 8),
    created_at: commit.committer.date,
    parent_ids: [...commit.parentIds],
    title: titleOf(commit),
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: commit.author.date,
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: commit.committer.date,
    trailers: lastTrailers(trailers),
    extended_trailers: groupedTrailers(trailers),
    web_url: `${projectUrl(ctx, project)}/-/commit/${commit.id}`,
  }
}

export function presentStats(stats: CommitStats): z.input<typeof statsEntity> {
  const { additions, deletions } = stats
  return { additions, deletions, total: additions + deletions }
}

export function presentCommitDetail(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path' | 'id'>,
  commit: Commit,
  more: {
    readonly stats: CommitStats | undefined
    readonly lastPipeline: PipelineBasic | null
  },
): CommitDetail {
  return {
    ...presentCommit(ctx, project, commit, { trailers: true }),
    ...(more.stats ? { stats: presentStats(more.stats) } : {}),
    status: more.lastPipeline?.status ?? null,
    project_id: project.id,
    last_pipeline: more.lastPipeline,
  }
}
