import { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { listPage } from '../../store/pages.ts'
import { type Finding, states } from './check/finding.ts'
import { type HealthCheckRow, healthChecksQuery } from './queries.ts'
import { findingEntity } from './tasks.ts'

const healthCheckEntity = z.strictObject({
  id: z.int(),
  state: z.enum(states),
  started_at: z.string(),
  finished_at: z.string(),
  findings: z.array(findingEntity),
})

function presentHealthCheck({
  findings,
  ...row
}: HealthCheckRow): z.input<typeof healthCheckEntity> {
  return { ...row, findings: JSON.parse(findings) as Finding[] } // written by the task
}

export const listHealthChecks = endpoint({
  method: 'GET',
  path: '/admin/health_checks',
  summary: 'List what the daily looks at the data of the instance have found, the newest first',
  access: onInstance(),
  paginate: 'offset',
  response: z.array(healthCheckEntity),
  async handler({ ctx, page }) {
    const found = await listPage(ctx.db, healthChecksQuery(ctx.db), page)
    return { ...found, items: found.items.map(presentHealthCheck) }
  },
})
