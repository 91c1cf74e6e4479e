import { Readable, type Writable } from 'node:stream'

/** Bytes as a stream that knows a quicker way to one receiver than through the chunks of a stream. */
export abstract class SendableBody extends Readable {
  /** Sends everything to a receiver and ends it; throws when that goes away before. */
  abstract sendTo(target: Writable): Promise<void>
}

/** Writes to a receiver, waiting each time until it has the bytes; `write` throws when the receiver goes away. */
export async function sending(
  target: Writable,
  send: (write: (bytes: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  let fail = (_error: Error) => {}
  const onClose = () => fail(new Error('the receiver is gone'))
  target.on('close', onClose)
  try {
    await send(
      (bytes) =>
        new Promise<void>((resolve, reject) => {
          fail = reject
          if (target.destroyed) onClose()
          else target.write(bytes, (error) => (error ? reject(error) : resolve()))
        }),
    )
  } finally {
    target.off('close', onClose)
  }
}
