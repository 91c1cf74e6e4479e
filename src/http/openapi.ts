import { z } from 'zod'
import type { Endpoint, Shape } from './endpoint.ts'
import { schemaOf } from './params.ts'
import { capital, SharedSchemas } from './shared-schemas.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of the endpoints, paths below `serverUrl`. Deterministic: sorted by path and method. */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  about: { readonly title: string; readonly version: string; readonly serverUrl: string },
): Json {
  const paths: Record<string, Json> = {}
  const shared = new SharedSchemas()
  const responses = new Map<Endpoint, unknown>()
  const keyOf = (one: Endpoint) => `${one.path} ${one.method}`
  const sorted = [...endpoints].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  for (const endpoint of sorted) {
    const schema = responseSchema(endpoint)
    responses.set(endpoint, schema)
    shared.count(schema, capital(endpoint.tags[0] ?? 'Answer'))
  }
  for (const endpoint of sorted) {
    const path = endpoint.path.replaceAll(/[:*](\w+)/g, '{$1}')
    const item =
      paths[path] ?? (endpoint.host ? { servers: [{ url: rootOf(about.serverUrl) }] } : {})
    item[endpoint.method.toLowerCase()] = operation(
      endpoint,
      shared.replace(responses.get(endpoint)),
    )
    paths[path] = item
  }
  return {
    openapi: '3.1.0',
    info: { title: about.title, version: about.version },
    servers: [{ url: about.serverUrl }],
    security: [{ token: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: shared.schemas,
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
        bearer: { type: 'http', scheme: 'bearer' },
        job: { type: 'apiKey', in: 'header', name: 'JOB-TOKEN' },
      },
    },
  }
}

/** The address of the server itself, of that of its API. */
function rootOf(serverUrl: string): string {
  return serverUrl.replace(/\/api\/v4$/, '')
}

function operation(endpoint: Endpoint, schema: unknown): Json {
  const parameters = [...pathParameters(endpoint), ...queryParameters(endpoint)]
  return {
    operationId: operationId(endpoint),
    summary: endpoint.summary,
    tags: endpoint.tags,
    ...(endpoint.access.kind === 'anyone' ? { security: [{}, { token: [] }, { bearer: [] }] } : {}),
    'x-access': describeAccess(endpoint),
    ...(endpoint.conditions.length > 0
      ? { 'x-conditions': endpoint.conditions.map((condition) => condition.name) }
      : {}),
    'x-scopes': endpoint.scopes,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(endpoint),
    responses: { [String(endpoint.status)]: response(endpoint, schema) },
  }
}

function describeAccess(endpoint: Endpoint): string {
  const { kind, needs } = endpoint.access
  return needs === '' ? kind : `${kind}:${needs}`
}

/** A stable name from method and path: `getProjectsIdRepositoryTree`; `/-/` counts, since some paths are there twice. */
export function operationId(endpoint: Pick<Endpoint, 'method' | 'path'>): string {
  return endpoint.method.toLowerCase() + capital(endpoint.path.replaceAll('/-/', '/dash/'))
}

function pathParameters(endpoint: Endpoint): Json[] {
  return [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => {
    const schema = endpoint.params[name]
    const shape = schema ? schemaOf(schema) : { type: ['integer', 'string'] }
    return { name, in: 'path', required: true, schema: shape }
  })
}

function queryParameters(endpoint: Endpoint): Json[] {
  const found = Object.entries(endpoint.query).map(([name, schema]) =>
    inQuery(name, schemaOf(schema), isRequired(schema)),
  )
  const { paginate } = endpoint
  if (!paginate) return found
  const extra = [
    inQuery('page', { type: 'integer', minimum: 1 }),
    inQuery('per_page', { type: 'integer', minimum: 1, maximum: 100 }),
  ]
  if (paginate !== 'offset' && 'token' in paginate) {
    const words = ['legacy', 'keyset', ...(paginate.whole ? ['none'] : [])]
    extra.push(inQuery('pagination', { type: 'string', enum: words }))
    extra.push(inQuery('page_token', { type: 'string' }))
  } else if (paginate !== 'offset') {
    extra.push(inQuery('pagination', { type: 'string', enum: ['keyset', 'legacy'] }))
    extra.push(inQuery('cursor', { type: 'string' }))
  }
  const known = new Set(found.map((one) => one.name))
  return [...found, ...extra.filter((one) => !known.has(one.name))]
}

function inQuery(name: string, schema: Json, required = false) {
  return { name, in: 'query', required, schema }
}

function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse(undefined).success
}

function requestBody(endpoint: Endpoint): Json {
  if (endpoint.raw) {
    const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
    return { requestBody: { content } }
  }
  if (Object.keys(endpoint.body).length === 0) return {}
  const schema = objectSchema(endpoint.body)
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
  return { requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) } }
}

function objectSchema(shape: Shape): Json {
  const required = Object.entries(shape)
    .filter(([, schema]) => isRequired(schema))
    .map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(shape).map(([name, schema]) => [name, schemaOf(schema)]),
    ),
    ...(required.length > 0 ? { required } : {}),
  }
}

function responseSchema(endpoint: Endpoint): unknown {
  if (!(endpoint.response instanceof z.ZodType)) return undefined
  const options = { io: 'output', unrepresentable: 'any' } as const
  const { $schema: _, ...schema } = z.toJSONSchema(endpoint.response, options)
  return schema
}

function response(endpoint: Endpoint, schema: unknown): Json {
  const { response: shape } = endpoint
  if (!shape) return { description: 'Done' }
  if (schema === undefined && 'bytes' in shape) {
    const content = { [shape.bytes]: { schema: { type: 'string', format: 'binary' } } }
    return { description: 'The bytes', content }
  }
  return { description: 'Done', content: { 'application/json': { schema } } }
}
