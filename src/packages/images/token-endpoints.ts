import { z } from 'zod'
import { issueClientToken } from '../../access/authentication/client-token.ts'
import { anyone } from '../../access/subjects.ts'
import { secretIn } from '../../http/credentials/credentials.ts'
import { endpoint } from '../../http/endpoint.ts'
import { list, text } from '../../http/params.ts'
import { imageRead } from './access.ts'

const word = text({ max: 2000 })
const MOST_SCOPES = 100

export const getImageToken = endpoint({
  ...imageRead,
  method: 'GET',
  path: '/jwt/auth',
  summary: 'Get a token for the registry of images; each request is judged when it is used',
  access: anyone(),
  query: {
    service: word.optional(),
    // A push that mounts blobs of other repositories asks for several.
    scope: list(word, { max: MOST_SCOPES }).optional(),
    account: word.optional(),
    client_id: word.optional(),
    offline_token: word.optional(),
  },
  response: z.strictObject({
    token: z.string(),
    access_token: z.string(),
    expires_in: z.int(),
    issued_at: z.string(),
  }),
  handler({ ctx, request }) {
    const secret = secretIn(request.headers) ?? ''
    const seconds = ctx.settings.get('container_registry_token_expire_delay') * 60
    const options = { purpose: 'container_registry', seconds } as const
    const token = issueClientToken(ctx, secret, options)
    return { token, access_token: token, expires_in: seconds, issued_at: ctx.now() }
  },
})
