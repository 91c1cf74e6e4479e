import { existsSync } from 'node:fs'
import { access, constants, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../base/config.ts'
import { silentLog } from '../base/log.ts'
import { ownerOf } from '../base/process-mark.ts'
import { StartError } from '../base/start-error.ts'
import { findFaults } from '../git/maintenance/faults.ts'
import { listUnfinished } from '../git/maintenance/left-over-all.ts'
import type { RepoName } from '../git/repo-name.ts'
import { openCommandParts, type Parts } from '../parts.ts'
import type { Db } from '../store/schema.ts'
import { tryLockDataFolder } from '../store/sqlite/lock.ts'
import { listLeftTemporary } from '../store/temporary.ts'
import { command } from './command.ts'
import type { Progress } from './progress.ts'
import {
  countDeadTasks,
  countProjects,
  listProjectsAfter,
  listWikisAndSnippetsAfter,
} from './queries.ts'
import { gitVersion } from './version.ts'

/** `core.fsync` came with it. */
const LEAST_GIT = [2, 36] as const
const LEAST_FREE_BYTES = 1024 ** 3
const LEFTOVER_MS = 24 * 60 * 60 * 1000

type State = 'ok' | 'warning' | 'failure'

interface Finding {
  readonly name: string
  readonly state: State
  readonly text: string
}

interface Manner {
  readonly deep: boolean
  readonly mend: boolean
  readonly signal: AbortSignal
}

export const doctor = command({
  name: 'doctor',
  summary: 'Check the machine, the database and every repository',
  args: [],
  options: {
    fsck: { type: 'boolean', doc: 'Read every object of every repository, which takes long' },
    mend: { type: 'boolean', doc: 'Remove what a crash left behind' },
  },
  async run({ options, config, progress, signal }) {
    const manner = { deep: options.fsck ?? false, mend: options.mend ?? false, signal }
    const findings = await findAll(config(), manner, progress)
    const worst = findings.some(({ state }) => state === 'failure')
    const signs = { ok: 'ok      ', warning: 'warning ', failure: 'FAILURE ' }
    return {
      lines: findings.map(({ name, state, text }) => `${signs[state]}${name}: ${text}`),
      data: { healthy: !worst, findings },
      exitCode: worst ? 1 : 0,
    }
  },
})

async function findAll(config: Config, manner: Manner, progress: Progress): Promise<Finding[]> {
  const findings = [await gitFinding(), await folderFinding(config)]
  if (!existsSync(join(config.data, 'gitstead.db'))) {
    return [...findings, finding('database', 'ok', 'none yet, the first start makes it')]
  }
  findings.push(await spaceFinding(config), serverFinding(config))
  let parts: Parts
  try {
    parts = await openCommandParts(config, { log: silentLog, mayMigrate: false })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return [...findings, finding('database', 'failure', error.message)]
  }
  try {
    findings.push(...databaseFindings(parts), await taskFinding(parts))
    findings.push(await leftoverFinding(parts, config, manner))
    return [...findings, ...(await repositoryFindings(parts, manner, progress))]
  } finally {
    await parts.close()
  }
}

function finding(name: string, state: State, text: string): Finding {
  return { name, state, text }
}

async function gitFinding(): Promise<Finding> {
  const found = await gitVersion()
  if (found === undefined) return finding('git', 'failure', 'the program git is missing')
  const [major = 0, minor = 0] = found.split('.').map(Number)
  const [leastMajor, leastMinor] = LEAST_GIT
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  const advice = enough ? '' : `, ${LEAST_GIT.join('.')} or newer is needed`
  return finding('git', enough ? 'ok' : 'failure', `version ${found}${advice}`)
}

async function folderFinding({ data }: Config): Promise<Finding> {
  if (!existsSync(data)) return finding('data folder', 'ok', `${data} is made by the first start`)
  const writable = await access(data, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (writable) return finding('data folder', 'ok', data)
  return finding('data folder', 'failure', `${data} cannot be written by this user`)
}

async function spaceFinding({ data }: Config): Promise<Finding> {
  const { bavail, bsize } = await statfs(data)
  const free = bavail * bsize
  const text = `${(free / 1024 ** 3).toFixed(1)} GB free`
  return finding('disk', free < LEAST_FREE_BYTES ? 'warning' : 'ok', text)
}

function serverFinding({ data }: Config): Finding {
  const lock = tryLockDataFolder(data)
  lock?.release()
  return finding('server', 'ok', lock === undefined ? 'one is running' : 'none is running')
}

function databaseFindings({ store }: Parts): Finding[] {
  const faults = store.faults()
  if (faults.length === 0) return [finding('database', 'ok', 'whole')]
  return faults.map((fault) => finding('database', 'failure', fault))
}

async function taskFinding({ store }: Parts): Promise<Finding> {
  const dead = await countDeadTasks(store.db)
  if (dead === 0) return finding('background work', 'ok', 'nothing has failed')
  return finding('background work', 'warning', `${dead} tasks have failed for good`)
}

/** Uploads, imports and repositories whose process is gone before they were done. */
async function leftoverFinding(
  { now }: Parts,
  { data }: Config,
  { mend }: Manner,
): Promise<Finding> {
  const before = Date.parse(now()) - LEFTOVER_MS
  const paths = [
    ...(await leftIn(join(data, 'tmp'), before)),
    ...(await leftIn(join(data, 'files', 'tmp'), before)),
    ...(await listUnfinished(join(data, 'repositories'))),
  ]
  if (mend) for (const path of paths) await rm(path, { recursive: true, force: true })
  const old = paths.length
  if (old === 0) return finding('temporary files', 'ok', 'none left over')
  if (mend) return finding('temporary files', 'ok', `removed ${old} left over by a crash`)
  return finding('temporary files', 'warning', `${old} left over by a crash, see --mend`)
}

/** What names no process may be of a program that runs: it counts once it is old. */
async function leftIn(folder: string, before: number): Promise<string[]> {
  const left: string[] = []
  for (const name of await listLeftTemporary(folder)) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    const isLeft = ownerOf(name) !== undefined || (found?.mtimeMs ?? before) < before
    if (isLeft) left.push(join(folder, name))
  }
  return left
}

async function repositoryFindings(
  parts: Parts,
  manner: Manner,
  progress: Progress,
): Promise<Finding[]> {
  const { db } = parts.store
  const total = await countProjects(db)
  const findings: Finding[] = []
  let seen = 0
  for await (const repository of allRepositories(db)) {
    manner.signal.throwIfAborted()
    seen += 1
    progress.say(`repository ${seen}, of ${total} projects: ${repository.title}`)
    findings.push(...(await oneRepository(parts, repository, manner)))
  }
  const bad = findings.some(({ state }) => state !== 'ok')
  return bad ? findings : [...findings, finding('repositories', 'ok', `${seen} checked`)]
}

interface Known {
  readonly name: RepoName
  /** What it is called in findings. */
  readonly title: string
}

/** The code of every project, then every wiki and snippet. */
async function* allRepositories(db: Db): AsyncGenerator<Known> {
  for (let last = 0; ; ) {
    const projects = await listProjectsAfter(db, last, 200)
    if (projects.length === 0) break
    for (const { id, full_path } of projects) {
      last = id
      yield { name: id, title: `${full_path} (${id})` }
    }
  }
  for (let last = 0; ; ) {
    const found = await listWikisAndSnippetsAfter(db, last, 200)
    if (found.length === 0) break
    for (const row of found) {
      last = row.id
      yield knownWikiOrSnippet(row)
    }
  }
}

function knownWikiOrSnippet(
  row: Awaited<ReturnType<typeof listWikisAndSnippetsAfter>>[number],
): Known {
  const { project_id, group_id, snippet_id } = row
  if (project_id !== null) {
    const title = `${row.project_path}.wiki (${project_id})`
    return { name: { kind: 'project_wiki', id: project_id }, title }
  }
  if (group_id !== null) {
    const title = `${row.group_path}.wiki (group ${group_id})`
    return { name: { kind: 'group_wiki', id: group_id }, title }
  }
  return { name: { kind: 'snippet', id: snippet_id ?? 0 }, title: `snippet ${snippet_id}` }
}

async function oneRepository(parts: Parts, known: Known, manner: Manner): Promise<Finding[]> {
  const { git } = parts.makeCtx()
  const name = `repository ${known.title}`
  if (!(await git.exists(known.name))) return [finding(name, 'failure', 'is missing on disk')]
  const { faults, mended } = await findFaults(git.open(known.name), manner)
  return [
    ...mended.map((text) => finding(name, 'ok', text)),
    ...faults.map((text) => finding(name, 'failure', text)),
  ]
}
