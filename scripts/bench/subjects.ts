import { git } from './measure.ts'

/** What the questions are about, chosen from the repository itself. */
export interface Subjects {
  readonly head: string
  readonly blob: string
  /** Files and folders from all over the tree. */
  readonly paths: readonly string[]
  /** Commits of the first-parent line, newest first. */
  readonly line: readonly string[]
  /** Dates of that line, from all over it, newest first. */
  readonly years: readonly string[]
  /** A text file of a middling size. */
  readonly file: string
  /** Entries of the whole tree, folders included. */
  readonly entries: number
  /** Where this run starts on the line, so that a kept server has not answered it before. */
  readonly start: number
}

export async function chooseSubjects(stored: string): Promise<Subjects> {
  const lines = async (...args: string[]) => (await git(stored, args)).split('\n').filter(Boolean)
  const files = await lines('ls-tree', '-r', '--name-only', 'HEAD')
  const folders = await lines('ls-tree', '-r', '-d', '--name-only', 'HEAD')
  const file = files.find((name) => /\.(?:c|ts|md|txt)$/.test(name)) ?? files[0] ?? ''
  const [firstParents, dates] = [
    await lines('rev-list', '--first-parent', 'HEAD'),
    await lines('log', '--first-parent', '--format=%cI'),
  ]
  return {
    head: (await lines('rev-parse', 'HEAD'))[0] ?? '',
    blob: (await lines('rev-parse', `HEAD:${file}`))[0] ?? '',
    paths: [...spread(files, 12), ...spread(folders, 3)].filter(Boolean),
    line: firstParents,
    years: spread(dates, 200),
    file,
    entries: files.length + folders.length,
    start: Math.floor(Math.random() * Math.min(1000, firstParents.length / 10)),
  }
}

function spread(from: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, i) => from[Math.floor((i * from.length) / count)] ?? '')
}
