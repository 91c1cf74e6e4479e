import { projectRecord } from '../../access/records.ts'
import { notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findTrigger } from './queries.ts'

export const onTrigger = projectRecord('read_triggers', {
  params: { trigger_id: id() },
  async find({ ctx, project, params }) {
    const trigger = await findTrigger(ctx.db, project.id, params.trigger_id)
    if (!trigger) throw notFound('Trigger')
    return { trigger }
  },
})
