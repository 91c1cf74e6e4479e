import { join } from 'node:path'
import { type App, openApp } from './app.ts'
import { type Config, readConfig, unknownSettings, withPort, withSshPort } from './base/config.ts'
import { type Log, makeLog } from './base/log.ts'
import { raiseOwnPriority } from './base/programs/priority.ts'
import { collectOnce, keepHeapSmall } from './base/workers/small-heap.ts'
import { ownRunnerToken } from './ci/runners/own-runner.ts'
import { findFreePort, isFreePort } from './http/listener/free-port.ts'
import { listeningLines } from './http/listener/listening.ts'
import { localUrl } from './http/listener/local-url.ts'
import { ensureRoot, findFirstSignIn } from './identity/users/create/ensure-root.ts'
import { besideNotice, type RunnerBeside, startRunnerBeside } from './runner/beside.ts'
import { startFailure } from './store/sqlite/start-failure.ts'

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
    const text = startFailure(error) ?? String(error).split('\n')[0]
    process.stderr.write(`gitstead: ${text}\n`)
    process.exit(1)
  })
}

/** Reads the configuration, listens, and closes in order on SIGTERM or SIGINT, and after a fault that nobody caught. */
async function start(): Promise<void> {
  // Who reads what it says may end first, such as a program that collects logs: that is no reason to stop serving.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  keepHeapSmall()
  const given = readConfig()
  const config = await withFreeSshPort(
    given.port === 0 ? withPort(given, await findFreePort(given.host)) : given,
  )
  const log = makeLog({ level: config.logLevel })
  for (const text of unknownSettings(process.env)) log.warn(text)
  raiseOwnPriority()
  const app = await openApp(config, { log })
  endOnFault(app, log)
  await ensureRoot(app.makeCtx())
  collectOnce()
  const { address, port } = await app.listen()
  for (const line of listeningLines(config, address, port)) process.stdout.write(`${line}\n`)
  const files = await findFirstSignIn(app.makeCtx())
  if (files.length > 0) process.stdout.write(firstSignIn(files))
  const runner = await startRunner(app, localUrl(config, { address, port }), log)
  let stopped: number | undefined
  const stop = (signal: string) => {
    if (stopped !== undefined) {
      if (performance.now() - stopped > sameSignalMs) process.exit(1)
      return
    }
    stopped = performance.now()
    log.info('stopping', { signal })
    // First, so that it can report the jobs that end with it.
    stopAll(app, runner).then(
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

/** Nobody has asked for the port that is listened on by default: where it is taken, the server starts without SSH. */
async function withFreeSshPort(config: Config): Promise<Config> {
  const { host, sshPort, isSshPortGiven } = config
  if (isSshPortGiven || (await isFreePort(host, sshPort))) return config
  process.stdout.write(
    `Git over SSH is off, since ${host}:${sshPort} is in use: set GITSTEAD_SSH_PORT to another port, or to 0\n`,
  )
  return withSshPort(config, 0)
}

async function stopAll(app: App, runner: RunnerBeside | undefined): Promise<void> {
  await runner?.stop()
  await app.close()
}

/** The runner that works beside the server, where the settings want one. */
async function startRunner(app: App, url: string, log: Log): Promise<RunnerBeside | undefined> {
  const ctx = app.makeCtx()
  if (ctx.config.runner === 'off') return undefined
  process.stdout.write(besideNotice('GITSTEAD_RUNNER=shell'))
  return startRunnerBeside({
    url,
    token: await ownRunnerToken(ctx),
    folder: join(ctx.config.data, 'runner'),
    concurrent: ctx.config.runnerConcurrent,
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
