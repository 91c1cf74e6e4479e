import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Says to a runner that a server has started it beside itself. */
export const BESIDE = 'GITSTEAD_RUNNER_BESIDE'

const AGAIN_MS = 5000
/** How long it may take to end its jobs and to report that. */
const STOP_MS = 2500

/** A runner in a process of its own, beside a server; it is started again when it dies, and ends with this process. */
export interface RunnerBeside {
  /** Ends it, and the jobs that it runs; they are reported to the server if it still listens. */
  stop(): Promise<void>
}

/** What is said of a runner beside a server; `by` names what has brought it. */
export function besideNotice(by: string): string {
  return (
    `A runner works beside the server (${by}): jobs can do whatever the server can.\n` +
    'That is for instances only where everybody who may push is trusted with all of it.\n'
  )
}

export function startRunnerBeside(given: {
  /** The server as this machine reaches it; jobs clone from there, too. */
  readonly url: string
  readonly token: string
  readonly folder: string
  /** Jobs at a time. */
  readonly concurrent: number
  readonly say: (text: string) => void
}): RunnerBeside {
  const program = fileURLToPath(new URL('../../scripts/gitstead.mjs', import.meta.url))
  let isStopping = false
  let child: ChildProcess | undefined
  let again: NodeJS.Timeout | undefined
  const startAgain = (reason: string) => {
    child = undefined
    if (isStopping) return
    given.say(`the runner beside the server ${reason}, it starts again`)
    again = setTimeout(start, AGAIN_MS).unref()
  }
  const start = () => {
    try {
      const started = spawn(
        process.execPath,
        [
          ...[program, 'runner', '--executor', 'shell', '--folder', given.folder],
          ...['--url', given.url, '--clone-url', given.url],
          ...['--concurrent', String(given.concurrent)],
        ],
        {
          env: { ...process.env, GITSTEAD_RUNNER_TOKEN: given.token, [BESIDE]: '1' },
          // The channel closes however this process ends, and with it ends the runner.
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        },
      )
      child = started
      started.once('exit', (code) => startAgain(`ended with code ${code}`))
      started.on('error', (error) => {
        // One that runs may only have missed a signal.
        if (started.pid === undefined) startAgain(`cannot start: ${error.message}`)
      })
    } catch (error) {
      // Where the system has no room for another process, this is thrown at once.
      startAgain(`cannot start: ${error instanceof Error ? error.message : 'no reason given'}`)
    }
  }
  start()
  return {
    async stop() {
      isStopping = true
      clearTimeout(again)
      const last = child
      if (!last) return
      if (last.connected) last.disconnect()
      await Promise.race([ended(last), sleep(STOP_MS, undefined, { ref: false })])
      last.kill('SIGKILL')
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
}
