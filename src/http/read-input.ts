import type { Readable } from 'node:stream'
import { Problem, unsupportedType } from '../base/problem.ts'
import type { Charge } from './body/budget.ts'
import { type Input, readForm } from './body/form.ts'
import type { IncomingBody } from './body/incoming.ts'
import { decodeUtf8, malformed, readJson } from './body/json.ts'
import type { BodyBudgets, BodyLimits } from './body/limits.ts'
import { readMultipart } from './body/multipart.ts'
import { type ApiRequest, header } from './request.ts'

export type { Input } from './body/form.ts'

/** A read body; `clean` gives back what it holds and removes what a multipart form left on disk. */
export interface ReadBody {
  readonly input: Input
  clean(): Promise<void>
}

export interface BodyOptions {
  readonly limits: BodyLimits & { readonly temporaryFolder: string }
  readonly budgets: BodyBudgets
  readonly anonymous: boolean
  /** Largest body of this endpoint, files not counted. */
  readonly bytes: number
  /** Names of the parameters that may be files. */
  readonly files: ReadonlySet<string>
}

/** What a value costs in memory beside its text. */
const VALUE_BYTES = 64
/** Boundaries and headers around the files of a form. */
const FORM_BYTES = 64 * 1024

export const NO_BODY: ReadBody = { input: {}, clean: async () => {} }

/** Reads a JSON, form or multipart body into parameters. Unknown content types are 415, oversized ones 413. */
export async function readBody(request: ApiRequest, options: BodyOptions): Promise<ReadBody> {
  const { body } = request
  if (!body.declared) return NO_BODY
  const bytes = options.anonymous
    ? Math.min(options.bytes, options.limits.anonymousBytes)
    : options.bytes
  const budget = options.anonymous ? options.budgets.anonymousMemory : options.budgets.memory
  const memory = budget.open(request.ip)
  const disk = options.budgets.disk.open(request.ip)
  const release = () => {
    memory.release()
    disk.release()
  }
  try {
    const read = await readOf(request, body, { ...options, bytes }, memory, disk)
    return { input: read.input, clean: () => read.clean().finally(release) }
  } catch (error) {
    release()
    throw error
  }
}

/** The whole body of a caller who was admitted, and what gives back the memory that it is charged for. */
export async function readPayload(
  request: ApiRequest,
  options: Pick<BodyOptions, 'limits' | 'budgets' | 'bytes'>,
): Promise<{ readonly bytes: Buffer; release(): void }> {
  const { body } = request
  if (!body.declared) return { bytes: Buffer.alloc(0), release: () => {} }
  const memory = options.budgets.memory.open(request.ip)
  try {
    const { idleMs } = options.limits
    const source = body.open({ idleMs, maxBytes: options.bytes, anyEncoding: true })
    return { bytes: await collect(source, memory), release: () => memory.release() }
  } catch (error) {
    memory.release()
    throw error
  }
}

async function readOf(
  request: ApiRequest,
  body: IncomingBody,
  options: BodyOptions,
  memory: Charge,
  disk: Charge,
): Promise<ReadBody> {
  const { limits, files, bytes } = options
  const { idleMs } = limits
  if (body.type === 'multipart/form-data') {
    const maxBytes = bytes + files.size * limits.uploadBytes + FORM_BYTES
    return await readMultipart(body.open({ idleMs, maxBytes }), {
      ...limits,
      contentType: header(request, 'content-type') ?? '',
      files,
      fieldBytes: bytes,
      fileBytes: limits.uploadBytes,
      memory,
      disk,
    })
  }
  const isJson = body.type === 'application/json' || body.type.endsWith('+json')
  const isForm = body.type === 'application/x-www-form-urlencoded'
  if (!isJson && !isForm) return await assertEmpty(body, idleMs)
  const text = await collect(body.open({ idleMs, maxBytes: bytes }), memory)
  if (text.length === 0) return NO_BODY
  const input = isJson
    ? await readJson(text, limits, (values) => memory.take(values * VALUE_BYTES))
    : readForm(decodeUtf8(text), limits)
  return { ...NO_BODY, input }
}

/** Some clients announce a body of no type, and send none. */
async function assertEmpty(body: IncomingBody, idleMs: number): Promise<ReadBody> {
  if (body.length !== undefined) throw unsupportedType(body.type)
  const { bytes } = await body.peek(1, idleMs)
  if (bytes.length > 0) throw unsupportedType(body.type)
  return NO_BODY
}

async function collect(stream: Readable, memory: Charge): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      memory.take(chunk.length)
      size += chunk.length
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof Problem ? error : malformed()
  }
  return Buffer.concat(chunks, size)
}
