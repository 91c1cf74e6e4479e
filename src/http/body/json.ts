import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { badParameters, type Problem } from '../../base/problem.ts'
import type { Input } from './form.ts'
import { type JsonLimits, JsonScan, type Span } from './json-scan.ts'
import { mayNamePrototypes, withoutPrototypes } from './prototypes.ts'

/** Documents up to this size are read in one go. */
const SMALL = 64 * 1024
/** How long a document may keep other requests waiting. */
const SLICE_MS = 8
/** Bytes of a long string that are read in one go. */
const PIECE = 256 * 1024

/** 400 for what is not what its content type says. */
export function malformed(): Problem {
  return badParameters('message body does not match declared format')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed()
  }
}

/** Reads the parameters in a JSON body. `null` is none: clients send it for a call whose options were left out. */
export async function readJson(
  bytes: Buffer,
  limits: JsonLimits,
  charge: (values: number) => void,
): Promise<Input> {
  return asObject((await readDocument(bytes, limits, charge)) ?? {})
}

/**
 * Reads a JSON document. A large one is looked over and its long strings are read in slices, between which other requests
 * run meanwhile; what is left for the parser is bounded by the number of values. `charge` gets their number.
 */
async function readDocument(
  bytes: Buffer,
  limits: JsonLimits,
  charge: (values: number) => void,
): Promise<unknown> {
  const scan = new JsonScan(bytes, limits)
  if (bytes.length <= SMALL) {
    scan.step(bytes.length)
    charge(scan.values)
    const text = decodeUtf8(bytes)
    const value = parse(text)
    return mayNamePrototypes(text) ? withoutPrototypes(value) : value
  }
  const pause = pauses()
  while (!scan.step(SMALL)) await pause()
  charge(scan.values)
  const texts: string[] = []
  for (const span of scan.long) texts.push(await readLong(bytes, span, pause))
  const mark = randomBytes(12).toString('hex')
  const value = parse(decodeUtf8(withMarks(bytes, scan.long, mark)))
  return withoutPrototypes(texts.length === 0 ? value : putBack(value, mark, texts))
}

/** The limits of JSON as the configuration has them. */
export interface ConfiguredJson {
  readonly maxJsonDepth: number
  readonly maxJsonValues: number
}

/** A JSON object in the bytes of a body, which is what an endpoint is about: `null` is no such thing. */
export async function parseJsonObject(bytes: Buffer, config: ConfiguredJson): Promise<Input> {
  const limits = { jsonDepth: config.maxJsonDepth, jsonValues: config.maxJsonValues }
  return asObject(await readDocument(bytes, limits, () => {}))
}

/** A function that yields to the event loop when it is time. */
function pauses(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < SLICE_MS) return
    await nextTurn()
    since = performance.now()
  }
}

function parse(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw malformed()
  }
}

function asObject(value: unknown): Input {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw malformed()
  return value as Input // by the check right here
}

async function readLong(
  bytes: Buffer,
  { start, end }: Span,
  pause: () => Promise<void>,
): Promise<string> {
  let text = ''
  let at = start + 1
  while (at < end - 1) {
    const next = at + PIECE >= end - 1 ? end - 1 : cutBefore(bytes, at + PIECE)
    const piece = parse(`"${decodeUtf8(bytes.subarray(at, next))}"`)
    if (typeof piece !== 'string') throw malformed()
    text += piece
    at = next
    await pause()
  }
  return text
}

/** The last place up to `at` that is in no character and no escape sequence. */
function cutBefore(bytes: Buffer, at: number): number {
  let cut = at
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1
  const last = bytes.lastIndexOf(0x5c, cut - 1)
  if (last < cut - 6) return cut
  let first = last
  while (bytes[first - 1] === 0x5c) first -= 1
  // Of a run of backslashes each second one is what the one before it escapes.
  const begin = (last - first) % 2 === 0 ? last : last - 1
  const length = bytes[begin + 1] === 0x75 ? 6 : 2
  return begin + length > cut ? begin : cut
}

function withMarks(bytes: Buffer, spans: readonly Span[], mark: string): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const [index, { start, end }] of spans.entries()) {
    parts.push(bytes.subarray(at, start), Buffer.from(`"${mark}${index}"`))
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}

/** Puts the long strings where their marks are. */
function putBack(value: unknown, mark: string, texts: readonly string[]): unknown {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : value
  }
  if (typeof value !== 'object' || value === null) return value
  for (const [key, inner] of Object.entries(value)) {
    const put = putBack(inner, mark, texts)
    if (put !== inner) Object.defineProperty(value, key, { value: put, enumerable: true })
  }
  return value
}
