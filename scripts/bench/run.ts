import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildLongHistory } from '../../fixtures/repositories/long-history.ts'
import { benchEngine } from './engine.ts'
import { benchLoad } from './engine-load.ts'
import { formatTable, git, isMet, type Row } from './measure.ts'
import { startServer } from './server.ts'
import { startTimer, type Timer } from './timer.ts'
import { type BenchPlace, benchTransport } from './transport.ts'

const usage = `usage: npm run bench -- [options]
  --repository <path>  measure with this repository instead of one that is made
  --commits <n>        commits of the one that is made (20,000)
  --only <part>        clone, first-push, push, shallow, refs, gigabyte, crowd, engine or
                       crowded-engine alone
  --rows <words>       of the engine's part only rows whose name holds one of these, comma between
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
    const source = join(folder, 'source.git')
    await makeSource(source, values.repository, Number(values.commits), say)
    const data = values.data === undefined ? join(folder, 'data') : resolve(values.data)
    const server = await startServer(root, data)
    const timer = startTimer()
    try {
      const work = join(folder, 'work')
      await mkdir(work)
      const place = { server, source, folder: work, load: values.load, only: values.only, say }
      if (values.only !== 'engine' && values.only !== 'crowded-engine') {
        for await (const row of benchTransport(place)) rows.push(row)
      }
      if (values.only === undefined || values.only.endsWith('engine')) {
        say('engine')
        for await (const row of benchRepository(place, timer, values.rows?.split(',')))
          rows.push(row)
      }
    } finally {
      timer.stop()
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  process.stdout.write(`${formatTable(rows)}\n`)
  await writeFile(values.json, `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`)
  if (values.strict && !rows.every(isMet)) process.exitCode = 1
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
