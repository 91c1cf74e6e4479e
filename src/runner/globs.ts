import { lstat, readdir } from 'node:fs/promises'
import { join, normalize } from 'node:path'

const MOST_FILES = 200_000

/** A file or link below a folder, by its path from there. */
export interface FoundFile {
  readonly path: string
  readonly isLink: boolean
}

/** `**` stands for folders, `*` and `?` for parts of a name; a folder stands for all that is in it. */
function patternOf(glob: string): RegExp | undefined {
  const clean = normalize(glob.replace(/^\.\//, '')).replace(/\/+$/, '')
  if (clean.startsWith('..') || clean.startsWith('/')) return undefined
  if (clean === '.' || clean === '') return /^/
  const source = clean
    .split('/')
    .map((part, index, all) => {
      const isLast = index === all.length - 1
      if (part === '**') return isLast ? '.*' : '(?:[^/]+/)*'
      const inner = part
        .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^/]*')
        .replaceAll('?', '[^/]')
      return isLast ? inner : `${inner}/`
    })
    .join('')
  return new RegExp(`^${source}(?:/|$)`)
}

/** The files below a folder that some patterns name and no exclusion does; patterns that leave the folder name nothing. */
export async function findFiles(
  folder: string,
  given: { readonly paths: readonly string[]; readonly exclude: readonly string[] },
): Promise<FoundFile[]> {
  const wanted = given.paths.flatMap((path) => patternOf(path) ?? [])
  const excluded = given.exclude.flatMap((path) => patternOf(path) ?? [])
  if (wanted.length === 0) return []
  const found: FoundFile[] = []
  for await (const file of walk(folder, '')) {
    const isWanted = wanted.some((one) => one.test(file.path))
    if (!isWanted || excluded.some((one) => one.test(file.path))) continue
    if (found.length >= MOST_FILES) throw new Error(`more than ${MOST_FILES} files`)
    found.push(file)
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Every file and link below a folder but git's own. */
async function* walk(folder: string, below: string): AsyncGenerator<FoundFile> {
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (path === '.git') continue
    if (entry.isDirectory()) yield* walk(folder, path)
    else if (entry.isFile() || entry.isSymbolicLink()) {
      yield { path, isLink: entry.isSymbolicLink() }
    }
  }
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() ?? false
}
