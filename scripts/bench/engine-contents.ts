import { callOf, type Project } from './api.ts'
import { git, median, type Row } from './measure.ts'
import { ask, type Measurement, measurementOf, type Question } from './question.ts'
import type { Subjects } from './subjects.ts'

const flatEntries = 500

/** Trees, blobs, files and single commits. */
export function contents(subjects: Subjects): Measurement[] {
  return [
    { what: `root tree of ${flatEntries} entries`, measure: flatTree },
    ...questions(subjects).map(measurementOf),
    { what: 'raw file of 2 MB', measure: largeFile },
  ]
}

function questions({ head, blob, file, entries }: Subjects): Question[] {
  const name = encodeURIComponent(file)
  return [
    {
      what: 'root tree, its first 100',
      ours: () => 'tree?per_page=100',
      theirs: () => ['ls-tree', 'HEAD'],
      limit: 0.6,
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
      limit: 0.6,
    },
    {
      what: 'raw blob',
      ours: () => `blobs/${blob}/raw`,
      theirs: () => ['cat-file', 'blob', blob],
      limit: 0.6,
    },
    {
      what: 'raw file',
      ours: () => `files/${name}/raw?ref=HEAD`,
      theirs: () => ['cat-file', 'blob', `HEAD:${file}`],
      limit: 0.6,
    },
    {
      what: 'file',
      ours: () => `files/${name}?ref=HEAD`,
      theirs: () => ['log', '-1', '--', file],
      limit: 0.6,
    },
    {
      what: 'single commit',
      ours: () => `commits/${head}`,
      theirs: () => ['show', '--shortstat', '--format=raw', head],
      limit: 0.6,
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
    limit: 0.6,
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
