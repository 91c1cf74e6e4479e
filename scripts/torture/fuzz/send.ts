import type { Pool } from 'undici'
import type { Operation } from './operations.ts'
import type { FuzzRequest } from './requests.ts'

/** What came back; status 0 when nothing did. */
export interface Reply {
  readonly status: number
  readonly milliseconds: number
  /** The status and the beginning of the body, or what went wrong. */
  readonly text: string
}

const SHOWN = 160
const LONGEST_MS = 60_000

/** Sends one request over a connection that is kept. */
export function send(pool: Pool, request: FuzzRequest): Promise<Reply> {
  const started = performance.now()
  return new Promise((resolve) => {
    let status = 0
    let shown = ''
    const end = (text: string) =>
      resolve({ status, milliseconds: performance.now() - started, text })
    pool.dispatch(
      {
        method: request.operation.method as 'GET', // one of the methods of the document
        path: request.path,
        headers: request.headers,
        body: request.body ?? null,
        headersTimeout: LONGEST_MS,
        bodyTimeout: LONGEST_MS,
      },
      {
        onConnect() {},
        onHeaders(code) {
          status = code
          return true
        },
        onData(chunk) {
          if (status >= 500 && shown.length < SHOWN) shown += chunk.toString('utf8')
          return true
        },
        onComplete: () => end(`${status} ${shown.slice(0, SHOWN)}`),
        onError: (error) => end(`no whole answer: ${error.message}`),
      },
    )
  })
}

/** Answers of 5xx that say what the server is: it does not offer something, or it is made to fail. */
const onPurpose: readonly (readonly [RegExp, number, string])[] = []

/** Whether an answer, or that there was none, is the server's fault. */
export function isFault(operation: Operation, reply: Reply): boolean {
  if (reply.status === 0) return true
  if (reply.status < 500) return false
  return !onPurpose.some(([name, status]) => name.test(operation.name) && status === reply.status)
}
