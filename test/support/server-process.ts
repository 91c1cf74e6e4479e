import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The whole server as `npm start` runs it, in a process of its own. */
export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  /** Everything that it has said so far. */
  said(): string
  stop(): Promise<number | null>
}

/** Starts the server below limits that a shell sets, such as `ulimit -n 256; umask 000`. */
export async function startServerProcess(
  data: string,
  env: Readonly<Record<string, string>> = {},
  before = ':',
): Promise<ServerProcess> {
  const root = new URL('../../', import.meta.url).pathname
  const child = spawn(
    '/bin/sh',
    ['-c', `${before}; exec "$0" scripts/start.mjs`, process.execPath],
    {
      cwd: root,
      env: {
        ...process.env,
        GITSTEAD_DATA: data,
        GITSTEAD_PORT: '0',
        GITSTEAD_SSH_PORT: '0',
        GITSTEAD_ENGINE_PROCESSES: '1',
        GITSTEAD_HEALTH_SCHEDULE: 'off',
        GITSTEAD_ROOT_TOKEN: 'root-token-of-this-test',
        GITSTEAD_ROOT_PASSWORD: 'root-password-of-this-test',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const gone = once(child, 'exit')
  let text = ''
  const take = (chunk: Buffer) => {
    text += chunk.toString('utf8')
  }
  child.stderr.on('data', take)
  child.stdout.on('data', take)
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', () => reject(new Error(`the server ended: ${text}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /https?:\/\/(?:[\d.]+|\[::\]):\d+/.exec(line)
      if (found) resolve(found[0])
    })
  })
  return {
    url,
    process: child,
    said: () => text,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await gone
      return typeof code === 'number' ? code : null
    },
  }
}
