import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array | undefined
}

export interface ProgramResult {
  readonly status: number | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

const mostOutput = 1 << 28

/** The two ends of the process that runs programs for this one. */
interface Runner {
  readonly requests: number
  readonly replies: number
}

const script = join(import.meta.dirname, 'program-runner.mjs')
let runner: Runner | undefined

function startRunner(): Runner {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-runner-'))
  const [requests, replies] = [join(folder, 'requests'), join(folder, 'replies')]
  execFileSync('mkfifo', [requests, replies])
  spawn(process.execPath, [script, requests, replies], {
    stdio: ['ignore', 'ignore', 'inherit'],
  }).unref()
  // Each waits for the other side.
  const started = { requests: openSync(requests, 'w'), replies: openSync(replies, 'r') }
  rmSync(folder, { recursive: true })
  return started
}

/**
 * Runs a program to its end, as `spawnSync` does, in a small process: a test process is large, and to start a program
 * from one takes 20 ms more than it does from a small one.
 */
export function runProgram({ program, args, cwd, env, input = '' }: ProgramRun): ProgramResult {
  runner ??= startRunner()
  const given = Buffer.from(input)
  const asked = { program, args, cwd, env, maxBuffer: mostOutput, inputLength: given.length }
  const head = Buffer.from(JSON.stringify(asked))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(head.length)
  write(runner.requests, Buffer.concat([size, head, given]))
  const reply = read(runner.replies, read(runner.replies, 4).readUInt32BE())
  const { status, failure, sizes } = JSON.parse(reply.toString())
  const [stdout, stderr] = [read(runner.replies, sizes[0]), read(runner.replies, sizes[1])]
  if (failure !== undefined) throw new Error(`${program}: ${failure}`)
  return { status, stdout, stderr }
}

interface Reply extends ProgramResult {
  readonly id: number
  readonly failure?: string | undefined
}

/** The process that runs programs while this one goes on, and who waits for them, by number. */
interface Others {
  readonly process: ChildProcess
  readonly waiting: Map<number, (reply: Reply) => void>
}

let others: Others | undefined
let last = 0

function startOthers(): Others {
  const child = fork(script, [], { serialization: 'advanced', execArgv: [] })
  const waiting: Others['waiting'] = new Map()
  child.on('message', (reply: Reply) => {
    waiting.get(reply.id)?.(reply)
    waiting.delete(reply.id)
  })
  child.unref()
  child.channel?.unref()
  return { process: child, waiting }
}

/** As `runProgram`, while this process goes on: for clients of a server that lives in it. */
export async function runProgramBeside(run: ProgramRun): Promise<ProgramResult> {
  others ??= startOthers()
  const { process, waiting } = others
  last += 1
  const id = last
  const reply = await new Promise<Reply>((resolve) => {
    waiting.set(id, resolve)
    process.send({ input: '', ...run, id })
  })
  if (reply.failure !== undefined) throw new Error(`${run.program}: ${reply.failure}`)
  return reply
}

function write(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

function read(file: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const count = readSync(file, bytes, at, length - at, null)
    if (count === 0) throw new Error('the process that runs programs has ended')
    at += count
  }
  return bytes
}
