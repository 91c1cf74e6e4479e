import { PatternBudget } from '../../base/patterns/budget.ts'
import { globPattern } from '../../base/patterns/glob.ts'
import { type Pattern, PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import { readAttributeFiles } from '../../git/objects/attribute-files.ts'
import type { Repo } from '../../git/repo.ts'
import { isGenerated } from './generated-names.ts'

/** What a repository says of how its files are shown in reviews. */
export interface ShownAs {
  /** A program writes the file: `linguist-generated` or `gitlab-generated`, or else its name says so. */
  readonly generated: boolean
  /** Its lines are not worth a look: `-diff`, or `binary`. */
  readonly suppressed: boolean
}

const marks = ['linguist-generated', 'gitlab-generated', 'diff'] as const
type Mark = (typeof marks)[number]

/** One line of a file: what it says of the paths that fit. */
interface Line {
  /** Of the paths below this folder; `src/`, or empty. */
  readonly folder: string
  readonly pattern: Pattern
  /** Without a slash a pattern means names, wherever they are. */
  readonly byName: boolean
  readonly says: readonly (readonly [Mark, boolean | undefined])[]
}

/** More are not looked at: each line is compared with each path. */
const MOST_LINES = 200
const MOST_FOLDERS = 500
const LARGEST_FILE = 100 * 1024

/** How files are shown that a diff names, as the `.gitattributes` of a commit have it. */
export async function shownAs(
  repo: Repo,
  ref: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<(path: string) => ShownAs> {
  const folders = foldersOf(paths)
  const files = await readAttributeFiles(repo, { ref, folders, limit: LARGEST_FILE }, signal)
  const lines = files.flatMap(({ folder, text }) => parseAttributes(text, folder))
  const said = await marksOf(lines.slice(-MOST_LINES), paths)
  return (path) => {
    const own = said.get(path)
    const asked = [own?.get('linguist-generated'), own?.get('gitlab-generated')]
    const named = asked.find((one) => one === true) ?? asked.find((one) => one !== undefined)
    return { generated: named ?? isGenerated(path), suppressed: own?.get('diff') === false }
  }
}

/** The folders that the paths are in and those above, from the root down. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set([''])
  for (const path of paths) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      folders.add(path.slice(0, at))
    }
  }
  return [...folders]
    .sort((a, b) => a.split('/').length - b.split('/').length || 0)
    .slice(0, MOST_FOLDERS)
}

/** The lines of a file that say something of how files are shown. */
export function parseAttributes(text: string, folder: string): Line[] {
  return text.split(/\r?\n/).flatMap((raw) => {
    const [pattern, ...words] = raw.trim().split(/\s+/)
    const isNone = !pattern || /^[#!["]/.test(pattern) || pattern.endsWith('/')
    const says = isNone ? [] : words.flatMap(markOf)
    if (isNone || says.length === 0) return []
    const byName = !pattern.includes('/')
    // Braces mean nothing here.
    const glob = globPattern(pattern.replaceAll(/[{}]/g, '[$&]'))
    return [{ folder: folder === '' ? '' : `${folder}/`, pattern: glob, byName, says }]
  })
}

/** `diff`, `-diff`, `!diff` or `diff=word`; `binary` is a word for several. */
function markOf(word: string): (readonly [Mark, boolean | undefined])[] {
  if (word === 'binary') return [['diff', false]]
  const [, sign = '', name = '', value] = /^([-!]?)([^=]+)(?:=(.*))?$/.exec(word) ?? []
  const mark = marks.find((one) => one === name)
  if (!mark) return []
  if (sign === '!') return [[mark, undefined]]
  return [[mark, sign !== '-' && value !== 'false']]
}

type Marks = Map<Mark, boolean | undefined>

/** What is said of each path: of several lines the last one counts. */
async function marksOf(
  lines: readonly Line[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, Marks>> {
  const said = new Map<string, Marks>()
  const budget = new PatternBudget()
  try {
    for (const { folder, pattern, byName, says } of lines) {
      const below = paths.filter((path) => path.startsWith(folder))
      const texts = below.map((path) =>
        path.slice(byName ? path.lastIndexOf('/') + 1 : folder.length),
      )
      const fits = await budget.testEach([pattern], texts)
      for (const path of below.filter((_, at) => fits[at])) {
        const own = said.get(path) ?? new Map()
        for (const [mark, value] of says) own.set(mark, value)
        said.set(path, own)
      }
    }
  } catch (error) {
    // Patterns that take too long say nothing more: how files are shown is a hint.
    if (!(error instanceof PatternLimitError || error instanceof PatternSyntaxError)) throw error
  }
  return said
}
