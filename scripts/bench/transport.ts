import { spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { compare, git, median, milliseconds, percentile, type Row, ratioRow } from './measure.ts'
import { type BenchServer, memoryOf, watchMemory } from './server.ts'
import type { HttpCall, Timer } from './timer.ts'

export interface BenchPlace {
  readonly server: BenchServer
  readonly timer: Timer
  /** A bare repository to measure with. */
  readonly source: string
  /** An empty folder for whatever a measurement makes. */
  readonly folder: string
  /** Gigabyte pushes and crowds of clients too. */
  readonly load: boolean
  /** One part alone. */
  readonly only: string | undefined
  say(line: string): void
}

const mebibyte = 1024 * 1024

/** Git over HTTP against the same over `file://`. */
export async function* benchTransport(place: BenchPlace): AsyncGenerator<Row> {
  const { server, source } = place
  await git(source, ['push', '-q', '--mirror', server.remote('whole')])
  const stored = await server.repository('whole')
  await quiesce(place)
  for (const [name, part] of Object.entries(parts)) {
    if (place.only === undefined ? !place.load && loads.includes(name) : name !== place.only) {
      continue
    }
    place.say(name)
    yield* part(place, stored)
  }
}

type Part = (place: BenchPlace, stored: string) => AsyncGenerator<Row>

const parts: Readonly<Record<string, Part>> = {
  clone: fullClone,
  'first-push': firstPush,
  push: smallPush,
  shallow: shallowClones,
  'shallow-again': shallowAgain,
  refs: manyRefs,
  gigabyte: bigPush,
  crowd,
}

const loads: readonly string[] = ['gigabyte', 'crowd']

/** Lets background work end, so that it does not run in somebody's measurement. */
async function quiesce(place: BenchPlace): Promise<void> {
  place.say('waiting for background work')
  await sleep(3000)
}

async function* fullClone(place: BenchPlace, stored: string): AsyncGenerator<Row> {
  const { server, folder } = place
  const clone = async (from: string, name: string) => {
    const target = join(folder, name)
    await git(folder, ['clone', '-q', '--bare', from, target])
    await rm(target, { recursive: true })
  }
  yield await compare(
    'full clone',
    3,
    () => clone(server.remote('whole'), 'ours'),
    () => clone(`file://${stored}`, 'theirs'),
    1.1,
  )
}

async function* firstPush(place: BenchPlace, stored: string): AsyncGenerator<Row> {
  const { server, source, folder } = place
  const settings = await readFile(join(stored, 'config'))
  const pushTo = async (round: number, config: Buffer | undefined) => {
    const target = join(folder, `first-${round}.git`)
    await git(folder, ['init', '-q', '--bare', target])
    if (config) await writeFile(join(target, 'config'), config)
    await git(source, ['push', '-q', '--all', `file://${target}`])
    await rm(target, { recursive: true })
  }
  yield await compare(
    'first push (same checks)',
    3,
    (round) => git(source, ['push', '-q', '--all', server.remote(`first-${round}`)]),
    (round) => pushTo(round, settings),
    1.15,
  )
  yield await compare(
    'first push (git without checks)',
    1,
    (round) => git(source, ['push', '-q', '--all', server.remote(`plain-${round}`)]),
    (round) => pushTo(round, undefined),
  )
}

async function* smallPush(place: BenchPlace, stored: string): AsyncGenerator<Row> {
  const { server, folder, source } = place
  const theirs = join(folder, 'small.git')
  await git(folder, ['clone', '-q', '--bare', `file://${stored}`, theirs])
  await writeFile(join(theirs, 'config'), await readFile(join(stored, 'config')))
  const work = join(folder, 'work')
  await git(folder, ['clone', '-q', '--shared', source, work])
  let count = 0
  const push = async (to: string) => {
    await git(work, ['push', '-q', to, 'HEAD:refs/heads/bench'])
  }
  const times = { ours: [] as number[], theirs: [] as number[] }
  for (let round = 0; round < 13; round++) {
    await appendFile(join(work, 'bench.txt'), `${++count}\n`)
    await git(work, ['add', 'bench.txt'])
    await git(work, ['commit', '-q', '-m', `Number ${count}`])
    const ours = await milliseconds(() => push(server.remote('whole')))
    const other = await milliseconds(() => push(`file://${theirs}`))
    if (round < 2) continue
    times.ours.push(ours)
    times.theirs.push(other)
  }
  const [one, other] = [median(times.ours), median(times.theirs)]
  yield {
    what: 'push of one commit',
    ours: `${one.toFixed(1)} ms`,
    theirs: `${other.toFixed(1)} ms`,
    value: one / other,
    unit: 'x',
    limit: 1.6,
  }
}

async function* shallowClones(place: BenchPlace, stored: string): AsyncGenerator<Row> {
  const { server, folder } = place
  const clone = async (from: string) => {
    const target = join(folder, 'shallow')
    await git(folder, ['clone', '-q', '--bare', '--depth=1', from, target])
    await rm(target, { recursive: true })
  }
  yield await compare(
    'shallow clone, repeated',
    7,
    () => clone(server.remote('whole')),
    () => clone(`file://${stored}`),
    1.1,
  )
}

const crowdOfClones = 100

/**
 * What the server answers to a shallow clone that nobody made before, and to a hundred equal ones at once, for each:
 * answers alone, since a client unpacks what it got as long as the server packed it.
 */
async function* shallowAgain({ server, timer }: BenchPlace, stored: string): AsyncGenerator<Row> {
  const tips = (await git(stored, ['rev-list', '--first-parent', '-n', '8', 'HEAD'])).split('\n')
  const first: number[] = []
  const again: number[] = []
  for (const [round, tip] of tips.entries()) {
    const call = shallowFetch(server, tip)
    const one = await timer.http(call)
    const all = await timer.crowd(Array.from({ length: crowdOfClones }, () => call))
    // The first tip warms up.
    if (round === 0) continue
    first.push(one)
    again.push(all / crowdOfClones)
  }
  const what = `the same shallow clone again, ${crowdOfClones} in parallel (for each)`
  const { ours, theirs, ...row } = ratioRow(what, again, first, 0.1)
  yield { ...row, ours, theirs: `${theirs} first` }
}

/** The request of `git clone --depth=1` in version 2 of the protocol. */
function shallowFetch(server: BenchServer, tip: string): HttpCall {
  const line = (text: string) => `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`
  const about = ['command=fetch', 'agent=git/2', 'object-format=sha1'].map(line).join('')
  const wanted = ['thin-pack', 'no-progress', 'ofs-delta', 'deepen 1', `want ${tip}`, 'done']
  const user = Buffer.from(`bench:${server.token}`).toString('base64')
  return {
    url: `${server.url}/bench/whole.git/git-upload-pack`,
    headers: {
      authorization: `Basic ${user}`,
      'content-type': 'application/x-git-upload-pack-request',
      'git-protocol': 'version=2',
    },
    body: `${about}0001${wanted.map(line).join('')}0000`,
  }
}

async function* manyRefs(place: BenchPlace): AsyncGenerator<Row> {
  const { server, folder, source } = place
  const tips = (await git(source, ['rev-list', '-n', '500', 'HEAD'])).split('\n')
  const refs = join(folder, 'refs.git')
  await git(folder, ['clone', '-q', '--bare', '--shared', source, refs])
  const lines = Array.from(
    { length: 10_000 },
    (_, i) => `create refs/heads/many/branch-${i} ${tips[i % tips.length]}\n`,
  )
  await git(refs, ['update-ref', '--stdin'], lines.join(''))
  await git(refs, ['push', '-q', '--all', server.remote('many-refs')])
  const stored = await server.repository('many-refs')
  await quiesce(place)
  for (const version of ['2', '0']) {
    const list = (from: string) =>
      git(folder, ['-c', `protocol.version=${version}`, 'ls-remote', from])
    yield await compare(
      `ls-remote of 10,000 refs, protocol ${version}`,
      11,
      () => list(server.remote('many-refs')),
      () => list(`file://${stored}`),
      2,
    )
  }
}

async function* bigPush(place: BenchPlace): AsyncGenerator<Row> {
  const { server, folder } = place
  const big = join(folder, 'big')
  await git(folder, ['init', '-q', big])
  await pipeline(noise(1024), createWriteStream(join(big, 'noise.bin')))
  await git(big, ['-c', 'core.compression=0', 'add', 'noise.bin'])
  await git(big, ['commit', '-q', '-m', 'Noise'])
  const before = memoryOf(server.pid)
  const stop = watchMemory(server.pid)
  const time = await milliseconds(() =>
    git(big, ['-c', 'pack.compression=0', 'push', '-q', server.remote('big'), 'HEAD']),
  )
  const grown = (stop() - before) / mebibyte
  yield {
    what: 'memory grown by a push of 1 GB',
    ours: `${(time / 1000).toFixed(1)} s`,
    theirs: '',
    value: Math.max(0, grown),
    unit: 'MB',
    limit: 64,
  }
}

/** Megabytes that do not compress. */
function noise(megabytes: number): Readable {
  return Readable.from(
    (function* () {
      for (let i = 0; i < megabytes; i++) yield randomFillSync(Buffer.allocUnsafe(mebibyte))
    })(),
  )
}

async function* crowd(place: BenchPlace): AsyncGenerator<Row> {
  const { server, folder, source } = place
  const crowded = join(folder, 'crowd')
  await mkdir(crowded)
  const works = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const work = join(crowded, `work-${i}`)
      await git(crowded, ['clone', '-q', '--shared', source, work])
      await git(work, ['commit', '-q', '--allow-empty', '-m', `Crowd ${i}`])
      return work
    }),
  )
  const stop = watchMemory(server.pid)
  const health = watchHealth(server.url)
  await sleep(2000)
  const clones = Array.from({ length: 100 }, (_, i) =>
    git(crowded, ['clone', '-q', '--bare', '--depth=1', server.remote('whole'), `clone-${i}`]),
  )
  const pushes = works.map((work, i) =>
    git(work, ['push', '-q', server.remote('whole'), `HEAD:refs/heads/crowd-${i}`]),
  )
  let results: PromiseSettledResult<string>[] = []
  const time = await milliseconds(async () => {
    results = await Promise.allSettled([...clones, ...pushes])
  })
  const waits = await health.stop()
  const failed = results.filter((result) => result.status === 'rejected')
  for (const one of failed.slice(0, 3)) place.say(String(one.reason))
  const what = '100 clones and 20 pushes at once'
  const ours = `${(time / 1000).toFixed(1)} s`
  yield { what: `${what}: failed`, ours, theirs: '', value: failed.length, unit: 'count', limit: 0 }
  const memory = stop() / mebibyte
  yield { what: `${what}: memory`, ours, theirs: '', value: memory, unit: 'MB', limit: 512 }
  const p99 = percentile(waits, 0.99)
  yield { what: `${what}: health p99`, ours, theirs: '', value: p99, unit: 'ms', limit: 100 }
}

function watchHealth(url: string): { stop(): Promise<number[]> } {
  const script = join(import.meta.dirname, 'health-probe.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  return {
    async stop() {
      child.stdin.end()
      await once(child, 'close')
      return JSON.parse(said) as number[] // our own script prints a list of numbers
    },
  }
}
