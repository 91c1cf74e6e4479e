import { Problem, type ProblemBody } from '../../base/problem.ts'
import type { ClientProtocol } from '../../http/client-protocol.ts'

/** The words of the distribution specification for what went wrong. */
type ImageError =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DENIED'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_UNKNOWN'
  | 'SIZE_INVALID'

export function imageProblem(
  error: ImageError,
  status: 400 | 403 | 404 | 416,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  const code = status === 404 ? 'not_found' : status === 403 ? 'forbidden' : 'bad_request'
  return new Problem(code, status, { message: `${error}: ${message}` }, { headers })
}

const byStatus: Readonly<Record<number, string>> = {
  401: 'UNAUTHORIZED',
  403: 'DENIED',
  404: 'NAME_UNKNOWN',
  413: 'SIZE_INVALID',
  429: 'TOOMANYREQUESTS',
}

const byParameter: Readonly<Record<string, string>> = {
  digest: 'DIGEST_INVALID',
  n: 'PAGINATION_NUMBER_INVALID',
}

function refusal(status: number, text: string): ProblemBody {
  const [, own, rest] = /^([A-Z_]+): (.*)$/s.exec(text) ?? []
  const [first = ''] = text.split(' ', 1)
  const code = own ?? byStatus[status] ?? byParameter[first] ?? 'UNSUPPORTED'
  return { errors: [{ code, message: rest ?? text, detail: {} }] }
}

/** How programs for images sign in, and the words that they read. */
export const imageClient: ClientProtocol = {
  realm: 'Container Registry',
  issued: { purpose: 'container_registry' },
  challenge: (externalUrl) => `Bearer realm="${externalUrl}/jwt/auth",service="container_registry"`,
  refusal,
}
