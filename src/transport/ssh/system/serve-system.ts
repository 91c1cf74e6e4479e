import type { Socket } from 'node:net'
import { z } from 'zod'
import { ANONYMOUS } from '../../../access/actor.ts'
import { drained } from '../../../base/streams/drained.ts'
import { fingerprintOf } from '../../../instance/ssh-host-keys/host-keys.ts'
import { type FolderSocket, serveSocket } from '../../../store/data-folder/serve-socket.ts'
import { findSignInKey } from '../actor.ts'
import type { SshClient } from '../client.ts'
import { type GitOverSsh, serveCommand } from '../serve.ts'
import { withinPatience } from '../within.ts'
import { Frame, frame, LONGEST_LINE, SOCKET, type SystemRequest } from './protocol.ts'

const request: z.ZodType<SystemRequest> = z.discriminatedUnion('want', [
  z.object({ want: z.literal('keys'), type: z.string(), data: z.string() }),
  z.object({
    want: z.literal('serve'),
    keyId: z.int(),
    line: z.string(),
    ip: z.string(),
    protocol: z.string(),
  }),
])

/** Largest piece of a frame, so that both sides hold little. */
const PIECE = 65_536
const FIRST_LINE_MS = 10_000

/** Serves what the system's sshd starts for its clients, where one runs beside this server (docs/ssh.md). */
export function serveSystemSsh(parts: GitOverSsh): Promise<FolderSocket> {
  const { config, log } = parts.makeCtx(ANONYMOUS, '')
  const serve = (socket: Socket) => {
    serveOne(parts, socket).catch((error: unknown) => {
      log.warn('a program of the system’s sshd was not served', { error })
      socket.destroy()
    })
  }
  const place = { data: config.data, name: SOCKET, allowHalfOpen: true }
  return serveSocket(place, serve, (error, path) =>
    log.error('the system’s sshd cannot be answered', { error, path }),
  )
}

async function serveOne(parts: GitOverSsh, socket: Socket): Promise<void> {
  const asked = request.parse(JSON.parse(await firstLine(socket)))
  if (asked.want === 'keys') {
    const name = fingerprintOf(`${asked.type} ${asked.data}`)
    const row = await findSignInKey(parts.makeCtx(ANONYMOUS, ''), name)
    const isThere = row?.key.startsWith(`${asked.type} ${asked.data}`)
    socket.end(`${JSON.stringify(isThere ? { keyId: row?.id } : {})}\n`)
    return
  }
  const { readerIdle } = parts.makeCtx(ANONYMOUS, '').config
  const { keyId, ip, line, protocol } = asked
  const client = clientOf(socket, { protocol, readerIdle })
  const code = await serveCommand(parts, { identity: { keyId }, ip, line }, client)
  socket.end(frame(Frame.exit, Buffer.from([code & 255])))
  // What the client still sends is not read any more.
  socket.resume()
}

/** The first line of a connection; what follows it stays to be read. */
function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0)
    const end = (done: () => void) => {
      clearTimeout(timer)
      socket.off('data', take).off('close', gone)
      done()
    }
    const gone = () => end(() => reject(new Error('nothing was asked')))
    const timer = setTimeout(gone, FIRST_LINE_MS)
    const take = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk])
      const at = read.indexOf(10)
      if (at < 0) {
        if (read.length > LONGEST_LINE) gone()
        return
      }
      socket.pause()
      const rest = read.subarray(at + 1)
      if (rest.length > 0) socket.unshift(rest)
      end(() => resolve(read.toString('utf8', 0, at)))
    }
    socket.on('data', take).once('close', gone)
  })
}

function clientOf(
  socket: Socket,
  { protocol, readerIdle }: { readonly protocol: string; readonly readerIdle: number },
): SshClient {
  const gone = new AbortController()
  const { signal } = gone
  socket.once('close', () => gone.abort(new Error('the client went away')))
  const send = async (kind: number, given: Buffer | string) => {
    signal.throwIfAborted()
    const bytes = Buffer.from(given)
    for (let at = 0; at < bytes.length; at += PIECE) {
      const isFull = !socket.write(frame(kind, bytes.subarray(at, at + PIECE)))
      if (isFull) await withinPatience(drained(socket), { socket, signal, readerIdle })
    }
  }
  return {
    input: socket,
    protocol: protocol === '' ? undefined : protocol,
    signal,
    write: (bytes) => send(Frame.out, bytes),
    say: (text) => send(Frame.err, text.endsWith('\n') ? text : `${text}\n`),
  }
}
