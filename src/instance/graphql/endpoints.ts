import { z } from 'zod'
import { anyone } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fault, parameter, text } from '../../http/params.ts'

/** Variables of a query: an object, or its JSON as forms send it. */
const variables = parameter<Readonly<Record<string, unknown>>>({ type: 'object' }, (raw) => {
  if (raw === null || raw === '') return {}
  const value = typeof raw === 'string' ? parsed(raw) : raw
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value }
    : fault.invalid
})

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

export const queryGraphql = endpoint({
  method: 'POST',
  path: '/api/graphql',
  host: true,
  summary: 'Ask by a GraphQL query; what is wrong with it stands beside the data',
  access: anyone(),
  scopes: ['api', 'read_api'],
  body: {
    query: text({ max: 100_000 }),
    variables: variables.optional(),
    operationName: text({ max: 255 }).nullish(),
  },
  maxBody: 500_000,
  status: 200,
  response: z.strictObject({
    data: z.record(z.string(), z.unknown()).nullish(),
    errors: z.array(z.record(z.string(), z.unknown())).optional(),
  }),
  async handler({ ctx, body }) {
    // Loaded by the first query: the library and the schema take memory that most servers never need.
    const { answerQuery } = await import('./answer.ts')
    return await answerQuery(ctx, {
      query: body.query,
      variables: body.variables,
      operationName: body.operationName,
    })
  },
})
