import { Readable, Transform } from 'node:stream'
import { GitError } from '../../git/error.ts'
import { readBlob, streamBlob } from '../../git/objects/blob.ts'
import type { Repo } from '../../git/repo.ts'
import type { Blob, ObjectId } from '../../git/types.ts'
import { JsonText } from '../../http/endpoint.ts'

/** Files up to this size are answered from memory, larger ones are streamed. */
export const HELD = 8 * 1024 * 1024

/** A blob with its bytes when it is small enough to hold, else only its size. */
export async function readHeldBlob(
  repo: Repo,
  id: ObjectId,
  signal: AbortSignal,
): Promise<Blob | Omit<Blob, 'content'>> {
  try {
    return await readBlob(repo, id, { limit: HELD }, signal)
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'too_large') throw error
    return { id, size: Number(error.detail.size) }
  }
}

/** `{...fields, "content": "<base64>"}` as a stream, for blobs that are too large to hold. */
export async function streamBlobJson(
  repo: Repo,
  id: ObjectId,
  fields: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonText> {
  const { body } = await streamBlob(repo, id, {}, signal)
  const head = `${JSON.stringify(fields).slice(0, -1)},"content":"`
  return new JsonText(Readable.from(parts(head, body), { objectMode: false }), headers)
}

async function* parts(head: string, body: Readable): AsyncGenerator<string> {
  yield head
  for await (const text of body.pipe(base64(body))) yield text as string
  yield '"}'
}

/** Encodes in pieces of whole triples, so that no padding comes in between. */
function base64(source: Readable): Transform {
  let rest: Buffer = Buffer.alloc(0)
  const encoder = new Transform({
    encoding: 'latin1',
    transform(chunk: Buffer, _encoding, done) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      const whole = bytes.length - (bytes.length % 3)
      rest = bytes.subarray(whole)
      done(null, bytes.toString('base64', 0, whole))
    },
    flush(done) {
      done(null, rest.toString('base64'))
    },
  })
  // `pipe` passes no errors on: a broken source must break the answer.
  source.on('error', (error) => encoder.destroy(error))
  encoder.on('close', () => source.destroy())
  return encoder
}
