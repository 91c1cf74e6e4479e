import { chmod, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { withSocketPath } from './socket-path.ts'

/** A socket in a data folder that is listened on. */
export interface FolderSocket {
  close(): Promise<void>
}

/**
 * Listens on a socket in a data folder, for the server's own user alone. With `allowHalfOpen` a client may end its side and still
 * get the answer; without it a connection ends with its client. Without room for the socket, or a file system that has sockets,
 * `failed` is called, and nothing listens.
 */
export async function serveSocket(
  place: { readonly data: string; readonly name: string; readonly allowHalfOpen?: boolean },
  serve: (socket: Socket) => void,
  failed: (error: unknown, path: string) => void,
): Promise<FolderSocket> {
  const path = join(place.data, place.name)
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: place.allowHalfOpen ?? false }, (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    serve(socket)
  })
  server.unref()
  try {
    await rm(path, { force: true })
    await withSocketPath(place, (path) => listen(server, path))
    await chmod(path, 0o600)
  } catch (error) {
    failed(error, path)
  }
  return {
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      await rm(path, { force: true })
    },
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.removeAllListeners('error').on('error', () => {})
      resolve()
    })
  })
}
