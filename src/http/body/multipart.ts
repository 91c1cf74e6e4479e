import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import busboy from 'busboy'
import { badParameters, Problem, tooLarge } from '../../base/problem.ts'
import { ownedName } from '../../base/process-mark.ts'
import { receivedFile, type UploadedFile } from '../params.ts'
import type { Charge } from './budget.ts'
import { type FormLimits, type Input, readPairs } from './form.ts'
import { malformed } from './json.ts'

export interface MultipartOptions extends FormLimits {
  /** The header with the boundary. */
  readonly contentType: string
  /** Names of the parameters that may be files, each of them once. */
  readonly files: ReadonlySet<string>
  /** Most bytes of all fields together. */
  readonly fieldBytes: number
  readonly fileBytes: number
  readonly temporaryFolder: string
  readonly memory: Charge
  readonly disk: Charge
}

/** A form with its files on disk, until `clean` is called. */
export interface MultipartBody {
  readonly input: Input
  clean(): Promise<void>
}

/** Reads a form. When that fails, nothing of it is left and nothing of it goes on. */
export async function readMultipart(
  source: Readable,
  options: MultipartOptions,
): Promise<MultipartBody> {
  const reading = new FormReading(options)
  try {
    return { input: await reading.read(source), clean: () => reading.clean() }
  } catch (error) {
    await reading.clean()
    throw error
  }
}

/** One form while it is read: owns the parser, the files, and whatever is being written. */
class FormReading {
  readonly #options: MultipartOptions
  readonly #pairs: string[] = []
  readonly #names = new Set<string>()
  readonly #files = new Map<string, UploadedFile>()
  readonly #writes: Promise<void>[] = []
  #folder: Promise<string> | undefined
  #fieldBytes = 0
  #openFiles = 0
  #failure: unknown

  constructor(options: MultipartOptions) {
    this.#options = options
  }

  async read(source: Readable): Promise<Input> {
    const form = this.#parser()
    const fail = (error: unknown) => {
      this.#failure ??= asFailure(error)
      form.destroy(malformed())
    }
    // An error that comes when nobody waits for the parser any more is reported by `#failure`.
    form.on('error', () => {})
    form.on('field', (name, value, info) => {
      if (info.valueTruncated || info.nameTruncated) return fail(tooLarge())
      this.#fieldBytes += name.length + Buffer.byteLength(value)
      if (this.#fieldBytes > this.#options.fieldBytes) return fail(tooLarge())
      this.#pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    })
    form.on('file', (name, stream, info) => {
      // Before anything else: the parser destroys the stream when the form breaks off.
      stream.on('error', () => {})
      stream.on('limit', () => fail(tooLarge()))
      if (!this.#options.files.has(name) || this.#names.has(name)) {
        return fail(badParameters(`${name} is invalid`))
      }
      this.#names.add(name)
      const about = {
        filename: (info.filename ?? '').split(/[\\/]/).pop() ?? '',
        type: info.mimeType,
      }
      this.#writes.push(this.#write(name, stream, about).catch(fail))
    })
    for (const event of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
      form.on(event, () =>
        fail(badParameters(`more than ${this.#options.parameters} parameters are not supported`)),
      )
    }
    const held = charged(this.#options.memory, () => this.#openFiles === 0)
    await pipeline(source, held, form).catch((error: unknown) => {
      this.#failure ??= asFailure(error)
    })
    // A file ends with the form, or fails with it.
    await Promise.all(this.#writes)
    if (this.#failure !== undefined) throw this.#failure
    return { ...readPairs(this.#pairs, this.#options), ...Object.fromEntries(this.#files) }
  }

  async clean(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined)
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }

  #parser() {
    const { contentType, parameters, files, fieldBytes, fileBytes } = this.#options
    try {
      return busboy({
        headers: { 'content-type': contentType },
        limits: {
          fieldSize: fieldBytes,
          fields: parameters,
          files: files.size + 1,
          // At the limit itself the parser says that it was reached.
          fileSize: fileBytes + 1,
          parts: parameters + files.size + 1,
        },
        defParamCharset: 'utf8',
      })
    } catch {
      throw malformed()
    }
  }

  /** Puts a file into the temporary folder. */
  async #write(
    name: string,
    stream: Readable,
    about: { readonly filename: string; readonly type: string },
  ): Promise<void> {
    this.#openFiles += 1
    try {
      this.#folder ??= newFolder(this.#options.temporaryFolder)
      const path = join(await this.#folder, String(this.#names.size))
      const target = createWriteStream(path, { flags: 'wx', mode: 0o600 })
      await pipeline(stream, charged(this.#options.disk), target)
      const { filename, type: contentType } = about
      this.#files.set(
        name,
        receivedFile({ path, filename, contentType, size: target.bytesWritten }),
      )
    } finally {
      this.#openFiles -= 1
    }
  }
}

async function newFolder(parent: string): Promise<string> {
  const folder = join(parent, ownedName('form-'))
  await mkdir(folder, { mode: 0o700 })
  return folder
}

/** Charges the bytes that pass, of files or of what is held in memory. */
function charged(charge: Charge, applies: () => boolean = () => true): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        if (applies()) charge.take(chunk.length)
        done(null, chunk)
      } catch (error) {
        done(error as Problem) // charges throw nothing else
      }
    },
  })
}

/** What a full disk or a spent budget did is reported as it is; the rest is an invalid form. */
export function asFailure(error: unknown): unknown {
  if (error instanceof Problem) return error
  return error instanceof Error && 'syscall' in error ? error : malformed()
}
