import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { listOwnIdentities, unlinkOwnIdentity } from './own-identities.ts'

const ownIdentityEntity = z.strictObject({
  provider: z.string(),
  label: z.string(),
  /** `gone`: linked to a provider that this server does not have any more. */
  kind: z.enum(['openid', 'ldap', 'gone']),
  linked_at: z.string().nullable(),
  /** What the caller may do with it. */
  may: z.enum(['link', 'unlink', 'nothing']),
})

export const listIdentitiesOfCaller = endpoint({
  method: 'GET',
  path: '/user/identities',
  summary: 'List the sign-in providers, and which of them the caller is linked to',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: z.array(ownIdentityEntity),
  handler: ({ ctx }) => listOwnIdentities(ctx),
})

export const unlinkIdentityOfCaller = endpoint({
  method: 'DELETE',
  path: '/user/identities/:provider',
  summary: 'Unlink a sign-in provider from the caller',
  access: signedIn(),
  params: { provider: text({ max: 100 }) },
  handler: ({ ctx, params }) => unlinkOwnIdentity(ctx, params.provider),
})
