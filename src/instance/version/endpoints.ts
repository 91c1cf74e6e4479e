import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { apiVersion, productVersion } from '../../base/version.ts'
import { endpoint } from '../../http/endpoint.ts'

const versionEntity = z.strictObject({
  /** Of the API, as the reference platform counts; what this program is stands in `product`. */
  version: z.string(),
  product: z.strictObject({ name: z.string(), version: z.string() }),
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
  return {
    version: apiVersion,
    product: { name: 'Gitstead', version: productVersion },
    revision: productVersion,
    kas,
    enterprise: false,
  }
}

export const getVersion = endpoint({
  method: 'GET',
  path: '/version',
  summary: 'Get the versions of the API and of the server',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: versionEntity,
  handler: () => presentVersion(),
})

export const getMetadata = endpoint({
  method: 'GET',
  path: '/metadata',
  summary: 'Get the versions of the API, of the server and of its companions',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  response: versionEntity,
  handler: () => presentVersion(),
})
