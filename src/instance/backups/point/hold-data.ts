import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { StartError } from '../../../base/start-error.ts'
import { withSocketPath } from '../../../store/data-folder/socket-path.ts'
import { tryLockDataFolder } from '../../../store/sqlite/lock.ts'
import { answers, linesIn, SOCKET } from './protocol.ts'

/** A data folder in which nothing that a backup wants is deleted. */
export interface HeldData {
  /** Keeps refs from moving, and gives the keys of repositories in which they have moved since the hold began. */
  closeMoves(): Promise<readonly string[]>
  /** Lets refs move again; false when they have before, since `closeMoves` was too long ago. */
  openMoves(): Promise<boolean>
  /** Aborts when the server is gone that held it. */
  readonly lost: AbortSignal
  close(): void
}

/** Other commands lock the folder for a moment. */
const timeoutMs = 5000

/** Has the server of a data folder hold it; where none runs, nobody can start one until it is closed. */
export async function holdData(data: string): Promise<HeldData> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const lock = tryLockDataFolder(data)
    if (lock) {
      return {
        closeMoves: async () => [],
        openMoves: async () => true,
        lost: new AbortController().signal,
        close: () => lock.release(),
      }
    }
    const socket = await connect(data)
    if (socket) return await holdByServer(socket)
    if (performance.now() > end) {
      throw new StartError(
        `the server that uses ${data} does not answer at backup.sock in there: start it again`,
      )
    }
    await sleep(100)
  }
}

function connect(data: string): Promise<Socket | undefined> {
  return withSocketPath(
    { data, name: SOCKET },
    (path) =>
      new Promise((resolve) => {
        const socket = createConnection(path, () => resolve(socket))
        socket.once('error', () => resolve(undefined))
      }),
  )
}

async function holdByServer(socket: Socket): Promise<HeldData> {
  const gone = new AbortController()
  const waiting: ((line: string) => void)[] = []
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    const found = linesIn(rest + chunk.toString('utf8'))
    rest = found.rest
    for (const line of found.lines) waiting.shift()?.(line)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    gone.abort(new StartError('the server has stopped during the backup: make it again'))
  })
  const ask = async <W extends keyof typeof answers>(
    want: W,
  ): Promise<z.infer<(typeof answers)[W]>> => {
    const line = await new Promise<string>((resolve, reject) => {
      gone.signal.throwIfAborted()
      gone.signal.addEventListener('abort', () => reject(gone.signal.reason), { once: true })
      waiting.push(resolve)
      socket.write(`${JSON.stringify({ want })}\n`)
    })
    // Each answer has the shape of what was asked for.
    return answers[want].parse(JSON.parse(line)) as z.infer<(typeof answers)[W]>
  }
  await ask('begin')
  return {
    closeMoves: async () => (await ask('close')).moved,
    openMoves: async () => (await ask('open')).held,
    lost: gone.signal,
    close: () => socket.destroy(),
  }
}
