import type { IncomingBody } from './body/incoming.ts'

/** A request as the pipeline sees it: no Express type in it. */
export interface ApiRequest {
  readonly method: string
  /** Path below `/api/v4`, raw and still encoded, without the query. */
  readonly rawPath: string
  /** Query text without `?`, raw. */
  readonly rawQuery: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly ip: string
  readonly id: string
  readonly body: IncomingBody
  /** Aborted when the client goes away before the answer is out. */
  readonly signal: AbortSignal
}

/** The first value of a header, by lower-case name. */
export function header(request: Pick<ApiRequest, 'headers'>, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : value?.[0]
}
