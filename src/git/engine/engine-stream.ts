import { PassThrough, type Readable } from 'node:stream'
import { drained } from '../../base/streams/drained.ts'
import { GitError } from '../error.ts'
import type { Repo } from '../repo.ts'
import type { Operation } from './operation.ts'

/**
 * Runs an operation that emits bytes, and hands them out as a stream as soon as the first ones are
 * there; what fails before is an ordinary error. A failure later destroys the stream, so that half of
 * it is never taken for the whole. A reader that goes away ends the operation.
 */
export function openEngineStream<Input, Output>(
  repo: Repo,
  operation: Operation<Input, Output>,
  input: Input,
  signal?: AbortSignal,
): Promise<Readable> {
  const controller = new AbortController()
  const stop = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal
  const body = new PassThrough({ highWaterMark: 256 * 1024 })
  body.once('close', () => controller.abort())
  return new Promise((resolve, reject) => {
    // One wait for all that came while the reader was slow.
    let waiting: Promise<void> | undefined
    const take = async (bytes: Uint8Array) => {
      resolve(body)
      if (body.destroyed) throw new GitError('timeout', 'the reader went away')
      if (body.write(bytes)) return
      waiting ??= drained(body).finally(() => {
        waiting = undefined
      })
      await waiting
    }
    repo.engine.run(operation, repo.path, input, stop, take).then(
      () => {
        // Once bytes have come, the first of these two has no effect.
        resolve(body)
        body.end()
      },
      (error: Error) => {
        // Of the two only one has an effect: before the first byte, or after it.
        reject(error)
        body.on('error', () => {})
        body.destroy(error)
      },
    )
  })
}
