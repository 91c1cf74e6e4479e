import { endpoint } from '../../http/endpoint.ts'
import { onShare } from './access.ts'
import { unshareSource } from './share-source.ts'

export const deleteShare = endpoint({
  method: 'DELETE',
  path: '/:source/:id/share/:group_id',
  summary: 'Stop sharing a project or group with another group',
  access: onShare(),
  handler: ({ ctx, source, share }) => unshareSource(ctx, source, share.group_id),
})
