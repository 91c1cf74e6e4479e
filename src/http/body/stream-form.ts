import { PassThrough, type Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import busboy from 'busboy'
import { badRequest, Problem } from '../../base/problem.ts'
import { asFailure } from './multipart.ts'

/** The fields and the one file of a multipart form. */
export interface StreamedForm<Kept> {
  /** Fields by name; several of one name are kept in their order. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly file: { readonly name: string; readonly kept: Kept } | undefined
}

const limits = { fieldSize: 1024 * 1024, fields: 2000, files: 4, parts: 2010, headerPairs: 50 }
/** Characters of all fields together: the longest that formats send is a description. */
const MOST_TEXT = 8 * 1024 * 1024

/**
 * Reads a multipart form whose file, the first part of that name, is kept while it arrives: it may be too large for a
 * copy in between. Other files are passed over, long fields cut. `keep` is asked to leave nothing behind when the file
 * breaks off. `through` may mend the bytes first.
 */
export async function streamForm<Kept>(
  request: {
    readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
    readonly body: Readable
  },
  part: string,
  keep: (file: Readable) => Promise<Kept>,
  through: Transform = new PassThrough(),
): Promise<StreamedForm<Kept>> {
  const fields = new Map<string, string[]>()
  let name = ''
  let keeping: Promise<Kept> | undefined
  try {
    const form = busboy({
      headers: { 'content-type': String(request.headers['content-type'] ?? '') },
      limits,
      defParamCharset: 'utf8',
    })
    let text = 0
    form.on('field', (field, value) => {
      text += value.length
      if (text > MOST_TEXT) {
        form.destroy(badRequest('The form is too large'))
        return
      }
      fields.set(field, [...(fields.get(field) ?? []), value])
    })
    form.on('file', (field, stream, info) => {
      // Before anything else: the parser destroys the stream when the form breaks off, and nobody may read it yet.
      stream.on('error', () => {})
      if (field !== part || keeping !== undefined) {
        stream.resume()
        return
      }
      name = info.filename ?? ''
      keeping = keep(stream)
      // Awaited below; a refusal must also stop the sender, who would wait for us to read on.
      keeping.catch((error: unknown) => form.destroy(error instanceof Error ? error : undefined))
    })
    await pipeline(request.body, through, form)
    const kept = await keeping
    return { fields, file: keeping && { name, kept: kept as Kept } } // awaited right here
  } catch (error) {
    const refusal = await keeping?.catch((reason: unknown) => reason)
    throw asFailure(refusal instanceof Problem ? refusal : error)
  }
}
