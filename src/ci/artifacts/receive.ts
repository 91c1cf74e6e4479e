import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { badRequest, Problem, tooLarge } from '../../base/problem.ts'
import type { FileStore, StoredFile } from '../../store/files.ts'

/** A file that came as a part of a form. */
export interface ReceivedPart {
  readonly filename: string
  readonly stored: StoredFile
  /** The fields beside it. */
  readonly fields: Readonly<Record<string, string>>
}

/**
 * Reads the part `file` of a multipart form straight into the file store, without a copy in between: archives may be
 * large. Other files are passed over.
 */
export async function receiveFile(
  files: FileStore,
  given: {
    readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
    readonly body: Readable
  },
  maxSize: number,
): Promise<ReceivedPart> {
  const form = openForm(given.headers, maxSize)
  let received: Promise<Omit<ReceivedPart, 'fields'>> | undefined
  const fields = new Map<string, string>()
  form.on('field', (name, value) => fields.set(name, value))
  form.on('file', (name, stream, info) => {
    if (name !== 'file' || received) {
      stream.resume()
      return
    }
    const filename = (info.filename ?? '').split(/[\\/]/).pop() || 'artifacts.zip'
    received = files.put(stream, { maxSize }).then((stored) => {
      if (stream.truncated) throw tooLarge()
      return { filename, stored }
    })
    // What is refused need not be read to its end.
    received.catch((error) => form.emit('error', error))
  })
  await readForm(form, given.body)
  const part = await received
  if (!part) throw badRequest('file is missing')
  return { ...part, fields: Object.fromEntries(fields) }
}

function openForm(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  maxSize: number,
): busboy.Busboy {
  try {
    return busboy({
      headers: headers as IncomingHttpHeaders, // as node:http gave them
      limits: { fileSize: maxSize + 1, files: 4, fields: 20, fieldSize: 65_536, parts: 24 },
      defParamCharset: 'utf8',
    })
  } catch {
    throw badRequest('message body does not match declared format')
  }
}

async function readForm(form: busboy.Busboy, body: Readable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const broken = () => reject(badRequest('message body is broken off'))
    form.on('close', resolve)
    form.on('error', (error) => {
      const broken = badRequest('message body does not match declared format')
      reject(error instanceof Problem ? error : broken)
    })
    body.on('error', broken)
    body.on('aborted', broken)
    body.pipe(form)
  }).catch((error: unknown) => {
    body.unpipe(form)
    form.destroy()
    throw error
  })
}
