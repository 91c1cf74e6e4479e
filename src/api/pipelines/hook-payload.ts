import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommits } from '../../git/commit.ts'
import { hookProject, hookUserById } from '../hooks/payload-parts.ts'
import { secondsBetween } from './describe-pipeline.ts'
import { presentDetailedStatus } from './detailed-status.ts'
import { type JobRow, listCurrentJobs } from './job-queries.ts'
import type { PipelineRow } from './queries.ts'

const noCommit = '0'.repeat(40)

/** What hooks are told of a pipeline (spec D §1.25). Values of variables are secrets: only their names are told. */
export async function pipelinePayload(ctx: Ctx, project: Project, row: PipelineRow) {
  const jobs = await listCurrentJobs(ctx.db, row.id)
  const path = `/${project.full_path}/-/pipelines/${row.id}`
  const url = `${ctx.config.externalUrl}${path}`
  const [commit] = await readCommits(ctx.git.open(project.id), [row.sha])
  const { started_at, finished_at } = row
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: row.id,
      iid: row.iid,
      name: row.name,
      ref: row.ref,
      tag: row.tag === 1,
      sha: row.sha,
      before_sha: row.before_sha ?? noCommit,
      source: row.source,
      status: row.status,
      detailed_status: presentDetailedStatus(row.status, path, false).label,
      stages: [...new Set(jobs.map((job) => job.stage))],
      created_at: row.created_at,
      finished_at,
      duration:
        started_at === null || finished_at === null
          ? null
          : secondsBetween(started_at, finished_at),
      queued_duration: started_at === null ? null : secondsBetween(row.created_at, started_at),
      variables: [],
      url,
    },
    merge_request: null,
    user: await hookUserById(ctx, row.user_id),
    project: hookProject(ctx, project),
    commit: commit && {
      id: commit.id,
      message: commit.message,
      title: commit.title,
      timestamp: commit.committer.date,
      url: `${ctx.config.externalUrl}/${project.full_path}/-/commit/${commit.id}`,
      author: { name: commit.author.name, email: commit.author.email },
    },
    source_pipeline: null,
    builds: await Promise.all(jobs.map((job) => jobPart(ctx, job))),
  }
}

async function jobPart(ctx: Ctx, job: JobRow) {
  const { started_at, finished_at, queued_at } = job
  return {
    id: job.id,
    stage: job.stage,
    name: job.name,
    status: job.status,
    created_at: job.created_at,
    started_at,
    finished_at,
    duration:
      started_at === null || finished_at === null ? null : secondsBetween(started_at, finished_at),
    queued_duration:
      queued_at === null || started_at === null ? null : secondsBetween(queued_at, started_at),
    failure_reason: job.failure_reason,
    when: job.run_when,
    manual: job.run_when === 'manual',
    allow_failure: job.allow_failure === 1,
    user: await hookUserById(ctx, job.user_id),
    runner: null,
    artifacts_file: { filename: null, size: null },
    environment: null,
  }
}
