import { lstat, opendir } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { patternMatcher } from '../base/patterns/compiled.ts'
import { globPattern } from '../base/patterns/glob.ts'

const MOST_FILES = 200_000

/** A file or link below a folder, by its path from there. */
export interface FoundFile {
  readonly path: string
  readonly isLink: boolean
}

type Matcher = (path: string) => boolean

/** What a pattern names, as stock runners read it; a folder stands for all that is in it. */
function matcherOf(glob: string): Matcher | undefined {
  const clean = normalize(glob.replace(/^\.\//, '')).replace(/\/+$/, '')
  if (clean.startsWith('..') || clean.startsWith('/')) return undefined
  if (clean === '.' || clean === '') return () => true
  // Most name a file or folder: there may be many files to look at.
  if (!/[*?[{]/.test(clean)) return (path) => path === clean || path.startsWith(`${clean}/`)
  const isOne = patternMatcher(globPattern(clean))
  const isBelow = patternMatcher(globPattern(`${clean}/**`))
  return (path) => isOne(path) || isBelow(path)
}

/** The files below a folder that some patterns name and no exclusion does; patterns that leave the folder name nothing. */
export async function findFiles(
  folder: string,
  given: { readonly paths: readonly string[]; readonly exclude: readonly string[] },
): Promise<FoundFile[]> {
  const wanted = given.paths.flatMap((path) => matcherOf(path) ?? [])
  const excluded = given.exclude.flatMap((path) => matcherOf(path) ?? [])
  if (wanted.length === 0) return []
  const found: FoundFile[] = []
  for await (const file of walk(folder, '')) {
    const isWanted = wanted.some((matches) => matches(file.path))
    if (!isWanted || excluded.some((matches) => matches(file.path))) continue
    if (found.length >= MOST_FILES) throw new Error(`more than ${MOST_FILES} files`)
    found.push(file)
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Every file and link below a folder but git's own. */
async function* walk(folder: string, below: string): AsyncGenerator<FoundFile> {
  const folders: string[] = []
  // Read piece by piece: one folder may have more files than there is memory for their names.
  for await (const entry of await opendir(join(folder, below), { bufferSize: 256 })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (path === '.git') continue
    if (entry.isDirectory()) folders.push(path)
    else if (entry.isFile() || entry.isSymbolicLink()) {
      yield { path, isLink: entry.isSymbolicLink() }
    }
  }
  for (const path of folders) yield* walk(folder, path)
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() ?? false
}
