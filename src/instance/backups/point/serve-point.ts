import type { Socket } from 'node:net'
import type { Ctx } from '../../../ctx.ts'
import { type FolderSocket, serveSocket } from '../../../store/data-folder/serve-socket.ts'
import { linesIn, request, SOCKET } from './protocol.ts'

/** How long moves of refs that have begun are waited for, while no other begins. */
const timeoutMs = 1000
/** The longest that refs are kept from moving, whatever the command does. */
const longestMs = 5000
const longestLine = 1000

/**
 * Serves commands that make backups of this server's data, for its own user alone. Without room for the socket, or a
 * file system that has sockets, the server goes on without it.
 */
export function servePoint({ git, config, log }: Ctx): Promise<FolderSocket> {
  const place = { data: config.data, name: SOCKET }
  return serveSocket(
    place,
    (socket) => serveOne(socket, git),
    (error, path) => log.error('backups cannot be made while this server runs', { error, path }),
  )
}

function serveOne(socket: Socket, { moves, deletions }: Ctx['git']): void {
  const release = deletions.take()
  const watch = moves.watch()
  let reopen: (() => boolean) | undefined
  socket.on('close', () => {
    reopen?.()
    watch.stop()
    release()
  })
  const answer = async (line: string): Promise<unknown> => {
    const { want } = request.parse(JSON.parse(line))
    if (want === 'begin') return { pid: process.pid }
    if (want === 'open') return { held: reopen?.() ?? false }
    const resume = await moves.pause(timeoutMs)
    reopen = onceWithin(longestMs, resume)
    if (socket.destroyed) reopen()
    return { moved: watch.moved() }
  }
  let rest = ''
  let last = Promise.resolve()
  socket.on('data', (chunk: Buffer) => {
    const found = linesIn(rest + chunk.toString('utf8'))
    rest = found.rest
    if (rest.length > longestLine) socket.destroy()
    for (const line of found.lines) {
      last = last
        .then(async () => void socket.write(`${JSON.stringify(await answer(line))}\n`))
        .catch(() => void socket.destroy())
    }
  })
}

/** Does something when asked, or after a while; gives whether it was asked in time. */
function onceWithin(milliseconds: number, act: () => void): () => boolean {
  let isDone = false
  const finish = () => {
    if (isDone) return false
    isDone = true
    clearTimeout(timer)
    act()
    return true
  }
  const timer = setTimeout(finish, milliseconds)
  return finish
}
