import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildLongHistory } from '../../fixtures/repositories/long-history.ts'
import { benchPipelines } from './ci/pipelines.ts'
import { benchEngine } from './engine.ts'
import { benchLoad } from './engine-load.ts'
import { formatResult, formatTable, git, isMet, type Row } from './measure.ts'
import { benchMonitoring } from './monitoring.ts'
import { freePort } from './package-servers.ts'
import { benchPackages } from './packages.ts'
import { benchReads } from './reads.ts'
import { benchReview } from './review.ts'
import { seedSpaces } from './seed.ts'
import { startServer } from './server.ts'
import { benchSpaces } from './spaces.ts'
import { startTimer, type Timer } from './timer.ts'
import { type BenchPlace, benchTransport } from './transport.ts'

const usage = `usage: npm run bench -- [options]
  --repository <path>  measure with this repository instead of one that is made
  --commits <n>        commits of the one that is made (20,000)
  --only <part>        clone, first-push, push, shallow, shallow-again, refs, gigabyte, crowd, engine,
                       crowded-engine, reads, review, pipelines, monitoring, packages or spaces alone
  --rows <words>       of the engine's part only rows whose name holds one of these, comma between;
                       of packages only files, uploads, virtual, lists, pip or npm
  --data <folder>      data folder to make, or to use again as an earlier run left it (engine alone)
  --load               also push a gigabyte, and let 120 clients come at once
  --json <file>        where the results go (bench.json)
  --strict             fail when a target is missed`

const root = resolve(import.meta.dirname, '../..')

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      repository: { type: 'string' },
      commits: { type: 'string', default: '20000' },
      load: { type: 'boolean', default: false },
      only: { type: 'string' },
      rows: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'string', default: 'bench.json' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'gitstead-bench-'))
  const say = (line: string) => process.stderr.write(`· ${line}\n`)
  const rows: Row[] = []
  try {
    for await (const row of measureAll(folder, values, say)) {
      rows.push(row)
      say(`${row.what}: ${formatResult(row)}`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  process.stdout.write(`${formatTable(rows)}\n`)
  await writeFile(values.json, `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`)
  if (values.strict && !rows.every(isMet)) process.exitCode = 1
}

interface Options {
  readonly repository?: string | undefined
  readonly commits: string
  readonly load: boolean
  readonly only?: string | undefined
  readonly rows?: string | undefined
  readonly data?: string | undefined
}

type Say = (line: string) => void

async function* measureAll(folder: string, options: Options, say: Say): AsyncGenerator<Row> {
  const { only } = options
  if (only === undefined || only === 'spaces') {
    say('spaces')
    yield* benchSpaces()
  }
  if (only === undefined || only === 'reads') yield* benchApi(join(folder, 'reads'), say)
  if (only === undefined || only === 'review') {
    say('review')
    yield* benchReviews(join(folder, 'reviews'), say)
  }
  if (only === undefined || only === 'pipelines') yield* benchCi(join(folder, 'ci'), say)
  if (only === undefined || only === 'monitoring') {
    yield* benchAlerts(join(folder, 'monitoring'), say)
  }
  if (only === undefined || only === 'packages') {
    yield* benchRegistries(join(folder, 'packages'), options.rows?.split(','), say)
  }
  const others = ['spaces', 'reads', 'review', 'pipelines', 'monitoring', 'packages']
  if (only === undefined || !others.includes(only)) {
    yield* benchGit(folder, options, say)
  }
}

/** The REST API on many projects. */
async function* benchApi(folder: string, say: Say): AsyncGenerator<Row> {
  let projectIds: readonly number[] = []
  const server = await startServer(root, folder, async (db, userId) => {
    projectIds = await seedSpaces(db, userId)
  })
  try {
    yield* benchReads({ server, projectIds, say })
  } finally {
    await server.stop()
  }
}

/** Pipelines of one project. */
async function* benchCi(folder: string, say: Say): AsyncGenerator<Row> {
  const server = await startServer(root, join(folder, 'data'))
  try {
    yield* benchPipelines({ server, folder, say })
  } finally {
    await server.stop()
  }
}

/** Reviews on one project. */
async function* benchReviews(folder: string, say: Say): AsyncGenerator<Row> {
  const server = await startServer(root, join(folder, 'data'))
  const timer = startTimer()
  try {
    yield* benchReview({ server, timer, folder, say })
  } finally {
    timer.stop()
    await server.stop()
  }
}

/** Alerts and errors. */
async function* benchAlerts(folder: string, say: Say): AsyncGenerator<Row> {
  const server = await startServer(root, folder)
  try {
    yield* benchMonitoring({ server, say })
  } finally {
    await server.stop()
  }
}

/** Package registries. */
async function* benchRegistries(
  folder: string,
  rows: readonly string[] | undefined,
  say: Say,
): AsyncGenerator<Row> {
  const port = await freePort()
  // Metadata holds the addresses of files.
  const server = await startServer(root, join(folder, 'data'), undefined, {
    GITSTEAD_PORT: String(port),
    GITSTEAD_SSH_PORT: '0',
    GITSTEAD_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    GITSTEAD_OUTBOUND_ALLOW: '127.0.0.1',
  })
  try {
    yield* benchPackages({ server, folder, say }, rows)
  } finally {
    await server.stop()
  }
}

/** Transport and engine on one repository. */
async function* benchGit(folder: string, options: Options, say: Say): AsyncGenerator<Row> {
  const { only, load } = options
  const source = join(folder, 'source.git')
  await makeSource(source, options.repository, Number(options.commits), say)
  const data = options.data === undefined ? join(folder, 'data') : resolve(options.data)
  const server = await startServer(root, data)
  const timer = startTimer()
  try {
    const work = join(folder, 'work')
    await mkdir(work)
    const place = { server, timer, source, folder: work, load, only, say }
    if (only !== 'engine' && only !== 'crowded-engine') yield* benchTransport(place)
    if (only === undefined || only.endsWith('engine')) {
      say('engine')
      yield* benchRepository(place, timer, options.rows?.split(','))
    }
  } finally {
    timer.stop()
    await server.stop()
  }
}

/** A bare repository to measure with: a copy of one, or a history that is made. */
async function makeSource(
  path: string,
  repository: string | undefined,
  commits: number,
  say: (line: string) => void,
): Promise<void> {
  if (repository !== undefined) {
    await git(root, ['clone', '-q', '--mirror', resolve(repository), path])
    return
  }
  say(`making a repository of ${commits} commits`)
  await buildLongHistory(path, { commits })
}

/** Everything that the REST API does with a repository, on a project of its own. */
async function* benchRepository(
  place: BenchPlace,
  timer: Timer,
  rows: readonly string[] | undefined,
): AsyncGenerator<Row> {
  const { server, source, folder, only } = place
  if (!(await server.has('engine'))) {
    await git(source, ['push', '-q', '--mirror', server.remote('engine')])
    place.say('waiting for background work')
    await sleep(15_000)
  }
  const stored = await server.repository('engine')
  const branch = await git(stored, ['symbolic-ref', '--short', 'HEAD'])
  const id = encodeURIComponent('bench/engine')
  const number = Number(basename(stored, '.git'))
  const project = { server, timer, id, number, branch, stored, folder }
  if (only !== 'crowded-engine') yield* benchEngine(project, rows, place.say)
  if (only === 'crowded-engine' || place.load) yield* benchLoad(project)
}

await run()
