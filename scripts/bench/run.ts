import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildLongHistory } from '../../fixtures/repositories/long-history.ts'
import { benchEngine } from './engine.ts'
import { benchLoad } from './engine-load.ts'
import { formatTable, git, isMet, type Row } from './measure.ts'
import { startServer } from './server.ts'
import { type BenchPlace, benchTransport } from './transport.ts'

const usage = `usage: npm run bench -- [options]
  --repository <path>  measure with this repository instead of one that is made
  --commits <n>        commits of the one that is made (20,000)
  --only <part>        clone, first-push, push, shallow, refs, gigabyte, crowd, engine or
                       crowded-engine alone
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
    if (values.repository === undefined) {
      say(`making a repository of ${values.commits} commits`)
      await buildLongHistory(source, { commits: Number(values.commits) })
    } else await git(folder, ['clone', '-q', '--mirror', resolve(values.repository), source])
    const server = await startServer(root, join(folder, 'data'))
    try {
      const work = join(folder, 'work')
      await mkdir(work)
      const place = { server, source, folder: work, load: values.load, only: values.only, say }
      if (values.only !== 'engine' && values.only !== 'crowded-engine') {
        for await (const row of benchTransport(place)) rows.push(row)
      }
      if (values.only === undefined || values.only.endsWith('engine')) {
        say('engine')
        for await (const row of benchRepository(place)) rows.push(row)
      }
    } finally {
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  process.stdout.write(`${formatTable(rows)}\n`)
  await writeFile(values.json, `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`)
  if (values.strict && !rows.every(isMet)) process.exitCode = 1
}

/** Everything that the REST API does with a repository, on a project of its own. */
async function* benchRepository(place: BenchPlace): AsyncGenerator<Row> {
  const { server, source, folder, only } = place
  await git(source, ['push', '-q', '--mirror', server.remote('engine')])
  const stored = await server.repository('engine')
  const branch = await git(stored, ['symbolic-ref', '--short', 'HEAD'])
  const project = { server, id: encodeURIComponent('bench/engine'), branch, stored, folder }
  place.say('waiting for background work')
  await sleep(15_000)
  if (only !== 'crowded-engine') yield* benchEngine(project)
  if (only === 'crowded-engine' || place.load) yield* benchLoad(project)
}

await run()
