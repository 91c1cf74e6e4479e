import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

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

let runner: Runner | undefined

function startRunner(): Runner {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-runner-'))
  const [requests, replies] = [join(folder, 'requests'), join(folder, 'replies')]
  execFileSync('mkfifo', [requests, replies])
  const script = join(import.meta.dirname, 'program-runner.mjs')
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

/** How a program ended that ran beside this process. */
export interface ProgramEnd {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Answer = { readonly id: number } & (ProgramEnd | { readonly failure: string })

/** The process that runs programs for this one while this one goes on. */
class Starter {
  readonly #process = spawn(process.execPath, [join(import.meta.dirname, 'program-starter.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #asked = 0

  constructor() {
    this.#process.unref()
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      // What our own script writes.
      const answer = JSON.parse(line) as Answer
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
  }

  run(asked: Omit<ProgramRun, 'input'>): Promise<Answer> {
    this.#asked += 1
    const id = this.#asked
    this.#process.stdin.write(`${JSON.stringify({ id, ...asked })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }
}

let starter: Starter | undefined

/** As `runProgram`, with nothing to read, while this process goes on: the server that it asks may be in here. */
export async function runProgramBeside(asked: Omit<ProgramRun, 'input'>): Promise<ProgramEnd> {
  starter ??= new Starter()
  const answer = await starter.run(asked)
  if ('failure' in answer) throw new Error(`${asked.program}: ${answer.failure}`)
  return answer
}
