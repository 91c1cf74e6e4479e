import busboy from 'busboy'
import type { Credentials } from '../../access/authentication/credentials.ts'
import type { Input } from '../body/form.ts'
import { type ApiRequest, header } from '../request.ts'

/** How much of a body is looked at before it is known who sends it. */
export const PEEK_BYTES = 16 * 1024

const NAMES = new Set(['private_token', 'access_token', 'job_token', 'sudo'])

/**
 * The credentials that stand in a form body, for requests that carry none elsewhere: the one case in which bytes are
 * looked at before the caller is known, and then only the first few.
 */
export async function peekCredentials(
  request: ApiRequest,
  known: Credentials,
  idleMs: number,
): Promise<Input> {
  if (known.token || known.jobToken || known.deployToken) return {}
  const { body } = request
  if (!body.declared || body.encoding !== 'identity') return {}
  if (body.type === 'application/x-www-form-urlencoded') {
    const { bytes, whole } = await body.peek(PEEK_BYTES, idleMs)
    return fromForm(bytes.subarray(0, PEEK_BYTES), whole && bytes.length <= PEEK_BYTES)
  }
  if (body.type !== 'multipart/form-data') return {}
  const { bytes } = await body.peek(PEEK_BYTES, idleMs)
  return fromMultipart(header(request, 'content-type') ?? '', bytes.subarray(0, PEEK_BYTES))
}

function fromForm(bytes: Buffer, whole: boolean): Input {
  const text = bytes.toString('utf8')
  // The last pair may go on.
  const pairs = whole ? text : text.slice(0, Math.max(0, text.lastIndexOf('&')))
  const found: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(pairs)) if (NAMES.has(name)) found[name] = value
  return found
}

function fromMultipart(contentType: string, bytes: Buffer): Input {
  const found: Record<string, string> = {}
  try {
    const form = busboy({ headers: { 'content-type': contentType }, limits: { files: 0 } })
    form.on('field', (name, value) => {
      if (NAMES.has(name)) found[name] = value
    })
    // That it breaks off is no error here.
    form.on('error', () => {})
    form.write(bytes)
    form.destroy()
  } catch {
    // What is wrong with the form is reported when it is read.
  }
  return found
}
