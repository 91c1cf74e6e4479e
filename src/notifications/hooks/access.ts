import { eitherRecord } from '../../access/records.ts'
import { notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findDelivery } from './queries.ts'
import { getHook } from './verbs.ts'

/** A webhook of the project or group. */
export const onHook = eitherRecord('admin_hooks', {
  params: { hook_id: id() },
  find: async ({ ctx, source, params }) => ({ hook: await getHook(ctx, source, params.hook_id) }),
})

/** Something that was sent to a webhook of the project or group. */
export const onDelivery = eitherRecord('admin_hooks', {
  params: { hook_id: id(), hook_event_id: id() },
  async find({ ctx, source, params }) {
    const hook = await getHook(ctx, source, params.hook_id)
    const delivery = await findDelivery(ctx.db, params.hook_event_id)
    if (delivery?.webhook_id !== hook.id) throw notFound()
    return { hook, delivery }
  },
})
