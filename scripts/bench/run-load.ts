import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface LoadOrder {
  readonly port: number
  readonly token: string
  /** `{n}` in a path becomes a number that never comes again. */
  readonly paths: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Lets sixteen connections ask one server for paths by rotation, from a process of their own. */
export async function runLoad(order: LoadOrder): Promise<{ perSecond: number; p99: number }> {
  const all = { connections: 16, warmMs: 1500, runMs: 3000, ...order }
  const script = join(import.meta.dirname, 'load.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(all)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  await once(child, 'close')
  return JSON.parse(said) as { perSecond: number; p99: number } // our own script prints it
}
