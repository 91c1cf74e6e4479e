import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { Api } from './api.ts'
import { processesBelow, type ServerProcess } from './processes.ts'

const root = resolve(import.meta.dirname, '../../..')
// The first start compiles what has changed.
const START_MS = 180_000

/** A server started as `npm start` does, on an address of this machine that nobody else reaches. */
export interface TortureServer {
  readonly url: string
  readonly port: number
  readonly data: string
  readonly logFile: string
  /** The administrator. */
  readonly root: Api
  /** Its processes at this moment. */
  processes(): ServerProcess[]
  /** The process that listens, or undefined while there is none. */
  mainPid(): number | undefined
  /** Ends of the started process that nobody asked for. */
  deaths(): number
  /** The last of them: when, and the error that it wrote. */
  lastEnd(): { readonly at: number; readonly said: string } | undefined
  /** Waits until the server answers; false when it does not within the time. */
  answers(milliseconds?: number): Promise<boolean>
  /** The log's line about a request, if there is one. */
  logOf(requestId: string): string | undefined
  /** Lines about requests that failed on the server's side, and what nobody had caught. */
  faults(): string[]
  stop(): Promise<void>
}

export interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Starts it again when it ends, as a service manager does. */
  readonly restart?: boolean
  /** Where the log goes; a file in the folder unless given. */
  readonly logFile?: string
}

export const rootToken = 'torture-root-token-0123456789'
export const rootPassword = 'torture-root-password-0123456789'

/** Starts the server on a data folder in the given one. */
export async function startServer(
  folder: string,
  options: ServerOptions = {},
): Promise<TortureServer> {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const logFile = options.logFile ?? join(folder, 'server.log')
  const log = createWriteStream(logFile, { flags: 'a' })
  const start = startCommand()
  let child: ChildProcess
  let deaths = 0
  let lastEnd: number | undefined
  let stopping = false
  const launch = () => {
    child = spawn(process.execPath, start.args, {
      cwd: root,
      env: { ...process.env, ...start.env, ...settings(data, port), ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout?.pipe(log, { end: false })
    child.stderr?.pipe(log, { end: false })
    child.on('exit', () => {
      if (stopping) return
      deaths += 1
      lastEnd = Date.now()
      if (options.restart) launch()
    })
  }
  launch()
  // Whoever stops the round stops its server too.
  const endNow = () => void child.kill('SIGKILL')
  process.once('exit', endNow)
  const server: TortureServer = {
    url,
    port,
    data,
    logFile,
    root: new Api(url, rootToken, new Agent({ connections: 8 })),
    processes: () => processesBelow(child.pid ?? 0, port),
    mainPid: () => server.processes().find(({ role }) => role === 'main')?.pid,
    deaths: () => deaths,
    lastEnd: () => (lastEnd === undefined ? undefined : { at: lastEnd, said: lastError(logFile) }),
    answers: (milliseconds = START_MS) => answers(url, milliseconds),
    logOf: (requestId) => lineWith(logFile, requestId),
    faults: () => linesOf(logFile).filter((line) => /"level":"error"|^\w*Error\b/.test(line)),
    async stop() {
      stopping = true
      process.off('exit', endNow)
      await endInOrder(child)
      log.end()
      await server.root.close()
    },
  }
  if (!(await server.answers())) {
    await server.stop()
    throw new Error(`the server does not start, see ${logFile}`)
  }
  return server
}

async function endInOrder(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
  await gone
  clearTimeout(late)
}

function settings(data: string, port: number): Record<string, string> {
  return {
    GITSTEAD_DATA: data,
    GITSTEAD_HOST: '127.0.0.1',
    GITSTEAD_PORT: String(port),
    GITSTEAD_SSH_PORT: '0',
    GITSTEAD_LOG_LEVEL: 'warn',
    GITSTEAD_ROOT_TOKEN: rootToken,
    GITSTEAD_ROOT_PASSWORD: rootPassword,
    GITSTEAD_DRAIN_TIME: '1s',
    // Nothing may leave the machine: everything that the server asks of others goes to a port where nobody listens.
    GITSTEAD_OUTBOUND_PROXY: 'http://127.0.0.1:9',
    GITSTEAD_OUTBOUND_ALLOW: '127.0.0.1',
    GITSTEAD_OUTBOUND_TIMEOUT: '2s',
  }
}

/** How `npm start` runs node. */
function startCommand(): { args: string[]; env: Record<string, string> } {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const words = String(scripts.start).split(' ')
  const node = words.indexOf('node')
  const settings = words.slice(0, node).filter((word) => word.includes('='))
  const env = settings.map((word) => word.split('=') as [string, string])
  return { args: words.slice(node + 1), env: Object.fromEntries(env) }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

async function answers(url: string, milliseconds: number): Promise<boolean> {
  const end = Date.now() + milliseconds
  while (Date.now() < end) {
    try {
      const reply = await fetch(`${url}/-/health`, { signal: AbortSignal.timeout(5000) })
      await reply.arrayBuffer()
      if (reply.ok) return true
    } catch {
      // Not yet.
    }
    await sleep(50)
  }
  return false
}

function lineWith(file: string, text: string): string | undefined {
  return linesOf(file).find((line) => line.includes(text))
}

/** The last error in the log that is not a line of JSON: what Node writes when it ends. */
function lastError(file: string): string {
  const said =
    linesOf(file).findLast((line) => /^\[?(\w*Error|Error)\b/.test(line)) ?? 'without a word'
  return said.replaceAll(/\/\S*\/data\//g, '<data>/').replaceAll(/-[A-Za-z0-9]{6}\b/g, '-…')
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n')
}
