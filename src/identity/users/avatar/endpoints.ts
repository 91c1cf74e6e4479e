import { z } from 'zod'
import { anyone } from '../../../access/subjects.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { integer, text } from '../../../http/params.ts'
import { avatarUrl } from '../basic.ts'
import { findUserByPublicEmail } from '../basic-queries.ts'

/** Addresses that their users keep to themselves are as unknown ones: nobody can try out who is here. */
export const getAvatarByEmail = endpoint({
  method: 'GET',
  path: '/avatar',
  summary: 'Find the avatar of the user with a public e-mail address',
  access: anyone(),
  query: { email: text({ max: 1000 }), size: integer({ min: 1, max: 4096 }).optional() },
  response: z.strictObject({ avatar_url: z.string().nullable() }),
  async handler({ ctx, query }) {
    const user = await findUserByPublicEmail(ctx.db, query.email)
    return { avatar_url: user ? avatarUrl(ctx, 'user', user.id, user) : null }
  },
})
