import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { type FieldTexts, forbidden, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { listRefsContaining } from '../../git/history/contains.ts'
import { isObjectId } from '../../git/names.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { ifFound, orNotFound } from '../../repositories/repository/missing.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mayRunOn } from '../pipelines/access.ts'
import {
  createExternalPipeline,
  findPipelineOf,
  recomputeStatus,
} from '../pipelines/process/update-status.ts'
import {
  type CommitStatusRow,
  findOpenStatus,
  insertStatus,
  retireOlder,
  type StatusValues,
  updateStatus,
} from './queries.ts'
import { assertMayFollow, type Reported } from './transition.ts'

export interface StatusReport {
  readonly state: Reported
  readonly name: string
  readonly ref?: string | undefined
  readonly target_url?: string | undefined
  readonly description?: string | undefined
  readonly coverage?: number | undefined
  readonly pipeline_id?: number | undefined
}

/** Records what somebody outside says about a commit (docs/contract/B-resolved §2.5). */
export async function reportStatus(
  ctx: Ctx,
  project: Project,
  sha: string,
  report: StatusReport,
): Promise<CommitStatusRow> {
  const repo = ctx.git.open(project.id)
  if (!isObjectId(sha)) throw notFound('Commit')
  await orNotFound('Commit', readCommit(repo, sha))
  assertFits(report)
  const ref = await findRef(ctx, project, sha, report)
  const isTag =
    (await ifFound(resolveRevision(repo, ref, { kind: 'branch' }))) === undefined &&
    (await ifFound(resolveRevision(repo, ref, { kind: 'tag' }))) !== undefined
  // What it says may let merge requests in, or keep them out.
  if (!(await mayRunOn(ctx, project, { ref, tag: isTag }))) throw forbidden()
  return await inTransaction(ctx, async (ctx) => {
    const only = { ref, id: report.pipeline_id }
    const pipeline =
      (await findPipelineOf(ctx, project.id, sha, only)) ??
      (await createExternalPipeline(ctx, project.id, { sha, ref, tag: isTag }))
    const known = await findOpenStatus(ctx.db, pipeline.id, report.name, ref)
    assertMayFollow(known?.status ?? 'created', report.state)
    const values = valuesOf(ctx, known, report)
    const row = known
      ? await updateStatus(ctx.db, known.id, values, ctx.now())
      : await insertStatus(
          ctx.db,
          {
            ...values,
            project_id: project.id,
            pipeline_id: pipeline.id,
            sha,
            ref,
            name: report.name,
            user_id: userOf(ctx.actor)?.id ?? null,
          },
          ctx.now(),
        )
    await retireOlder(ctx.db, row)
    await recomputeStatus(ctx, pipeline)
    return row
  })
}

const LONGEST = 255

function assertFits(report: StatusReport): void {
  const faults: Record<string, string[]> = {}
  const { target_url, description, name } = report
  const tooLong = `is too long (maximum is ${LONGEST} characters)`
  if (target_url !== undefined && target_url !== '') {
    const texts = [
      ...(target_url.length > LONGEST ? [tooLong] : []),
      ...(/^https?:\/\/[^\s]+$/i.test(target_url)
        ? []
        : ['is blocked: Only allowed schemes are http, https']),
    ]
    if (texts.length > 0) faults.target_url = texts
  }
  if (description !== undefined && description.length > LONGEST) faults.description = [tooLong]
  if (name.length > LONGEST) faults.name = [tooLong]
  if (Object.keys(faults).length > 0) throw invalid(faults satisfies FieldTexts)
}

/** The ref of the report, of the pipeline it belongs to, or of a branch that contains the commit. */
async function findRef(
  ctx: Ctx,
  project: Project,
  sha: string,
  report: StatusReport,
): Promise<string> {
  const { pipeline_id: id } = report
  const given = report.ref?.replace(/^refs\/(heads|tags)\//, '')
  const ref = given === '' ? undefined : given
  if (ref !== undefined && id === undefined) return ref
  const pipeline = await findPipelineOf(ctx, project.id, sha, { ref, id })
  if (pipeline) return pipeline.ref
  if (id !== undefined) throw notFound('Pipeline for pipeline_id, sha and ref')
  const prefix = 'refs/heads/'
  const repo = ctx.git.open(project.id)
  const [branch] = await listRefsContaining(repo, { revision: sha, prefixes: [prefix] })
  if (!branch) throw notFound('References for commit')
  return branch.name.slice(prefix.length)
}

function valuesOf(
  ctx: Ctx,
  known: CommitStatusRow | undefined,
  report: StatusReport,
): StatusValues {
  const { state } = report
  const starts = state === 'running' || state === 'success' || state === 'failed'
  const ends = state !== 'pending' && state !== 'running'
  const given = {
    ...(report.target_url === undefined ? {} : { target_url: report.target_url || null }),
    ...(report.description === undefined ? {} : { description: report.description || null }),
    ...(report.coverage === undefined ? {} : { coverage: report.coverage }),
  }
  return {
    ...given,
    status: state,
    failure_reason: state === 'failed' ? 'api_failure' : null,
    started_at: known?.started_at ?? (starts ? ctx.now() : null),
    finished_at: ends ? ctx.now() : null,
  }
}
