import { pipeline } from 'node:stream/promises'
import busboy from 'busboy'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import { standardEnd } from './form-end.ts'
import { type ReceivedFile, type ReceiveOptions, storeFile } from './receive.ts'

/** The fields and the one file of a multipart upload. */
export interface ReceivedForm {
  /** Fields by name; several of one name are kept in their order. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly file: { readonly name: string; readonly received: ReceivedFile } | undefined
}

const limits = { fieldSize: 1024 * 1024, fields: 2000, files: 4, parts: 2010, headerPairs: 50 }
/** Characters of all fields together: the longest that formats send is a description. */
const MOST_TEXT = 8 * 1024 * 1024

/**
 * Streams a multipart body whose file is in the part of this name; other files in it are passed over. Long fields are
 * cut, and many of them are refused. Nothing of a body that is broken stays named anywhere.
 */
export async function receiveForm(
  ctx: Ctx,
  type: PackageType,
  request: Pick<RequestFacts, 'headers' | 'body'>,
  part: string,
  options: ReceiveOptions = {},
): Promise<ReceivedForm> {
  const fields = new Map<string, string[]>()
  let name = ''
  let stored: Promise<ReceivedFile> | undefined
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
      // A form may break off before the store reads on; whoever reads it then gets this error.
      stream.on('error', () => {})
      if (field !== part || stored !== undefined) {
        stream.resume()
        return
      }
      name = info.filename ?? ''
      stored = storeFile(ctx, type, stream, options)
      // Awaited below; a refusal must also stop the sender, who would wait for us to read on.
      stored.catch((error: unknown) => form.destroy(error instanceof Error ? error : undefined))
    })
    const contentType = String(request.headers['content-type'] ?? '')
    await pipeline(request.body, standardEnd(contentType), form)
    const received = await stored
    return { fields, file: received && { name, received } }
  } catch (error) {
    const refusal = await stored?.catch((reason: unknown) => reason)
    if (refusal instanceof Problem) throw refusal
    throw error instanceof Problem ? error : badRequest('The form is broken')
  }
}
