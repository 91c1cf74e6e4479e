import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import {
  pipelineBasicEntity,
  presentPipelineBasic,
} from '../../repositories/commits/pipeline-entity.ts'
import { findCoverage } from './coverage-queries.ts'
import { detailedStatusEntity, presentDetailedStatus } from './detailed-status.ts'
import { type JobRow, listCurrentJobs } from './job-queries.ts'
import type { PipelineRow } from './queries.ts'

/** A single pipeline (docs/contract/D §1.15). */
export const pipelineEntity = z.strictObject({
  ...pipelineBasicEntity.shape,
  before_sha: z.string(),
  tag: z.boolean(),
  yaml_errors: z.string().nullable(),
  user: userBasicEntity.nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  committed_at: z.string().nullable(),
  duration: z.int().nullable(),
  queued_duration: z.int().nullable(),
  coverage: z.string().nullable(),
  detailed_status: detailedStatusEntity,
  archived: z.boolean(),
})

const noCommit = '0'.repeat(40)

/** A pipeline with all that is shown of one. */
export async function describePipeline(
  ctx: Ctx,
  project: Project,
  row: PipelineRow,
): Promise<z.input<typeof pipelineEntity>> {
  const users = await usersById(ctx, [row.user_id])
  const jobs = await listCurrentJobs(ctx.db, row.id)
  const basic = presentPipelineBasic(ctx, project, row)
  const path = `/${project.full_path}/-/pipelines/${row.id}`
  const warnings = jobs.some((job) => job.status === 'failed' && job.allow_failure === 1)
  return {
    ...basic,
    before_sha: row.before_sha ?? noCommit,
    tag: row.tag === 1,
    yaml_errors: row.yaml_errors,
    user: (row.user_id === null ? undefined : users.get(row.user_id)) ?? null,
    started_at: row.started_at,
    finished_at: row.finished_at,
    committed_at: null,
    duration: row.finished_at === null ? null : runningSeconds(jobs),
    queued_duration:
      row.started_at === null ? null : secondsBetween(row.created_at, row.started_at),
    coverage: await findCoverage(ctx.db, row.id),
    detailed_status: presentDetailedStatus(row.status, path, warnings),
    archived: false,
  }
}

export function secondsBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
}

/** How long at least one job was running. */
function runningSeconds(jobs: readonly JobRow[]): number | null {
  const spans = jobs
    .flatMap(({ started_at, finished_at }) =>
      started_at === null || finished_at === null
        ? []
        : [{ from: Date.parse(started_at), to: Date.parse(finished_at) }],
    )
    .sort((one, other) => one.from - other.from)
  let total = 0
  let reached = 0
  for (const { from, to } of spans) {
    total += Math.max(0, to - Math.max(from, reached))
    reached = Math.max(reached, to)
  }
  return spans.length === 0 ? null : Math.round(total / 1000)
}
