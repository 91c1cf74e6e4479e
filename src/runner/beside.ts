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
  let child: ChildProcess
  const start = () => {
    child = spawn(
      process.execPath,
      [program, 'runner', '--executor', 'shell', '--url', given.url, '--folder', given.folder],
      {
        env: { ...process.env, GITSTEAD_RUNNER_TOKEN: given.token },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    )
    child.once('exit', (code) => {
      if (isStopping) return
      given.say(`the runner beside the server ended with code ${code}, it starts again`)
      setTimeout(start, AGAIN_MS).unref()
    })
    child.once('error', (error) => given.say(`the runner cannot start: ${error.message}`))
  }
  start()
  return {
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      await Promise.race([ended(child), sleep(SECOND_SIGNAL_MS)])
      child.kill('SIGTERM')
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
}
