import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const AGAIN_MS = 5000
/** The second signal counts as one of its own only after this time. */
const SECOND_SIGNAL_MS = 1200

/** A runner in a process of its own, beside a server; it is started again when it dies. */
export interface RunnerBeside {
  /** Ends it, and the jobs that it runs. */
  stop(): Promise<void>
}

export function startRunnerBeside(given: {
  readonly url: string
  readonly token: string
  readonly folder: string
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
        [program, 'runner', '--executor', 'shell', '--url', given.url, '--folder', given.folder],
        {
          env: { ...process.env, GITSTEAD_RUNNER_TOKEN: given.token },
          stdio: ['ignore', 'ignore', 'inherit'],
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
      last.kill('SIGTERM')
      await Promise.race([ended(last), sleep(SECOND_SIGNAL_MS)])
      last.kill('SIGTERM')
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
}
