import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { percentile } from '../../bench/measure.ts'
import { diskUsage } from '../place/folder.ts'
import { memoryOf } from '../place/processes.ts'
import { rootToken, type TortureServer } from '../place/server.ts'

/** What a server took while it was watched, and how it answered an honest client. */
export interface Watched {
  /** Most bytes of memory and disk above what it began with. */
  readonly memory: number
  readonly disk: number
  /** Milliseconds of the honest client's answers. */
  readonly p99: number
  readonly longest: number
  readonly answers: number
  /** Answers that were no success. */
  readonly refused: number
}

const EVERY_MS = 250

/**
 * Watches memory and disk of a server, and asks it as an honest client does, until stopped. That client asks alone first,
 * so that the server is warm when the memory is measured.
 */
export async function watch(
  server: TortureServer,
  warmMs: number,
): Promise<{ stop(): Promise<Watched> }> {
  const probe = startProbe(server.url)
  await sleep(warmMs)
  moveLogIntoDatabase(server.data)
  const before = { memory: memoryOf(server.processes()), disk: await diskUsage(server.data) }
  const most = { ...before }
  let going = true
  const sampling = (async () => {
    while (going) {
      most.memory = Math.max(most.memory, memoryOf(server.processes()))
      most.disk = Math.max(most.disk, await diskUsage(server.data))
      await sleep(EVERY_MS)
    }
  })()
  return {
    async stop() {
      going = false
      await sampling
      const { waits, refused } = await probe.stop()
      return {
        memory: most.memory - before.memory,
        disk: most.disk - before.disk,
        p99: percentile(waits, 0.99),
        longest: Math.max(0, ...waits),
        answers: waits.length,
        refused,
      }
    },
  }
}

/** What the set-up wrote is in the log alone; the server's next checkpoint would count it a second time. */
function moveLogIntoDatabase(data: string): void {
  const database = new Database(join(data, 'gitstead.db'))
  database.pragma('wal_checkpoint(PASSIVE)')
  database.close()
}

/** A process of its own: whoever floods can't time answers. */
function startProbe(url: string) {
  const script = join(import.meta.dirname, 'honest-client.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, url, rootToken], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  return {
    async stop() {
      child.stdin.end()
      await once(child, 'close')
      // What our own script prints.
      return JSON.parse(said) as { waits: number[]; refused: number }
    },
  }
}
