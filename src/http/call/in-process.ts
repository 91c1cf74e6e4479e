import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { hidden, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, type Endpoint, formsOf, type InProcess, JsonText } from '../endpoint.ts'
import { answerFor } from '../errors.ts'
import { withoutNulls } from '../null-input.ts'
import type { Input } from '../read-input.ts'
import { type Caller, invoke, readParameters, readPath } from './invoke.ts'

type Asked = Parameters<InProcess['run']>[2]

/** Runs endpoints within a request; `caller` gives where that request comes from. */
export function makeInProcess(caller: () => Caller): InProcess {
  return {
    async run(ctx, declared, asked) {
      const endpoint = formOf(declared, asked.path)
      const subject = await findSubject(caller(), ctx, endpoint, asked)
      const input = withoutNulls({ ...endpoint.query, ...endpoint.body }, asked.given)
      const own = {
        received: asked.given,
        url: `${caller().parts.baseUrl}${endpoint.path}`,
        body: Readable.from([]),
        payload: async () => Buffer.alloc(0),
      }
      const invocation = { endpoint, path: asked.path, input, own, ctx, subject }
      const { result } = await invoke({ ...caller(), method: endpoint.method }, invocation)
      return await dataOf(result, endpoint.paginate !== undefined)
    },
    async admits(ctx, declared, asked) {
      try {
        await findSubject(caller(), ctx, formOf(declared, asked.path), asked)
        return true
      } catch (error) {
        if (answerFor(error).fault) throw error
        return false
      }
    },
  }
}

/** The project's or the group's form of an endpoint that has both, by the `source` of the path. */
function formOf(declared: Endpoint, path: Readonly<Record<string, string>>): Endpoint {
  const forms = formsOf(declared)
  return (forms.length > 1 && path.source === 'groups' ? forms[1] : forms[0]) ?? declared
}

async function findSubject(
  { parts, headers }: Caller,
  ctx: Ctx,
  endpoint: Endpoint,
  { path, given }: Asked,
): Promise<unknown> {
  if (endpoint.offered && !parts.isOffered(endpoint.offered.setting)) throw hidden()
  endpoint.access.before(ctx)
  try {
    return await endpoint.access.find({
      ctx,
      method: endpoint.method,
      headers,
      path,
      // Where a project was moved to is given by its id: who called knows the address that it belongs to.
      urlWith: (_param, { id }) => String(id),
      read: (params) => readPath(params, path),
      query: given,
      peek: async () => Buffer.alloc(0),
    })
  } catch (refusal) {
    if (refusal instanceof Problem && refusal.status !== 301 && !endpoint.access.subjectFirst) {
      readParameters(endpoint, path, withoutNulls(endpoint.body, given as Input))
    }
    throw refusal
  }
}

async function dataOf(result: unknown, paged: boolean): Promise<unknown> {
  if (!(result instanceof JsonText)) return result instanceof Answer ? result.body : result
  const { body } = result
  const value = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : await json(body)
  return paged ? { items: value } : value
}
