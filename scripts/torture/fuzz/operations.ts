import { type ApiRecord, asRecord, asRecords } from '../place/api.ts'

/** One operation of the API's document. */
export interface Operation {
  /** `POST /projects/{id}/issues` */
  readonly name: string
  readonly method: string
  readonly template: string
  /** What stands before the template: `/api/v4`, or nothing for pages of the host. */
  readonly base: string
  readonly path: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly body: readonly Parameter[]
}

export interface Parameter {
  readonly name: string
  readonly required: boolean
  readonly schema: ApiRecord
}

const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete'])

/** Every operation that an OpenAPI document describes. */
export function operationsOf(document: unknown): Operation[] {
  const paths = Object.entries(asRecord(asRecord(document).paths))
  return paths.flatMap(([template, item]) => {
    const base = baseOf(asRecord(item))
    return Object.entries(asRecord(item))
      .filter(([method]) => METHODS.has(method))
      .map(([method, one]) => operationOf(method.toUpperCase(), template, base, asRecord(one)))
  })
}

/** Where a path has servers of its own, it is below the host itself. */
function baseOf(item: ApiRecord): string {
  const own = asRecords(item.servers)[0]
  if (own === undefined) return '/api/v4'
  return new URL(String(own.url), 'http://127.0.0.1').pathname.replace(/\/$/, '')
}

function operationOf(method: string, template: string, base: string, one: ApiRecord): Operation {
  const given = asRecords(one.parameters)
  const placed = (where: string) => given.filter((parameter) => parameter.in === where).map(read)
  const { content } = asRecord(one.requestBody)
  const schema = asRecord(asRecord(Object.values(asRecord(content))[0]).schema)
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const body = Object.entries(asRecord(schema.properties)).map(([name, property]) => ({
    name,
    required: required.has(name),
    schema: asRecord(property),
  }))
  const name = `${method} ${template}`
  return { name, method, template, base, path: placed('path'), query: placed('query'), body }
}

function read(parameter: ApiRecord): Parameter {
  const { name, required, schema } = parameter
  return { name: String(name), required: required === true, schema: asRecord(schema) }
}
