import { join } from 'node:path'
import { type App, openApp } from './app.ts'
import { readConfig, withPort } from './base/config.ts'
import { type Log, makeLog } from './base/log.ts'
import { goAhead } from './base/priority.ts'
import { StartError } from './base/start-error.ts'
import { collectOnce, keepHeapSmall } from './base/workers/small-heap.ts'
import { ownRunnerToken } from './ci/runners/own-runner.ts'
import { findFreePort } from './http/listener/free-port.ts'
import { ensureRoot, findFirstSignIn } from './identity/users/create/ensure-root.ts'
import { type RunnerBeside, startRunnerBeside } from './runner/beside.ts'

/** The exit code after a fault of our own; `scripts/supervise` starts the server again then. */
const crashed = 70
/** After a fault running requests get this long: who knows what it has left undone. */
const crashDrainMs = 2000
const crashDeadlineMs = 5000
/** Terminals, npm and supervisors each pass on the same signal. */
const sameSignalMs = 1000

/** Serves until the process ends; what keeps the server from starting is said in one line, and ends it with 1. */
export function serve(): void {
  start().catch((error: unknown) => {
    const text = error instanceof StartError ? error.message : String(error)
    process.stderr.write(`gitstead: ${text}\n`)
    process.exit(1)
  })
}

/** Reads the configuration, listens, and closes in order on SIGTERM or SIGINT, and after a fault that nobody caught. */
async function start(): Promise<void> {
  keepHeapSmall()
  const given = readConfig()
  const config = given.port === 0 ? withPort(given, await findFreePort(given.host)) : given
  const log = makeLog({ level: config.logLevel })
  goAhead()
  const app = await openApp(config, { log })
  endOnFault(app, log)
  await ensureRoot(app.makeCtx())
  collectOnce()
  const { address, port } = await app.listen()
  process.stdout.write(`Gitstead listens on http://${address}:${port} (${config.externalUrl})\n`)
  const files = await findFirstSignIn(app.makeCtx())
  if (files.length > 0) process.stdout.write(firstSignIn(files))
  const runner = await startRunner(app, log)
  let stopped: number | undefined
  const stop = (signal: string) => {
    if (stopped !== undefined) {
      if (performance.now() - stopped > sameSignalMs) process.exit(1)
      return
    }
    stopped = performance.now()
    log.info('stopping', { signal })
    Promise.all([app.close(), runner?.stop()]).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('stop failed', { error })
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
}

/** The runner that works beside the server, where the settings want one. */
async function startRunner(app: App, log: Log): Promise<RunnerBeside | undefined> {
  const ctx = app.makeCtx()
  if (ctx.config.runner === 'off') return undefined
  process.stdout.write(
    'A runner works beside the server (GITSTEAD_RUNNER=shell): jobs can do whatever the server can.\n' +
      'That is for instances only where everybody who may push is trusted with all of it.\n',
  )
  return startRunnerBeside({
    url: ctx.config.externalUrl,
    token: await ownRunnerToken(ctx),
    folder: join(ctx.config.data, 'runner'),
    say: (text) => log.warn(text),
  })
}

/** An error or a rejected promise that nobody caught: says so, with the requests that it may belong to, and ends. */
function endOnFault(app: App, log: Log): void {
  let ending = false
  process.on('uncaughtException', (error, origin) => {
    log.error('a fault that nobody caught', { error, origin, requests: app.runningRequests() })
    if (ending) return
    ending = true
    const end = () => process.exit(crashed)
    setTimeout(end, crashDeadlineMs)
    app.close(crashDrainMs).then(end, end)
  })
}

/** Where the first administrator's secrets are; standard output may end up in a journal that others read. */
function firstSignIn(files: readonly string[]): string {
  return [
    'The administrator is root. How to sign in is in files that only you can read:',
    ...files.map((file) => `  ${file}`),
    '',
  ].join('\n')
}
