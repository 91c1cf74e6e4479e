import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { committer, creator, pusher, type Target } from '../kills/git-writers.ts'
import { issueWriter, merger, uploader, wikiWriter } from '../kills/record-writers.ts'
import type { Outcome, Writer } from '../kills/writer.ts'
import { leftoversAfter } from '../place/folder.ts'
import { checkRepositories, listDeadTasks } from '../place/inspect.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

const MEGABYTES = 192
/** How often everybody writes on one full disk. */
const ROUNDS = 12
/** How soon everything works again once there is space. */
const RECOVER_MS = 15_000
const CLEAN_MS = 5000

/** A disk that fills up while everybody writes, and is freed again. */
export const diskRound: Round = {
  name: 'disk',
  summary: 'a small disk that fills up under writes, restarts on it, and space that comes back',
  unit: 'full disks',
  usual: { count: 10, seconds: 0 },
  async run(options, report) {
    const disk = mountSmallDisk(join(options.folder, 'disk'), MEGABYTES)
    if (disk === undefined) {
      report.say('left out: this user may not mount a file system')
      return
    }
    try {
      const server = await startServer(disk.folder, {
        restart: true,
        logFile: join(options.folder, 'server.log'),
      })
      try {
        await fillAll(server, disk, options, report)
      } finally {
        await server.stop()
      }
      const faults = await checkRepositories(server.data)
      for (const fault of faults) report.fail({ what: `fsck: ${fault}` })
    } finally {
      disk.unmount()
    }
  },
}

async function fillAll(
  server: TortureServer,
  disk: SmallDisk,
  options: RoundOptions,
  report: Report,
): Promise<void> {
  const { root } = server
  const body = { name: 'one', initialize_with_readme: true }
  const { id } = await root.must('POST', '/projects', body)
  const target: Target = { api: root, id: Number(id), path: 'root/one' }
  const writers = await makeWriters(target, options)
  const answers = new Map<string, number>()
  const times: number[] = []
  for (let at = options.from; at < options.from + options.count; at += 1) {
    const random = randomOf(options.seed, at)
    const fail = (what: string, kind = what) =>
      report.fail({
        what,
        kind,
        again: `--round disk --seed ${options.seed} --from ${at} --count 1`,
      })
    const before = server.deaths()
    await writeAll(writers)
    for (let round = 0; round < ROUNDS; round += 1) {
      // What was deleted meanwhile, and the last kilobytes, are taken too.
      await disk.fill(random.pick([0, 0, 4096, 65_536, 500_000]))
      await writeOnFull(writers, answers, fail)
    }
    if (!(await server.answers(5000))) fail('the server does not answer on the full disk')
    // Every other time it is also started on the full disk.
    const restarted = at % 2 === 1
    if (restarted) await restartOnFull(server, fail)
    await readOnFull(target, fail)
    await disk.free()
    times.push(await recover(writers, fail))
    await checkAll(writers, fail)
    const deaths = server.deaths() - before - (restarted ? 1 : 0)
    if (deaths > 0) fail(`the server ended on the full disk: ${server.lastEnd()?.said}`)
    const left = await leftoversAfter(server.data, CLEAN_MS)
    for (const name of left.slice(0, 3)) fail(`left over: ${name}`, 'left over')
    report.say(`${at - options.from + 1} full disks`)
  }
  const dead = listDeadTasks(server.data)
  for (const task of dead) report.fail({ what: `dead task: ${task}` })
  report.figure({ name: 'dead tasks', value: dead.length, unit: '', atMost: 0 })
  for (const [answer, count] of answers) {
    report.figure({ name: `writes on the full disk: ${answer}`, value: count, unit: 'times' })
  }
  report.figure({ name: 'writable again after', value: Math.max(...times), unit: 'ms' })
}

async function makeWriters(target: Target, options: RoundOptions): Promise<Writer[]> {
  return [
    await pusher(target, 'push-1', options.folder),
    await committer(target, 'api-1'),
    creator(target, 'branches', 'branch-1'),
    creator(target, 'tags', 'tag-1'),
    merger(target),
    uploader(target, randomOf(options.seed, -2)),
    issueWriter(target),
    wikiWriter(target),
  ]
}

function writeAll(writers: readonly Writer[]): Promise<Outcome[]> {
  return Promise.all(writers.map((writer) => writer.write()))
}

/** Some writes still find a place; one that does not is refused with 507, and git's with a sentence. */
async function writeOnFull(
  writers: readonly Writer[],
  answers: Map<string, number>,
  fail: (what: string, kind?: string) => void,
): Promise<void> {
  const outcomes = await writeAll(writers)
  outcomes.forEach((outcome, at) => {
    const writer = writers[at]?.name ?? ''
    const answer = outcome.kind === 'done' ? 'done' : outcome.reason
    const known = sort(outcome)
    answers.set(known, (answers.get(known) ?? 0) + 1)
    if (known === 'other') {
      fail(`on the full disk, ${writer}: ${answer}`, `${writer}: ${answer.slice(0, 40)}`)
    }
  })
}

/** The answer to a refused write. */
function sort(outcome: Outcome): 'done' | '507' | 'git' | 'other' {
  if (outcome.kind === 'done') return 'done'
  if (outcome.reason.startsWith('507')) return '507'
  // The git program shows what the server says, or its own words about a status.
  return /remote:|returned error: 507|no space|disk/i.test(outcome.reason) ? 'git' : 'other'
}

async function restartOnFull(server: TortureServer, fail: (what: string) => void): Promise<void> {
  const pid = server.mainPid()
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
  await sleep(200)
  if (!(await server.answers(30_000))) fail('the server does not start on the full disk')
}

async function readOnFull(
  { api, id }: Target,
  fail: (what: string, kind?: string) => void,
): Promise<void> {
  const paths = ['', '/issues', '/repository/tree', '/repository/commits', '/merge_requests']
  for (const path of paths) {
    try {
      const { status } = await api.call('GET', `/projects/${id}${path}`)
      if (status !== 200) fail(`on the full disk, reading ${path} answers ${status}`)
    } catch (error) {
      fail(`on the full disk, reading ${path}: ${String(error)}`)
    }
  }
}

/** Milliseconds until every kind of write is done again. */
async function recover(writers: readonly Writer[], fail: (what: string) => void): Promise<number> {
  const started = performance.now()
  for (;;) {
    const outcomes = await writeAll(writers)
    const milliseconds = performance.now() - started
    const refused = outcomes.flatMap((one) => (one.kind === 'done' ? [] : [one.reason]))
    if (refused.length === 0) return milliseconds
    if (milliseconds > RECOVER_MS) {
      fail(`with space again: ${refused[0]}`)
      return milliseconds
    }
    await sleep(200)
  }
}

async function checkAll(
  writers: readonly Writer[],
  fail: (what: string, kind?: string) => void,
): Promise<void> {
  for (const writer of writers) {
    for (const fault of await writer.check()) fail(fault, `lost: ${writer.name}`)
  }
}
