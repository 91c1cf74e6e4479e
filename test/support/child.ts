import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A process of its own that runs a file of JavaScript, which loads the compiled sources, for tests that kill it. */
export interface Child {
  readonly process: ChildProcess
  /** The lines that it prints, as they come. */
  readonly lines: AsyncIterator<string>
  /** Kills it without any warning, and waits until it is gone. */
  kill(): Promise<void>
  /** Waits for it to end by itself. */
  exit(): Promise<number | null>
}

export function startChild(script: URL, ...given: string[]): Child {
  const path = fileURLToPath(script)
  const child = spawn(process.execPath, [path, ...given], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    process: child,
    lines,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async exit() {
      const [code] = await gone
      return typeof code === 'number' ? code : null
    },
  }
}
