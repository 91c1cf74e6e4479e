import type { Random } from '../random.ts'
import { quoted } from '../report.ts'
import type { Caller, Ground } from './ground.ts'
import { encode, oddSegment, oddTexts, oddValue } from './odd-values.ts'
import type { Operation, Parameter } from './operations.ts'
import { plausibleValue } from './plausible.ts'

/** One fuzzed request, ready to be sent. */
export interface FuzzRequest {
  readonly operation: Operation
  readonly caller: Caller
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer | undefined
}

const LONGEST_QUERY = 7000

/** A request of an operation in which some values are odd and the others are good. */
export function makeRequest(
  operation: Operation,
  random: Random,
  ground: Ground,
  id: string,
): FuzzRequest {
  const caller = ground.callerFor(operation, random)
  const headers: Record<string, string> = { ...caller.headers, 'x-request-id': id }
  const reads = operation.method === 'GET' || operation.method === 'HEAD'
  const values = valuesFor([...operation.query, ...operation.body], random, ground)
  let path = operation.base + pathFor(operation, random, ground)
  let body: Buffer | undefined
  if (reads || random.percent(10)) path = withQuery(path, values)
  else body = bodyFor(values, random, headers)
  if (random.percent(3)) Object.assign(headers, random.pick(oddHeaders)(random))
  return { operation, caller, path, headers, body }
}

/** What is given: all that is required, some of the rest, and up to three values that are odd. */
function valuesFor(
  parameters: readonly Parameter[],
  random: Random,
  ground: Ground,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const share = random.pick([0, 10, 30])
  for (const parameter of parameters) {
    const wanted = parameter.required ? !random.percent(2) : random.percent(share)
    if (wanted) values[parameter.name] = plausibleValue(parameter, random, ground)
  }
  const odd = parameters.length === 0 ? 0 : random.pick([0, 1, 1, 1, 2, 3])
  for (let i = 0; i < odd; i += 1) values[random.pick(parameters).name] = oddValue(random)
  return values
}

/** The path of a record that is there, or one with an odd segment. */
function pathFor(operation: Operation, random: Random, ground: Ground): string {
  const live = ground.pathFor(operation, random)
  // What is deleted is not there for the requests after it.
  const wrongChance = operation.method === 'DELETE' ? 60 : 15
  if (operation.path.length === 0 || !random.percent(wrongChance)) return live
  const wrong = random.pick(operation.path).name
  const template = operation.template.split('/')
  const segments = live.split('/')
  const at = template.findIndex((part) => part.includes(`{${wrong}}`))
  segments[at] = (template[at] ?? '').replace(`{${wrong}}`, () => oddSegment(random))
  return segments.join('/')
}

function withQuery(path: string, values: Record<string, unknown>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) => flatten(name, value))
  const text = pairs.map(([key, value]) => `${key}=${encode(value)}`).join('&')
  return text === '' ? path : `${path}?${text.slice(0, LONGEST_QUERY).replace(/%.?$/, '')}`
}

/** `a[b][]=1`, as forms and queries have what JSON nests. */
function flatten(name: string, value: unknown): (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((inner) => flatten(`${name}[]`, inner))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) =>
      flatten(`${name}[${encode(key)}]`, inner),
    )
  }
  return [[name, String(value ?? '')]]
}

function bodyFor(
  values: Record<string, unknown>,
  random: Random,
  headers: Record<string, string>,
): Buffer {
  const kind = random.integer(1, 100)
  if (kind <= 70) {
    headers['content-type'] = 'application/json'
    return Buffer.from(kind <= 2 ? JSON.stringify(oddValue(random)) : JSON.stringify(values))
  }
  const pairs = Object.entries(values).flatMap(([name, value]) => flatten(name, value))
  if (kind <= 87) {
    headers['content-type'] = 'application/x-www-form-urlencoded'
    return Buffer.from(pairs.map(([key, value]) => `${key}=${encode(value)}`).join('&'))
  }
  headers['content-type'] = 'multipart/form-data; boundary=torture'
  return multipart(pairs, random)
}

function multipart(pairs: readonly (readonly [string, string])[], random: Random): Buffer {
  const parts = pairs.map(([name, value]) => {
    // Any parameter may come as a file.
    const asFile = random.percent(15) || /file|avatar/.test(name)
    const filename = asFile ? `; filename="${random.pick(['a.png', 'a', '..', ''])}"` : ''
    const plain = name.replaceAll('"', '%22').replaceAll(/\p{Cc}/gu, '')
    return `--torture\r\ncontent-disposition: form-data; name="${plain}"${filename}\r\n\r\n${value}\r\n`
  })
  return Buffer.from(`${parts.join('')}--torture--\r\n`)
}

const oddHeaders: readonly ((random: Random) => Record<string, string>)[] = [
  (random) => ({ 'content-type': random.pick(['', 'text/plain', 'application/json; charset=x']) }),
  () => ({ 'content-encoding': 'gzip' }),
  (random) => ({ 'if-none-match': random.pick(['*', '"', 'W/"a"', 'x'.repeat(3000)]) }),
  (random) => ({ range: random.pick(['bytes=9-1', 'bytes=-', 'bytes=0-0,5-9', 'x']) }),
  (random) => ({ sudo: random.pick(['-1', '0', '2', '%00', '[]', 'nobody']) }),
  (random) => ({
    authorization: random.pick(['Bearer', 'Basic', 'Basic Og==', 'Basic %%', 'x y z']),
  }),
  () => ({ 'private-token': '' }),
  (random) => ({ accept: random.pick(['*/*;q=x', 'text/html', 'application/xml']) }),
  (random) => ({ cookie: `a=${random.word()}; _svc_session=${random.word()}` }),
  (random) => ({ 'job-token': random.word() }),
  (random) => ({ 'x-forwarded-for': encode(random.pick(oddTexts)).slice(0, 500) }),
]

/** The command line that sends a request again. */
export function asCurl(url: string, request: FuzzRequest): string {
  const { operation, path, headers, body } = request
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const command = `curl -sSi -X ${operation.method} ${given.join(' ')}`
  if (body === undefined) return `${command} ${quoted(url + path)}`
  const text = body.toString('utf8')
  const plain = !/[\p{Cc}\ufffd]/u.test(text)
  return plain
    ? `${command} --data-binary ${quoted(text)} ${quoted(url + path)}`
    : `echo ${body.toString('base64')} | base64 -d | ${command} --data-binary @- ${quoted(url + path)}`
}
