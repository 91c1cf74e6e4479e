import { projectRecord } from '../../access/records.ts'
import { notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findIntegration } from './queries.ts'

/** The integration of `:integration_id`; who may test one need not see its key. */
export const onIntegration = projectRecord('test_alert_integrations', {
  params: { integration_id: id() },
  async find({ ctx, project, params }) {
    const integration = await findIntegration(ctx.db, project.id, params.integration_id)
    if (!integration) throw notFound()
    return { integration }
  },
  updatedAt: ({ integration }) => integration.updated_at,
})
