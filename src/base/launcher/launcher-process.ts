import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { FromLauncher, LaunchRequest, ToLauncher } from './messages.ts'

/*
 * The process that starts programs for the server and its engines, with the path of its socket as argument. Each program
 * has a connection that asks for it and hears of it, and one for each of its ends, which becomes that end.
 */

/** A program that was asked for, in part: connections come in any order. */
interface Launch {
  asked?: { readonly control: Socket; readonly request: LaunchRequest }
  readonly ends: Socket[]
  /** Got a signal before it started: then it doesn't. */
  signal?: NodeJS.Signals
}

const launches = new Map<string, Launch>()
/** Those that were started, by the connection that asked. */
const children = new Map<Socket, ChildProcess>()

const server = createServer((socket) => {
  socket.on('error', () => {})
  let text = ''
  let id = ''
  const onData = (chunk: Buffer) => {
    text += chunk.toString('utf8')
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      const message = JSON.parse(text.slice(0, at)) as ToLauncher // only our own client can reach this socket
      text = text.slice(at + 1)
      if ('signal' in message) {
        signalTo(socket, id, message)
        continue
      }
      id = message.id
      const launch = launches.get(id) ?? { ends: [] }
      launches.set(id, launch)
      if ('end' in message) {
        // What comes later is for the program.
        socket.off('data', onData)
        socket.pause()
        launch.ends[message.end] = socket
      } else launch.asked = { control: socket, request: message }
      start(id, launch)
    }
  }
  socket.on('data', onData)
  socket.on('close', () => {
    children.delete(socket)
    const launch = launches.get(id)
    if (!launch) return
    if (launch.asked && launch.asked.control !== socket) {
      start(id, launch)
      return
    }
    launches.delete(id)
    for (const end of launch.ends) end?.destroy()
  })
})

/** Starts a program once all its ends are there, unless one of them was closed or a signal came before that. */
function start(id: string, { asked, ends, signal }: Launch): void {
  if (!asked) return
  const { control, request } = asked
  // Looked for here, since the event of one that has just been closed is still to come.
  if (ends.some((end) => end.destroyed)) {
    // It stays until the one who asked has gone, so that ends which come later are closed, too.
    tellLast(control, { failed: 'an end was closed', errno: 'ECANCELED' })
  } else {
    if (Object.keys(ends).length < request.ends) return
    launches.delete(id)
    if (signal) tellLast(control, { code: null, signal })
    else spawnFor(control, request, ends)
  }
  // A program has them now, or nobody needs them.
  for (const end of ends) end?.destroy()
}

function spawnFor(control: Socket, request: LaunchRequest, ends: Socket[]): void {
  const { program, args, cwd, env, detached } = request
  for (const end of ends) waitInCalls(end)
  try {
    const child = spawn(program, args, { stdio: ends, env, detached, ...(cwd && { cwd }) })
    children.set(control, child)
    child.on('error', (error) => tellLast(control, failed(error)))
    child.on('exit', (code, signal) => tellLast(control, { code, signal }))
    if (child.pid !== undefined) tell(control, { pid: child.pid })
  } catch (error) {
    tellLast(control, failed(error as Error)) // spawn throws nothing else
  }
}

/** Node sees to this for the first three ends alone: programs expect reads and writes that wait. */
function waitInCalls(end: Socket): void {
  const { _handle: handle } = end as Socket & {
    _handle?: { setBlocking(blocking: boolean): number } // as for the streams of a process
  }
  handle?.setBlocking(true)
}

function signalTo(
  control: Socket,
  id: string,
  { signal, group }: { readonly signal: NodeJS.Signals; readonly group: boolean },
): void {
  const child = children.get(control)
  if (!child) {
    const launch = launches.get(id)
    if (launch) launch.signal = signal
    return
  }
  // Once it was reaped its number may be another's.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(group ? -child.pid : child.pid, signal)
  } catch {
    // Only just started, and not the head of its group yet.
    child.kill(signal)
  }
}

function failed(error: Error): FromLauncher {
  return { failed: error.message, errno: 'code' in error ? String(error.code) : '' }
}

function tell(control: Socket, message: FromLauncher): void {
  if (control.writable) control.write(`${JSON.stringify(message)}\n`)
}

function tellLast(control: Socket, message: FromLauncher): void {
  tell(control, message)
  control.end()
}

const path = process.argv[2] ?? ''
// An interrupt at a terminal goes to all its processes; the server alone decides when this one is needed no more.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
function leave(): never {
  rmSync(dirname(path), { recursive: true, force: true })
  process.exit(0)
}
process.on('disconnect', leave)
// The server may have ended while this was being read.
if (!process.connected) leave()
rmSync(path, { force: true })
server.listen({ path, backlog: 4096 }, () => {
  // The server may have ended meanwhile.
  process.send?.('ready', () => {})
})
