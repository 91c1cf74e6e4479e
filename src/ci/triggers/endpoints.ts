import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { instant, text } from '../../http/params.ts'
import { onTrigger } from './access.ts'
import { presentTrigger, presentTriggers, triggerEntity } from './entity.ts'
import { listTriggers } from './queries.ts'
import { changeTrigger, createTrigger, removeTrigger } from './save-trigger.ts'

const path = '/projects/:id/triggers'
const description = text({ max: 255 })

export const listProjectTriggers = endpoint({
  method: 'GET',
  path,
  summary: 'List the tokens that start pipelines of a project',
  access: onProject('read_triggers'),
  paginate: 'offset',
  response: z.array(triggerEntity),
  async handler({ ctx, project, page }) {
    const rows = await listTriggers(ctx.db, project.id, page)
    return { ...rows, items: await presentTriggers(ctx, rows.items) }
  },
})

export const getTrigger = endpoint({
  method: 'GET',
  path: `${path}/:trigger_id`,
  summary: 'Read a token that starts pipelines',
  access: onTrigger(),
  response: triggerEntity,
  handler: ({ ctx, trigger }) => presentTrigger(ctx, trigger),
})

export const addTrigger = endpoint({
  method: 'POST',
  path,
  summary: 'Make a token that starts pipelines of a project',
  access: onProject('admin_triggers'),
  body: { description, expires_at: instant().nullish() },
  response: triggerEntity,
  status: 201,
  handler: async ({ ctx, project, body }) =>
    presentTrigger(ctx, await createTrigger(ctx, project.id, body)),
})

export const editTrigger = endpoint({
  method: 'PUT',
  path: `${path}/:trigger_id`,
  summary: 'Describe a token that starts pipelines anew',
  access: onTrigger('admin_triggers'),
  body: { description: description.optional(), expires_at: instant().nullish() },
  response: triggerEntity,
  async handler({ ctx, trigger, body }) {
    const changed = await changeTrigger(ctx, trigger, body)
    return presentTrigger(ctx, changed)
  },
})

export const dropTrigger = endpoint({
  method: 'DELETE',
  path: `${path}/:trigger_id`,
  summary: 'Delete a token that starts pipelines',
  access: onTrigger('admin_triggers'),
  handler: ({ ctx, trigger }) => removeTrigger(ctx, trigger),
})
