import { dismissBroadcast } from '../broadcasts.ts'
import { actForm, returnOf } from '../form.ts'

export const dismissForm = actForm({
  address: '/-/broadcast_messages/:message_id/dismiss',
  summary: 'Show a broadcast message no more in this browser',
  strangers: true,
  async act(sent) {
    const id = Number(sent.path.message_id)
    if (Number.isSafeInteger(id) && id > 0) dismissBroadcast(sent.ctx, id)
    return returnOf(sent)
  },
})
