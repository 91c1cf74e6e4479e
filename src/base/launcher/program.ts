import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { type Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { launcher } from './launcher.ts'
import type { FromLauncher, ToLauncher } from './messages.ts'

/** How long a launcher that died may take to come back. */
const patienceMs = 3000

export interface ProgramCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env: NodeJS.ProcessEnv
  /** Whether it has two more ends. */
  readonly extra?: boolean
  /** Whether it begins a session of its own. */
  readonly detached?: boolean
}

export interface ProgramEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** File descriptors 3 and 4 of a program: from one we read, to the other we write. */
export interface ExtraEnds {
  readonly from: Readable
  readonly to: Writable
}

/**
 * A program that the launcher starts. Its ends are there at once; what is written waits until it runs. What goes wrong
 * at an end is not reported there: how the program ended tells more.
 */
export interface Program {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Of one that was asked for with them. */
  readonly extra?: ExtraEnds | undefined
  /** Its number, once it runs. */
  readonly pid: Promise<number>
  /** Resolves when it has ended and nobody else holds what we read of it; rejects with a `LaunchError`. */
  readonly closed: Promise<ProgramEnd>
  /** Sends a signal, to the group of which it is the head if need be; nothing once it has ended. */
  kill(signal: NodeJS.Signals, group?: 'group'): void
}

/** A program that could not be started, or of which nobody can tell how it ended. */
export class LaunchError extends Error {
  /** The system's word for what was wrong, such as `ENOENT`. */
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/** A program on its way, as `startProgram` hands it out. */
class LaunchedProgram implements Program {
  readonly stdin: Writable
  readonly stdout: Socket
  readonly stderr: Socket
  readonly extra: ExtraEnds | undefined
  readonly pid: Promise<number>
  readonly closed: Promise<ProgramEnd>
  readonly #control: Promise<Socket>
  #hasEnded = false

  constructor(command: ProgramCommand) {
    const stdin = quietSocket()
    const extra = command.extra ? { from: quietSocket(), to: quietSocket() } : undefined
    this.stdout = quietSocket()
    this.stderr = quietSocket()
    const ends = [stdin, this.stdout, this.stderr, ...(extra ? [extra.from, extra.to] : [])]
    this.#control = connect(ends, command)
    let tellPid = (_pid: number) => {}
    const running = new Promise<number>((resolve) => {
      tellPid = resolve
    })
    const ended = this.#control.then((control) => follow(control, tellPid))
    const neverRan = ended.then(() => {
      throw new LaunchError('it was stopped before it ran', 'ECANCELED')
    })
    this.pid = Promise.race([running, neverRan])
    this.pid.catch(() => {})
    this.stdin = new WrittenEnd(stdin, this.pid)
    this.extra = extra && { from: extra.from, to: new WrittenEnd(extra.to, this.pid) }
    const read = [this.stdout, this.stderr, ...(extra ? [extra.from] : [])]
    const leave = () => {
      this.#hasEnded = true
      this.stdin.destroy()
      this.extra?.to.destroy()
      for (const end of read) hearEnd(end)
    }
    ended.then(leave, () => {
      leave()
      // Nobody waits for one any more of which the launcher could not tell the end.
      void running.then(killOrphan)
    })
    const gone = Promise.all(
      read.map((end) => new Promise((resolve) => end.once('close', resolve))),
    )
    this.closed = ended.then(async (end) => {
      await gone
      return end
    })
    this.closed.catch(() => {})
  }

  kill(signal: NodeJS.Signals, group?: 'group'): void {
    const tell = (control: Socket) => {
      if (!this.#hasEnded) send(control, { signal, group: group !== undefined })
    }
    this.#control.then(tell, () => {})
  }
}

/** Starts a program by the launcher. */
export function startProgram(
  command: ProgramCommand & { readonly extra: true },
): Program & { readonly extra: ExtraEnds }
export function startProgram(command: ProgramCommand): Program
export function startProgram(command: ProgramCommand): Program {
  return new LaunchedProgram(command)
}

/** Sees to it that an end closes although nobody may be reading it. */
function hearEnd(end: Socket): void {
  // One that was never connected ends like the others.
  if (end.pending) end.push(null)
  if (end.listenerCount('readable') === 0) end.resume()
}

function killOrphan(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL')
      return
    } catch {
      // It is no head of a group, or gone.
    }
  }
}

/** Asks the launcher, and says of each end which one it is; gives the connection that asked. */
async function connect(
  ends: readonly Socket[],
  { program, args, cwd, env, detached = false }: ProgramCommand,
): Promise<Socket> {
  const { path, control } = await reachLauncher()
  const id = randomUUID()
  send(control, { id, program, args, cwd, env, detached, ends: ends.length })
  for (const [end, socket] of ends.entries()) {
    // Without one of its ends it would never start.
    const fail = () => {
      control.destroy(socket.errored ?? new LaunchError('an end was closed', 'ECANCELED'))
    }
    socket.once('close', fail)
    socket.connect(path)
    send(socket, { id, end }, () => socket.off('close', fail))
  }
  return control
}

/** A connection to the launcher. One that has just died is started anew, for which it is waited. */
async function reachLauncher(): Promise<{ readonly path: string; readonly control: Socket }> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const control = quietSocket()
    try {
      const path = await launcher.whenReady()
      control.connect(path)
      await once(control, 'connect')
      return { path, control }
    } catch (error) {
      control.destroy()
      const { message, code = 'EAGAIN' } = error as NodeJS.ErrnoException // of the system or the launcher
      const isGone = code === 'ECONNREFUSED' || code === 'ENOENT'
      if (!isGone || performance.now() > deadline) throw new LaunchError(message, code)
    }
    await sleep(20)
  }
}

/** What the launcher tells of a program, to its end. */
function follow(control: Socket, tellPid: (pid: number) => void): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    let text = ''
    control.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
        const message = JSON.parse(text.slice(0, at)) as FromLauncher // our own other side
        text = text.slice(at + 1)
        if ('pid' in message) tellPid(message.pid)
        else if ('failed' in message) reject(new LaunchError(message.failed, message.errno))
        else resolve(message)
      }
    })
    control.on('error', ({ message, code = '' }: NodeJS.ErrnoException) => {
      const isOurs = ['EMFILE', 'ENFILE', 'ECANCELED'].includes(code)
      reject(new LaunchError(message, isOurs ? code : 'EAGAIN'))
    })
    control.on('close', () => reject(new LaunchError('the launcher ended', 'EAGAIN')))
  })
}

function send(socket: Socket, message: ToLauncher, sent = () => {}): void {
  socket.write(`${JSON.stringify(message)}\n`, (error) => {
    if (!error) sent()
  })
}

function quietSocket(): Socket {
  return new Socket().on('error', () => {})
}

/** An end that we write to: holds what is written until the program runs, since what comes first is the launcher's. */
class WrittenEnd extends Writable {
  readonly #socket: Socket
  readonly #running: Promise<unknown>

  constructor(socket: Socket, running: Promise<unknown>) {
    super({ decodeStrings: true })
    this.#socket = socket
    this.#running = running
    this.on('error', () => {})
    // The program may close it before it ends: whoever writes is not to wait.
    socket.on('close', () => this.destroy())
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#running.then(() => this.#socket.write(chunk, done), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#running.then(() => this.#socket.end(() => done()), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // The program has to get its end before it can find it closed.
    const close = () => this.#socket.destroy()
    this.#running.then(close, close)
    done(error)
  }
}
