import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

const program = resolve(import.meta.dirname, '../../gitstead.mjs')
const mostSaid = 3000

/** How a command ended, and the last that it said. */
export interface Ended {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined
  readonly said: string
}

export interface Command {
  kill(signal: NodeJS.Signals): void
  /** Waits for its end; one that takes longer is killed. */
  ended(milliseconds: number): Promise<Ended>
}

/** Starts the `gitstead` command in a process of its own. */
export function startCommand(words: readonly string[]): Command {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const take = (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-mostSaid)
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const ended = new Promise<Ended>((finish) => {
    child.on('error', (error) => finish({ code: undefined, said: String(error) }))
    child.on('close', (code) => finish({ code: code ?? undefined, said }))
  })
  return {
    kill: (signal) => void child.kill(signal),
    async ended(milliseconds) {
      const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds)
      return await ended.finally(() => clearTimeout(timer))
    },
  }
}
