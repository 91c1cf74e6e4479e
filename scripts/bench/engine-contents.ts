import { readLastCommits } from '../../src/git/history/last-commits.ts'
import { readLog } from '../../src/git/history/log.ts'
import type { Repo } from '../../src/git/repo.ts'
import { openGit } from '../../src/git/store.ts'
import { callOf, gitTimeOf, type Project } from './api.ts'
import { compareTimes, git, median, milliseconds, type Row } from './measure.ts'
import { ask, type Measurement, measurementOf, type Question } from './question.ts'
import type { Subjects } from './subjects.ts'

const flatEntries = 500

/** Trees, blobs, files and single commits. */
export function contents(subjects: Subjects): Measurement[] {
  return [
    { what: `root tree of ${flatEntries} entries`, measure: flatTree },
    ...questions(subjects).map(measurementOf),
    { what: 'raw file of 2 MB', measure: largeFile },
    { what: `last commit of each of ${flatEntries} entries`, measure: lastCommits },
  ]
}

function questions({ head, blob, file, entries }: Subjects): Question[] {
  const name = encodeURIComponent(file)
  return [
    {
      what: 'root tree, its first 100',
      ours: () => 'tree?per_page=100',
      theirs: () => ['ls-tree', 'HEAD'],
      limit: 0.3,
    },
    {
      what: `recursive tree of ${entries} entries`,
      ours: () => 'tree?recursive=true&pagination=none',
      theirs: () => ['ls-tree', '-r', '-t', 'HEAD'],
      limit: 1,
    },
    {
      what: 'small blob',
      ours: () => `blobs/${blob}`,
      theirs: () => ['cat-file', 'blob', blob],
      limit: 0.3,
    },
    {
      what: 'raw blob',
      ours: () => `blobs/${blob}/raw`,
      theirs: () => ['cat-file', 'blob', blob],
      limit: 0.3,
    },
    {
      what: 'raw file',
      ours: () => `files/${name}/raw?ref=HEAD`,
      theirs: () => ['cat-file', 'blob', `HEAD:${file}`],
      limit: 0.3,
    },
    {
      what: 'file',
      ours: () => `files/${name}?ref=HEAD`,
      theirs: () => ['log', '-1', '--', file],
      limit: 0.3,
    },
    {
      what: 'single commit',
      ours: () => `commits/${head}`,
      theirs: () => ['show', '--shortstat', '--format=raw', head],
      limit: 0.3,
    },
    {
      what: 'blame',
      ours: () => `files/${name}/blame?ref=HEAD`,
      theirs: () => ['blame', '--porcelain', 'HEAD', '--', file],
      limit: 1.2,
    },
  ]
}

/** A commit whose tree is nothing but files, all in its root: listed whole by both. */
async function* flatTree(project: Project): AsyncGenerator<Row> {
  const files = (await git(project.stored, ['ls-tree', '-r', 'HEAD'])).split('\n')
  const lines = files
    .filter((line) => line.startsWith('100644'))
    .slice(0, flatEntries)
    .map((line, i) => `${line.split('\t')[0]}\tfile-${String(i).padStart(4, '0')}.txt\n`)
  const tree = await git(project.stored, ['mktree'], lines.join(''))
  const commit = await git(project.stored, ['commit-tree', '-m', 'Flat', tree])
  yield await ask(project, {
    what: `root tree of ${lines.length} entries`,
    ours: () => `tree?ref=${commit}&recursive=true&pagination=none`,
    theirs: () => ['ls-tree', commit],
    limit: 0.3,
  })
}

const largeBytes = 2_000_000
const clients = 16

/** A text of two megabytes, downloaded again and again by one client, then by many at once. */
async function* largeFile(project: Project): AsyncGenerator<Row> {
  const { stored, timer } = project
  const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}: ${(i * i) % 99_991}\n`)
  const text = lines.join('').slice(0, largeBytes - 1)
  const blob = await git(stored, ['hash-object', '-w', '--stdin'], `${text}\n`)
  const tree = await git(stored, ['mktree'], `100644 blob ${blob}\tlarge.txt\n`)
  const commit = await git(stored, ['commit-tree', '-m', 'Large', tree])
  const call = callOf(project, `repository/files/large.txt/raw?ref=${commit}`)
  const inTurn = () => timer.block(Array.from({ length: 30 }, () => ({ http: call })))
  const atOnce = () => timer.crowd(Array.from({ length: clients }, () => call))
  const rate = (what: string, bytes: number, times: readonly number[], limit: number): Row => {
    const value = bytes / 1000 / median(times)
    const ours = `${median(times).toFixed(1)} ms`
    return { what, ours, theirs: '', value, unit: 'MB/s', limit, atLeast: true }
  }
  await inTurn()
  yield rate('raw file of 2 MB, one client', largeBytes, await inTurn(), 250)
  await atOnce()
  const times: number[] = []
  for (let round = 0; round < 7; round++) times.push(await atOnce())
  yield rate(`raw file of 2 MB, ${clients} clients together`, clients * largeBytes, times, 400)
}

/** The folder with the number of entries nearest to what is asked. */
async function folderOf(project: Project, count: number): Promise<string> {
  const sizes = new Map<string, number>()
  for (const path of (await git(project.stored, ['ls-tree', '-r', '--name-only', 'HEAD'])).split(
    '\n',
  )) {
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), 0))
    if (folder !== '') sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
  }
  const away = (folder: string) => Math.abs((sizes.get(folder) ?? 0) - count)
  return [...sizes.keys()].sort((a, b) => away(a) - away(b))[0] ?? ''
}

/**
 * No endpoint gives this by itself, so the engine is asked, in a process of its own as the server has
 * it. One walk of git's names what every commit changed in the folder.
 */
async function* lastCommits(project: Project): AsyncGenerator<Row> {
  const folder = await folderOf(project, flatEntries)
  const log = ['log', '--format=%H', '--name-only', 'HEAD', '--', folder === '' ? '.' : folder]
  let entries = 0
  const ask = (repo: Repo) =>
    milliseconds(async () => {
      entries = (await readLastCommits(repo, { ref: 'HEAD', path: folder })).entries.length
    })
  const again: number[] = []
  // A process that has loaded the history, but knows nothing of any folder.
  const coldly = async () => {
    const store = openGit({ dataDir: project.server.data, engineProcesses: 1 })
    try {
      const repo = store.open(project.number)
      await readLog(repo, { order: 'topo', limit: 20 })
      const time = await ask(repo)
      for (let i = 0; i < 3; i++) again.push(await ask(repo))
      return time
    } finally {
      await store.close()
    }
  }
  const row = await compareTimes({ what: '', rounds: 7, limit: 1 }, coldly, () =>
    gitTimeOf(project, log),
  )
  const what = `last commit of each of ${entries} entries`
  yield { ...row, what: `${what}, first time` }
  const value = median(again)
  yield {
    what: `${what}, again`,
    ours: `${value.toFixed(1)} ms`,
    theirs: '',
    value,
    unit: 'ms',
    limit: 20,
  }
}
