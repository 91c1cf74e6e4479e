import { onEither, readEither } from '../../access/sources.ts'
import { hidden } from '../../base/problem.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { getAvatar } from '../../identity/users/avatar/read-avatar.ts'

export const getAvatarOf = endpoint({
  method: 'GET',
  path: '/:source/:id/avatar',
  summary: 'Download the avatar of a project or group',
  tags: [':source'],
  access: onEither(readEither),
  response: bytes('image/png'),
  async handler({ ctx, source }) {
    if (source.avatar_file === null) throw hidden()
    return await getAvatar(ctx, source.avatar_file)
  },
})
