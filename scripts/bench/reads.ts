import { setTimeout as sleep } from 'node:timers/promises'
import type { Row } from './measure.ts'
import { runLoad } from './run-load.ts'
import { type BenchServer, memoryOf } from './server.ts'

export interface ReadsPlace {
  readonly server: BenchServer
  /** Projects of 1,000 groups that the user is a member of. */
  readonly projectIds: readonly number[]
  say(line: string): void
}

interface Asked {
  readonly what: string
  readonly paths: readonly string[]
  /** Writes beside it, as often as a busy instance sees. */
  readonly writes?: boolean
}

const mebibyte = 1024 * 1024

/** How many API reads a second one server answers, on a machine that it shares with whoever asks. */
export async function* benchReads(place: ReadsPlace): AsyncGenerator<Row> {
  const { server, projectIds } = place
  await sleep(3000)
  const idle = memoryOf(server.pid) / mebibyte
  yield { what: 'idle memory', ours: '', theirs: '', value: idle, unit: 'MB', limit: 150 }
  const one = projectIds.slice(0, 50).map((id) => `/api/v4/projects/${id}`)
  const pages = Array.from({ length: 40 }, (_, at) => `/api/v4/projects?page=${at + 1}`)
  const asked: Asked[] = [
    { what: 'reads: /version', paths: ['/api/v4/version'] },
    { what: 'reads: one user', paths: [`/api/v4/users/${server.userId}`] },
    { what: 'reads: one project', paths: one },
    { what: 'reads: 20 projects', paths: ['/api/v4/projects'] },
    { what: 'reads: 20 projects, 40 pages', paths: pages },
    { what: 'reads: 20 projects, 10 writes a second', paths: pages, writes: true },
  ]
  for (const one of asked) {
    place.say(one.what)
    yield await measure(server, one)
  }
}

async function measure(server: BenchServer, asked: Asked): Promise<Row> {
  const stop = asked.writes ? writeBeside(server) : async () => {}
  const { perSecond, p99 } = await load(server, asked.paths)
  await stop()
  return {
    what: asked.what,
    ours: `p99 ${p99.toFixed(1)} ms`,
    theirs: '',
    value: perSecond,
    unit: '/s',
  }
}

function load(server: BenchServer, paths: readonly string[]) {
  return runLoad({ port: Number(new URL(server.url).port), token: server.token, paths })
}

/** Makes a project every tenth of a second. */
function writeBeside(server: BenchServer): () => Promise<void> {
  let running = true
  const done = (async () => {
    for (let count = 0; running; count += 1) {
      const response = await fetch(`${server.url}/api/v4/projects`, {
        method: 'POST',
        headers: { 'PRIVATE-TOKEN': server.token, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `beside-${count}` }),
      })
      await response.arrayBuffer()
      await sleep(100)
    }
  })()
  return async () => {
    running = false
    await done
  }
}
