import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import busboy from 'busboy'
import qs from 'qs'
import { badParameters, Problem, tooLarge, unsupportedType } from '../base/problem.ts'
import { ownedName } from '../base/process-mark.ts'
import { receivedFile } from './params.ts'
import { type ApiRequest, header } from './request.ts'

/** Parameters by name, as they came: texts, arrays, objects, JSON values, files. */
export type Input = Readonly<Record<string, unknown>>

/** A read body; `clean` removes what a multipart form left on disk. */
export interface ReadBody {
  readonly input: Input
  clean(): Promise<void>
}

export interface BodyLimits {
  readonly bytes: number
  readonly uploadBytes: number
  readonly temporaryFolder: string
}

const MAX_DEPTH = 64
export const NO_BODY: ReadBody = { input: {}, clean: async () => {} }

/** Reads `a=1&b[]=2&c[d]=3&e[][f]=4`; `+` is a space. Broken percent or UTF-8 sequences are refused with 400. */
export function readQuery(raw: string): Input {
  if (raw === '') return {}
  assertDecodes(raw)
  return readForm(raw)
}

function readForm(raw: string): Input {
  const parsed = qs.parse(groupHashes(raw), {
    depth: 8,
    arrayLimit: 1000,
    parameterLimit: 20_000,
    plainObjects: true,
    allowPrototypes: false,
    strictDepth: false,
    ignoreQueryPrefix: false,
  })
  return withoutPrototypes(parsed) as Input
}

/**
 * `a[][x]=1&a[][y]=2&a[][x]=3` is two hashes to form clients: a key that comes again begins the next one. The query
 * reader wants indices, so they are put in.
 */
function groupHashes(raw: string): string {
  if (!/(\[\]|%5B%5D)(\[|%5B)/i.test(raw)) return raw
  const groups = new Map<string, { index: number; seen: Set<string> }>()
  return raw
    .split('&')
    .map((pair) => {
      const parts = /^(.*?)(?:\[\]|%5B%5D)((?:\[|%5B).+?)(=.*|$)/i.exec(pair)
      if (!parts) return pair
      const [, name = '', key = '', value = ''] = parts
      const group = groups.get(name) ?? { index: 0, seen: new Set<string>() }
      const repeats = !/(\[\]|%5B%5D)$/i.test(key) && group.seen.has(key)
      if (repeats) {
        group.index += 1
        group.seen.clear()
      }
      group.seen.add(key)
      groups.set(name, group)
      return `${name}[${group.index}]${key}${value}`
    })
    .join('&')
}

function assertDecodes(raw: string): void {
  try {
    decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    throw badParameters('Invalid query parameters: invalid %-encoding')
  }
}

/** Reads a JSON, form or multipart body into parameters. Unknown content types are 415, oversized ones 413. */
export async function readBody(request: ApiRequest, limits: BodyLimits): Promise<ReadBody> {
  const length = header(request, 'content-length')
  const chunked = header(request, 'transfer-encoding') !== undefined
  if (!chunked && (length === undefined || length === '0')) return NO_BODY
  const type = (header(request, 'content-type') ?? '').toLowerCase()
  if (type.startsWith('multipart/form-data')) return readMultipart(request, limits)
  if (Number(length) > limits.bytes) throw tooLarge()
  const bytes = await inflate(request, await collect(request.stream, limits.bytes), limits.bytes)
  if (bytes.length === 0) return NO_BODY
  const name = type.split(';')[0]?.trim() ?? ''
  if (name === 'application/json' || name.endsWith('+json'))
    return { ...NO_BODY, input: readJson(bytes) }
  if (name === 'application/x-www-form-urlencoded') {
    const raw = decodeUtf8(bytes)
    assertDecodes(raw)
    return { ...NO_BODY, input: readForm(raw) }
  }
  throw unsupportedType(name)
}

async function collect(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

const inflateGzip = promisify(gunzip)

async function inflate(request: ApiRequest, bytes: Buffer, limit: number): Promise<Buffer> {
  const encoding = header(request, 'content-encoding') ?? 'identity'
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip') throw unsupportedType(encoding)
  try {
    return await inflateGzip(bytes, { maxOutputLength: limit })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : malformed()
  }
}

function malformed(): Problem {
  return badParameters('message body does not match declared format')
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed()
  }
}

function readJson(bytes: Buffer): Input {
  const text = decodeUtf8(bytes)
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed()
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw malformed()
  if (!isShallow(value, MAX_DEPTH)) throw badParameters('message body is nested too deeply')
  return withoutPrototypes(value) as Input
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  return Object.values(value).every((inner) => isShallow(inner, depth - 1))
}

const POISON = new Set(['__proto__', 'constructor', 'prototype'])

/** The same value without keys that could reach a prototype (FAULTS 36). */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if (typeof value !== 'object' || value === null) return value
  const clean: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    if (!POISON.has(key)) clean[key] = withoutPrototypes(inner)
  }
  return clean
}

async function readMultipart(request: ApiRequest, limits: BodyLimits): Promise<ReadBody> {
  const folder = join(limits.temporaryFolder, ownedName('form-'))
  await mkdir(folder, { mode: 0o700 })
  const clean = () => rm(folder, { recursive: true, force: true })
  try {
    return { input: await readParts(request, limits, folder), clean }
  } catch (error) {
    await clean()
    throw error instanceof Problem ? error : malformed()
  }
}

async function readParts(request: ApiRequest, limits: BodyLimits, folder: string): Promise<Input> {
  const form = busboy({
    headers: { 'content-type': header(request, 'content-type') ?? '' },
    limits: {
      fieldSize: limits.bytes,
      fields: 1000,
      files: 10,
      fileSize: limits.uploadBytes,
      parts: 1010,
    },
    defParamCharset: 'utf8',
  })
  const pairs: string[] = []
  const files = new Map<string, unknown>()
  const writes: Promise<void>[] = []
  let refusal: Problem | undefined
  form.on('field', (name, value, info) => {
    if (info.valueTruncated || info.nameTruncated) refusal = tooLarge()
    pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  })
  form.on('file', (name, stream, info) => {
    const path = join(folder, String(files.size))
    const target = createWriteStream(path, { flags: 'wx' })
    const filename = (info.filename ?? '').split(/[\\/]/).pop() ?? ''
    files.set(name, null)
    writes.push(
      pipeline(stream, target).then(() => {
        if (stream.truncated) refusal = tooLarge()
        const uploaded = { path, filename, contentType: info.mimeType, size: target.bytesWritten }
        files.set(name, receivedFile(uploaded))
      }),
    )
  })
  form.on('filesLimit', () => {
    refusal = tooLarge()
  })
  await pipeline(request.stream, form)
  await Promise.all(writes)
  if (refusal) throw refusal
  const fields = readForm(pairs.join('&').replaceAll('%5B', '[').replaceAll('%5D', ']'))
  return { ...fields, ...Object.fromEntries(files) }
}
