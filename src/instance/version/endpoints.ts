import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { apiVersion, productVersion } from '../../base/version.ts'
import { endpoint } from '../../http/endpoint.ts'

const versionEntity = z.strictObject({
  version: z.string(),
  revision: z.string(),
  kas: z.strictObject({
    enabled: z.boolean(),
    externalUrl: z.string().nullable(),
    externalK8sProxyUrl: z.string().nullable(),
    version: z.string().nullable(),
  }),
  enterprise: z.boolean(),
})

function presentVersion(): z.input<typeof versionEntity> {
  const kas = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null }
  return { version: apiVersion, revision: productVersion, kas, enterprise: true }
}

export const getVersion = endpoint({
  method: 'GET',
  path: '/version',
  summary: 'Tell the version of the API',
  tags: ['version'],
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: versionEntity,
  handler: () => presentVersion(),
})

export const getMetadata = endpoint({
  method: 'GET',
  path: '/metadata',
  summary: 'Tell the version of the API and of its companions',
  tags: ['version'],
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: versionEntity,
  handler: () => presentVersion(),
})
