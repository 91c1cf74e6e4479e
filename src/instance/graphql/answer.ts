import { type DocumentNode, execute, GraphQLError, parse, validate } from 'graphql'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { MAX_TOKENS, nestingErrors, sizeErrors } from './limits.ts'
import { queryRoot } from './resolvers.ts'
import { schema } from './schema.ts'

const MAX_ERRORS = 20

export interface GraphqlRequest {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly operationName?: string | null | undefined
}

export interface GraphqlAnswer {
  data?: Record<string, unknown> | null
  errors?: Record<string, unknown>[]
}

/** Answers a query for the caller of `ctx`. Whatever is wrong stands in `errors`. */
export async function answerQuery(ctx: Ctx, request: GraphqlRequest): Promise<GraphqlAnswer> {
  const read = readDocument(request.query)
  if ('errors' in read) return { errors: read.errors.map((error) => present(ctx, error)) }
  const result = await execute({
    schema,
    document: read.document,
    rootValue: queryRoot(ctx),
    variableValues: request.variables ?? {},
    operationName: request.operationName ?? null,
  })
  return {
    ...(result.data === undefined ? {} : { data: result.data && { ...result.data } }),
    ...(result.errors ? { errors: result.errors.map((error) => present(ctx, error)) } : {}),
  }
}

type Read = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] }

function readDocument(query: string): Read {
  try {
    const tooDeep = nestingErrors(query)
    if (tooDeep.length > 0) return { errors: tooDeep }
    const document = parse(query, { maxTokens: MAX_TOKENS, noLocation: false })
    const wrong = validate(schema, document, undefined, { maxErrors: MAX_ERRORS })
    const errors = wrong.length > 0 ? wrong : sizeErrors(document)
    return errors.length > 0 ? { errors } : { document }
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] }
    throw error
  }
}

/** An error for the wire: what the caller caused in its words, anything else without any. */
function present(ctx: Ctx, error: GraphQLError): Record<string, unknown> {
  const cause = error.originalError
  const ours = cause && !(cause instanceof Problem) && !(cause instanceof GraphQLError)
  if (ours) ctx.log.error('query failed', { error: cause, path: error.path?.join('.') })
  const { message, locations, path } = error.toJSON()
  return {
    message: ours ? 'Internal server error' : message,
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
  }
}
