import { onEither } from '../../access/sources.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { unshareSource } from './share-source.ts'

export const deleteShare = endpoint({
  method: 'DELETE',
  path: '/:source/:id/share/:group_id',
  summary: 'Stop sharing a project or group with another group',
  access: onEither({ projects: 'share_project', groups: 'admin_group' }),
  params: { group_id: id() },
  handler: ({ ctx, source, params }) => unshareSource(ctx, source, params.group_id),
})
