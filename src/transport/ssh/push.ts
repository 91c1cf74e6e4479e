import type { Ctx } from '../../ctx.ts'
import { BodyLimit } from '../body-limit.ts'
import { protocolVersion } from '../fetch-request.ts'
import type { Admission } from '../http/admission.ts'
import { bodyLimits } from '../http/body.ts'
import { type Pushed, pushMessages } from '../push-messages.ts'
import { takePush } from '../take-push.ts'
import type { Transport } from '../transport.ts'
import type { SshClient } from './client.ts'

const mebibyte = 1024 * 1024

/** Takes a push, as it is taken over HTTP, and gives the exit status of `git receive-pack`. */
export async function servePush(
  transport: Transport,
  ctx: Ctx,
  { updater, project, notices }: Admission,
  client: SshClient,
): Promise<number> {
  const { maxPush } = ctx.config
  const input = new BodyLimit(bodyLimits(ctx, maxPush === 0 ? 0 : maxPush + 64 * mebibyte))
  // Whoever reads gets the error; nobody may be reading at that moment.
  input.on('error', () => {})
  // Hooks of the client run before it says what it wants.
  input.allowSilence(transport.timeLimit || Number.POSITIVE_INFINITY)
  client.input.pipe(input)
  const gone = () => input.destroy()
  client.signal.addEventListener('abort', gone, { once: true })
  try {
    const version = protocolVersion(client.protocol)
    await client.write(await transport.advertisements.pushRefs(updater.repo, version))
    const messages = (pushed: Pushed) => pushMessages(ctx, project, pushed, notices)
    const { signal } = client
    const taken = { ctx, updater, input, signal, messages, staysOpen: true }
    for await (const piece of takePush(transport, taken)) await client.write(piece)
    return 0
  } finally {
    client.signal.removeEventListener('abort', gone)
    client.input.unpipe(input)
    client.input.resume()
    input.destroy()
  }
}
