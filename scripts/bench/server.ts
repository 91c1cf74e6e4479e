import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { digestOf } from '../../src/access/door.ts'
import { systemClock } from '../../src/base/clock.ts'
import { openStore } from '../../src/store/connection.ts'

/** A server in a process of its own, as `npm start` runs it. */
export interface BenchServer {
  readonly url: string
  /** Address of a project of the one user, credentials included; pushing to a new one makes it. */
  remote(name: string): string
  readonly token: string
  readonly pid: number
  /** Folder of the repository behind a project, for the other side of a comparison. */
  repository(name: string): Promise<string>
  stop(): Promise<void>
}

const user = 'bench'

/** Starts the compiled server on an empty data folder with one user. */
export async function startServer(root: string, data: string): Promise<BenchServer> {
  await mkdir(data, { recursive: true })
  const token = await makeUser(data)
  const child = spawn(process.execPath, [join(root, 'dist/main.js')], {
    env: {
      ...process.env,
      GITSTEAD_DATA: data,
      GITSTEAD_PORT: '0',
      GITSTEAD_LOG_LEVEL: 'error',
      // What is measured here is the work, not how often one may ask for it.
      GITSTEAD_LIMIT_ARCHIVES: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await addressOf(child)
  return {
    url,
    token,
    pid: child.pid ?? 0,
    remote: (name) => url.replace('://', `://${user}:${token}@`).concat(`/${user}/${name}.git`),
    repository: (name) => repositoryOf(url, token, data, name),
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
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

async function makeUser(data: string): Promise<string> {
  const store = openStore(data)
  const now = systemClock()
  const times = { created_at: now, updated_at: now }
  const token = `bench-${randomBytes(16).toString('hex')}`
  const person = { username: user, name: user, email: 'bench@example.com', confirmed_at: now }
  const { id } = await store.db
    .insertInto('users')
    .values({ ...person, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  const place = { name: user, path: user, full_path: user, full_name: user, owner_id: id }
  await store.db
    .insertInto('namespaces')
    .values({ kind: 'user', ...place, visibility: 'public', ...times })
    .execute()
  const secret = { kind: 'personal' as const, user_id: id, name: 'bench', digest: digestOf(token) }
  await store.db
    .insertInto('access_tokens')
    .values({ ...secret, scopes: '["api"]', ...times })
    .execute()
  await store.close()
  return token
}

async function repositoryOf(
  url: string,
  token: string,
  data: string,
  name: string,
): Promise<string> {
  const path = encodeURIComponent(`${user}/${name}`)
  const response = await fetch(`${url}/api/v4/projects/${path}`, {
    headers: { 'PRIVATE-TOKEN': token },
  })
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
