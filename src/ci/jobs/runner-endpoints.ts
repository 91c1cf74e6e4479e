import { z } from 'zod'
import { findVisibleProject } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { mayReadBuilds } from '../pipelines/access.ts'
import { jobEntity, jobPresenter } from '../pipelines/job-entity.ts'
import { type JobRow, jobsOfRunner } from '../pipelines/process/running.ts'
import { onRunner } from '../runners/access.ts'

export const listRunnerJobs = endpoint({
  method: 'GET',
  path: '/runners/:runner_id/jobs',
  summary: 'List the jobs of a runner in projects that the caller can access',
  access: onRunner(),
  query: {
    status: oneOf(['running', 'success', 'failed', 'canceled']).optional(),
    system_id: text({ max: 64 }).optional(),
    order_by: oneOf(['id']).optional(),
    sort: oneOf(['asc', 'desc']).default('desc'),
  },
  paginate: 'offset',
  response: z.array(jobEntity),
  async handler({ ctx, runner, query, page }) {
    const { status, system_id: systemId, sort } = query
    const wanted = jobsOfRunner(ctx.db, runner.id, { status, systemId, sort })
    const rows = await listPage(ctx.db, wanted, page)
    return { ...rows, items: await presentVisible(ctx, rows.items) }
  },
})

async function presentVisible(ctx: Ctx, rows: readonly JobRow[]) {
  const shown = new Map<number, z.input<typeof jobEntity>>()
  for (const projectId of new Set(rows.map((row) => row.project_id))) {
    const project = await findVisibleProject(ctx, String(projectId))
    if (!project || !mayReadBuilds(ctx, project)) continue
    const own = rows.filter((row) => row.project_id === projectId)
    const presenter = await jobPresenter(ctx, project, own)
    for (const row of own) shown.set(row.id, presenter.job(row))
  }
  return rows.flatMap((row) => shown.get(row.id) ?? [])
}
