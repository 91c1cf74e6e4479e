import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { digestOf } from '../../src/access/token-use.ts'
import { migrations } from '../../src/areas.ts'
import { type Instant, systemClock } from '../../src/base/clock.ts'
import { openStore } from '../../src/store/connection.ts'
import type { Db } from '../../src/store/schema.ts'

/** A server in a process of its own, as `npm start` runs it. */
export interface BenchServer {
  readonly url: string
  /** Address of a project of the one user, credentials included; pushing to a new one makes it. */
  remote(name: string): string
  readonly token: string
  readonly userId: number
  readonly pid: number
  /** Its data folder. */
  readonly data: string
  /** Folder of the repository behind a project, for the other side of a comparison. */
  repository(name: string): Promise<string>
  /** Whether there is a project of this name: a data folder may be used again. */
  has(name: string): Promise<boolean>
  /** Watches how late the event loop of the main process comes, until asked. */
  watchLoop(): () => Promise<{ readonly p99: number; readonly most: number }>
  /** Removes what is remembered of all contributors. */
  forgetContributors(): Promise<void>
  stop(): Promise<void>
}

const user = 'bench'

/** Starts the compiled server on a data folder, which is made with one user, and what `seed` adds, if there is none. */
export async function startServer(
  root: string,
  data: string,
  seed: (db: Db, userId: number) => Promise<unknown> = async () => {},
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  await mkdir(data, { recursive: true })
  const { token, userId } = await makeToken(data, seed)
  const watcher = join(import.meta.dirname, 'loop-delay.mjs')
  const { flags, env } = startCommand(root)
  const main = [...flags, '--import', watcher, join(root, 'scripts/start.mjs')]
  const child = spawn(process.execPath, main, {
    env: {
      ...process.env,
      ...env,
      GITSTEAD_DATA: data,
      GITSTEAD_PORT: '0',
      GITSTEAD_SSH_PORT: '0',
      GITSTEAD_LOG_LEVEL: 'error',
      // What is measured here is the work, not how often one may ask for it.
      GITSTEAD_LIMIT_ARCHIVES: '0',
      GITSTEAD_ERROR_EVENTS_PER_MINUTE: '0',
      GITSTEAD_ERROR_BYTES_PER_MINUTE: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await addressOf(child)
  return {
    url,
    token,
    userId,
    pid: child.pid ?? 0,
    data,
    remote: (name) => url.replace('://', `://${user}:${token}@`).concat(`/${user}/${name}.git`),
    repository: (name) => repositoryOf(url, token, data, name),
    has: async (name) => (await askProject(url, token, name)).ok,
    watchLoop: () => watchLoop(child),
    forgetContributors: () => forgetContributors(data),
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** How `npm start` runs node: the environment and the flags before the script. */
function startCommand(root: string): { flags: string[]; env: Record<string, string> } {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const words = String(scripts.start).split(' ')
  const node = words.indexOf('node')
  const settings = words.slice(0, node).filter((word) => word.includes('='))
  const set = settings.map((word) => word.split('=') as [string, string])
  return { flags: words.slice(node + 1, -1), env: Object.fromEntries(set) }
}

function watchLoop(child: ChildProcess): () => Promise<{ p99: number; most: number }> {
  child.send({ loopDelay: 'watch' })
  return async () => {
    const reported = once(child, 'message')
    child.send({ loopDelay: 'report' })
    // What loop-delay.mjs sends.
    const [{ loopDelay }] = (await reported) as [{ loopDelay: { p99: number; most: number } }]
    return loopDelay
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the server has no output')
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /http:\/\/[\d.]+:\d+/.exec(line)
    if (found) {
      child.stdout.resume()
      return found[0]
    }
  }
  throw new Error('the server ended before it listened')
}

/** A new token of the one user. */
async function makeToken(
  data: string,
  seed: (db: Db, userId: number) => Promise<unknown>,
): Promise<{ token: string; userId: number }> {
  const store = openStore(data, { migrations })
  const now = systemClock()
  const times = { created_at: now, updated_at: now }
  const token = `bench-${randomBytes(16).toString('hex')}`
  const found = await store.db
    .selectFrom('users')
    .select('id')
    .where('username', '=', user)
    .executeTakeFirst()
  const user_id = found?.id ?? (await makeUser(store.db, times))
  const secret = { kind: 'personal' as const, user_id, name: 'bench', digest: digestOf(token) }
  await store.db
    .insertInto('access_tokens')
    .values({ ...secret, scopes: '["api"]', ...times })
    .execute()
  if (!found) await store.db.transaction().execute((db) => seed(db, user_id))
  await store.close()
  return { token, userId: user_id }
}

async function makeUser(
  db: Db,
  times: { readonly created_at: Instant; readonly updated_at: Instant },
): Promise<number> {
  const confirmed_at = times.created_at
  const person = { username: user, name: user, email: 'bench@example.com', confirmed_at }
  const { id } = await db
    .insertInto('users')
    .values({ ...person, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  const place = { name: user, path: user, full_path: user, full_name: user, owner_id: id }
  await db
    .insertInto('namespaces')
    .values({ kind: 'user', ...place, visibility: 'public', ...times })
    .execute()
  return id
}

async function forgetContributors(data: string): Promise<void> {
  const store = openStore(data, { migrations, mayMigrate: false })
  await store.db.deleteFrom('contributor_totals').execute()
  await store.db.deleteFrom('contributor_lines').execute()
  await store.close()
}

function askProject(url: string, token: string, name: string): Promise<Response> {
  const path = encodeURIComponent(`${user}/${name}`)
  return fetch(`${url}/api/v4/projects/${path}`, { headers: { 'PRIVATE-TOKEN': token } })
}

async function repositoryOf(
  url: string,
  token: string,
  data: string,
  name: string,
): Promise<string> {
  const response = await askProject(url, token, name)
  const { id } = (await response.json()) as { id: number } // the wire's word for a project
  const shard = (id & 0xff).toString(16).padStart(2, '0')
  return join(data, 'repositories', shard, `${id}.git`)
}

/** Memory that a process holds now, in bytes; 0 when it is gone. */
export function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Memory of a process and of all that it started, and that these started. */
export function memoryOfAll(root: number): number {
  const started = startedBy()
  const sum = (pid: number): number =>
    (started.get(pid) ?? []).reduce((total, child) => total + sum(child), memoryOf(pid))
  return sum(root)
}

/** The processes that a process started. */
export function childrenOf(root: number): readonly number[] {
  return startedBy().get(root) ?? []
}

/** All processes by the one that started them. */
function startedBy(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  return children
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // Gone while we looked.
    return undefined
  }
}

/** Watches a process until stopped; gives the most memory it held. */
export function watchMemory(pid: number): () => number {
  let most = memoryOf(pid)
  const timer = setInterval(() => {
    most = Math.max(most, memoryOf(pid))
  }, 20)
  return () => {
    clearInterval(timer)
    return Math.max(most, memoryOf(pid))
  }
}
