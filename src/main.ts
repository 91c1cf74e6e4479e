import { openApp } from './app.ts'
import { readConfig } from './base/config.ts'
import { makeLog } from './base/log.ts'
import { goAhead } from './base/priority.ts'
import { keepHeapSmall } from './base/small-heap.ts'
import { StartError } from './base/start-error.ts'
import { ensureRoot, type RootAccess } from './identity/users/ensure-root.ts'

/** Reads the configuration, listens, and closes in order on SIGTERM or SIGINT. */
export async function serve(): Promise<void> {
  keepHeapSmall()
  const config = readConfig()
  const log = makeLog({ level: config.logLevel })
  goAhead()
  const app = await openApp(config, { log })
  const root = await ensureRoot(app.makeCtx())
  const { address, port } = await app.listen()
  process.stdout.write(`Gitstead listens on http://${address}:${port} (${config.externalUrl})\n`)
  if (root) process.stdout.write(tellRoot(root))
  let closing = false
  const stop = (signal: string) => {
    if (closing) process.exit(1)
    closing = true
    log.info('stopping', { signal })
    app.close().then(
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

/** How the administrator signs in; secrets that the operator chose are not repeated. */
function tellRoot(root: RootAccess): string {
  const password = root.password ?? 'as in GITSTEAD_ROOT_PASSWORD'
  const token = root.token ?? 'as in GITSTEAD_ROOT_TOKEN'
  return [
    'The first administrator was created. This is shown once:',
    `  user      ${root.username}`,
    `  password  ${password}`,
    `  token     ${token}`,
    `The token is also kept in ${root.tokenFile}`,
    '',
  ].join('\n')
}

serve().catch((error: unknown) => {
  const text = error instanceof StartError ? error.message : String(error)
  process.stderr.write(`gitstead: ${text}\n`)
  process.exit(1)
})
