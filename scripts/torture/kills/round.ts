import { setTimeout as sleep } from 'node:timers/promises'
import { leftoversAfter } from '../place/folder.ts'
import { checkRepositories, listDeadTasks } from '../place/inspect.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { type Random, randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { committer, creator, pusher, type Target } from './git-writers.ts'
import { issueWriter, merger, uploader, wikiWriter } from './record-writers.ts'
import type { Writer } from './writer.ts'

/** How soon a server that was killed answers again. */
const START_MS = 120_000
/** How soon locks and temporary folders of dead processes are gone: a second, but tests share a machine. */
const CLEAN_MS = 10_000
/** How long a writer may need for its first change after a kill. */
const WRITE_MS = 30_000

/** SIGKILL at random moments, while everybody writes. */
export const killsRound: Round = {
  name: 'kills',
  summary: 'SIGKILL of server, engine processes and git programs under pushes, commits, uploads',
  unit: 'kills',
  usual: { count: 100, seconds: 0 },
  async run(options, report) {
    const server = await startServer(options.folder, { restart: true })
    try {
      await killAll(server, options, report)
    } finally {
      await server.stop()
    }
    const faults = await checkRepositories(server.data)
    for (const fault of faults) report.fail({ what: `fsck: ${fault}` })
    report.figure({ name: 'damaged repositories', value: faults.length, unit: '', atMost: 0 })
  },
}

async function killAll(
  server: TortureServer,
  options: RoundOptions,
  report: Report,
): Promise<void> {
  const writers = await makeWriters(server, options)
  const killed: Record<string, number> = { main: 0, engine: 0, git: 0 }
  let acknowledged = 0
  const end = options.from + options.count
  for (let at = options.from; at < end; at += 1) {
    const random = randomOf(options.seed, at)
    const fail = (what: string, kind = what) =>
      report.fail({
        what,
        kind,
        again: `--round kills --seed ${options.seed} --from ${at} --count 3`,
      })
    const writing = keepWriting(writers)
    await sleep(random.integer(5, 400))
    const role = await killOne(server, random)
    killed[role] = (killed[role] ?? 0) + 1
    await sleep(random.integer(0, 100))
    acknowledged += await writing.stop()
    if (!(await server.answers(START_MS))) return fail('the server does not start again')
    await checkAfter(server, writers, role, fail)
    if ((at + 1 - options.from) % 25 === 0) report.say(`${at + 1 - options.from} kills`)
  }
  for (const [role, count] of Object.entries(killed)) {
    report.figure({ name: `killed: ${role}`, value: count, unit: 'times' })
  }
  report.figure({ name: 'changes acknowledged', value: acknowledged, unit: 'in all', atLeast: 1 })
}

/** Everybody who writes to a server; to two projects of their own, whose names have this ending. */
export async function makeWriters(
  server: TortureServer,
  options: RoundOptions,
  ending = '',
): Promise<Writer[]> {
  const targets: Target[] = []
  for (const name of [`one${ending}`, `two${ending}`]) {
    const body = { name, initialize_with_readme: true }
    const { id } = await server.root.must('POST', '/projects', body)
    targets.push({ api: server.root, id: Number(id), path: `root/${name}` })
  }
  const [one, two] = targets
  if (one === undefined || two === undefined) throw new Error('no projects')
  return [
    await pusher(one, `push-1${ending}`, options.folder),
    await pusher(two, `push-2${ending}`, options.folder),
    await committer(one, 'api-1'),
    await committer(two, 'api-2'),
    creator(one, 'branches', 'branch-1'),
    creator(two, 'tags', 'tag-1'),
    merger(two),
    uploader(one, randomOf(options.seed, -2)),
    issueWriter(one),
    wikiWriter(one),
  ]
}

/** Lets everybody write until stopped; gives how many changes were acknowledged. */
export function keepWriting(writers: readonly Writer[]): { stop(): Promise<number> } {
  let going = true
  let acknowledged = 0
  const work = writers.map(async (writer) => {
    while (going) {
      const outcome = await writer.write()
      if (outcome.kind === 'done') acknowledged += 1
      // A server that is gone refuses at once.
      else await sleep(20)
    }
  })
  return {
    async stop() {
      going = false
      await Promise.all(work)
      return acknowledged
    },
  }
}

type Victim = 'main' | 'engine' | 'git'

/** Kills one process of the server. A git program lives for moments, so one is waited for. */
async function killOne(server: TortureServer, random: Random): Promise<Victim> {
  const wanted = random.pick<Victim>(['main', 'main', 'engine', 'engine', 'git', 'git'])
  const end = Date.now() + 1000
  while (Date.now() < end) {
    const found = server.processes().filter(({ role }) => role === wanted)
    if (found.length > 0) {
      kill(random.pick(found).pid)
      return wanted
    }
    await sleep(2)
  }
  const pid = server.mainPid()
  if (pid !== undefined) kill(pid)
  return 'main'
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in this moment.
  }
}

async function checkAfter(
  server: TortureServer,
  writers: readonly Writer[],
  role: string,
  fail: (what: string, kind?: string) => void,
): Promise<void> {
  const after = `after the ${role} was killed`
  for (const writer of writers) {
    for (const fault of await writer.check()) {
      fail(`${after}: ${fault}`, `lost: ${writer.name} ${after}`)
    }
  }
  await Promise.all(
    writers.map(async (writer) => {
      const started = performance.now()
      const outcome = await writer.write()
      const milliseconds = performance.now() - started
      if (outcome.kind !== 'done') {
        fail(`${after}, the next ${writer.name}: ${outcome.reason}`, `${writer.name} ${after}`)
      } else if (milliseconds > WRITE_MS) {
        fail(`${after}, the next ${writer.name} took ${Math.round(milliseconds)} ms`)
      }
    }),
  )
  const left = await leftoversAfter(server.data, CLEAN_MS)
  for (const name of left.slice(0, 3)) fail(`${after}, left over: ${name}`, `left over ${after}`)
  const dead = listDeadTasks(server.data)
  if (dead.length > 0) fail(`${after}, dead tasks: ${dead.join(', ')}`, `dead tasks: ${dead[0]}`)
}
