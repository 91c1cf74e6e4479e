import { patternMatcher, quote } from '../../base/patterns/compiled.ts'

/** One line of a CODEOWNERS file. */
export interface OwnerEntry {
  readonly pattern: string
  /** `!pattern`: takes the path out of the section for good. */
  readonly excluded: boolean
  /** `@user`, `@group/sub`, `@@role`, e-mail addresses; as they were written. */
  readonly owners: readonly string[]
}

export interface OwnerSection {
  readonly name: string
  readonly optional: boolean
  readonly approvals: number
  readonly entries: readonly OwnerEntry[]
}

/** The entry of a section that changed paths fall under. */
export interface OwnedFiles {
  readonly section: OwnerSection
  readonly entry: OwnerEntry
  readonly paths: readonly string[]
}

/** Where the file is looked for, the first that exists (docs/contract/B-resolved §7); `folders` are those of the vendor. */
export function codeOwnersPaths(folders: readonly string[]): string[] {
  return ['CODEOWNERS', 'docs/CODEOWNERS', ...folders.map((folder) => `${folder}/CODEOWNERS`)]
}

interface Draft {
  name: string
  optional: boolean
  approvals: number
  defaults: readonly string[]
  entries: OwnerEntry[]
}

const unnamed = 'codeowners'
const header = /^(\^)?\[([^\]]+)\](?:\[(-?\d+)\])?(?:\s+(.*))?$/

/** Reads a CODEOWNERS file (docs/contract/B-resolved §7). Never fails: a line that is no header is an ordinary one. */
export function parseCodeOwners(text: string): OwnerSection[] {
  const sections = new Map<string, Draft>()
  let current = sectionOf(sections, unnamed, false, 1)
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const found = header.exec(line)
    if (found && isHeader(found[4])) {
      const [, caret, name = '', count, owners] = found
      current = sectionOf(sections, name.trim(), caret !== undefined, Number(count ?? 1))
      current.defaults = ownersIn(owners ?? '')
    } else {
      current.entries.push(entryOf(line, current.defaults))
    }
  }
  return [...sections.values()].filter((section) => section.entries.length > 0)
}

/** Behind a header stand owners only; anything else makes it an ordinary line that begins with a bracket. */
function isHeader(rest: string | undefined): boolean {
  return rest === undefined || rest.split(/\s+/).every((word) => isOwner(word))
}

/** Names are the same in any letter case; the first spelling stays, and required beats optional. */
function sectionOf(
  sections: Map<string, Draft>,
  name: string,
  optional: boolean,
  count: number,
): Draft {
  const key = name.toLowerCase()
  const approvals = Number.isSafeInteger(count) && count >= 1 ? count : 1
  const known = sections.get(key)
  if (known) {
    known.optional &&= optional
    known.approvals = Math.max(known.approvals, approvals)
    return known
  }
  const made: Draft = { name, optional, approvals, defaults: [], entries: [] }
  sections.set(key, made)
  return made
}

function isOwner(word: string): boolean {
  return /^@@?[\w.-][\w./-]*$/.test(word) || /^[^\s@]+@[^\s@]+$/.test(word)
}

function ownersIn(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '' && isOwner(word))
}

function entryOf(line: string, defaults: readonly string[]): OwnerEntry {
  const { pattern, rest } = splitPattern(line)
  const excluded = pattern.startsWith('!')
  const own = ownersIn(rest)
  const path = excluded ? pattern.slice(1) : pattern
  return {
    pattern: path,
    excluded,
    owners: own.length > 0 ? own : defaults,
  }
}

/** The pattern ends at the first space that no backslash stands before. */
function splitPattern(line: string): { pattern: string; rest: string } {
  let pattern = ''
  let at = 0
  while (at < line.length) {
    const char = line.charAt(at)
    if (char === '\\' && /[\s#]/.test(line.charAt(at + 1))) {
      pattern += line.charAt(at + 1)
      at += 2
      continue
    }
    if (/\s/.test(char)) break
    pattern += char
    at += 1
  }
  return { pattern, rest: line.slice(at) }
}

/** A test for paths without a leading slash, as fnmatch with pathname and dotmatch; in linear time. */
export function pathTest(pattern: string): (path: string) => boolean {
  const anchored = pattern.startsWith('/')
  const below = pattern.endsWith('/')
  const core = pattern.slice(anchored ? 1 : 0, below ? -1 : undefined)
  if (!/[*?[\\]/.test(core)) return plainTest(core, anchored, below)
  const source = `${anchored ? '' : '(?:.*/)?'}${globSource(core)}${below ? '/.*' : ''}`
  try {
    return patternMatcher({ source, flags: 's', whole: true })
  } catch {
    return () => false
  }
}

function plainTest(core: string, anchored: boolean, below: boolean): (path: string) => boolean {
  if (below) {
    const folder = core === '' ? '' : `${core}/`
    return (path) => path.startsWith(folder) || (!anchored && path.includes(`/${folder}`))
  }
  return (path) => path === core || (!anchored && path.endsWith(`/${core}`))
}

function globSource(glob: string): string {
  let out = ''
  for (let at = 0; at < glob.length; ) {
    const [piece, length] = globPiece(glob, at)
    out += piece
    at += length
  }
  return out
}

function globPiece(glob: string, at: number): [string, number] {
  const rest = glob.slice(at)
  if (rest.startsWith('**/')) return ['(?:.*/)?', 3]
  if (rest.startsWith('**')) return ['.*', 2]
  if (rest.startsWith('*')) return ['[^/]*', 1]
  if (rest.startsWith('?')) return ['[^/]', 1]
  const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest)
  if (set)
    return [`[${set[1] ? '^' : ''}${(set[2] ?? '').replace(/[\\[\]^]/g, '\\$&')}]`, set[0].length]
  if (rest.startsWith('\\') && rest.length > 1) return [quote(rest.charAt(1)), 2]
  return [quote(rest.charAt(0)), 1]
}

/**
 * The entries that changed paths fall under, each once: in every section the last matching line, unless a line of the
 * section excludes the path (docs/contract/B-resolved §7).
 */
export function ownedBy(sections: readonly OwnerSection[], paths: readonly string[]): OwnedFiles[] {
  return sections.flatMap((section) => {
    const owning = new Map<OwnerEntry, string[]>()
    for (const [at, entry] of ownerEntries(section, paths).entries()) {
      if (entry) owning.set(entry, [...(owning.get(entry) ?? []), paths[at] ?? ''])
    }
    return [...owning].map(([entry, own]) => ({ section, entry, paths: own }))
  })
}

/** Of each path its entry. One line after the other: each takes memory while it is compared. */
function ownerEntries(section: OwnerSection, paths: readonly string[]): (OwnerEntry | undefined)[] {
  const last: (OwnerEntry | undefined)[] = paths.map(() => undefined)
  const excluded = new Set<number>()
  for (const entry of section.entries) {
    const matches = pathTest(entry.pattern)
    for (const [at, path] of paths.entries()) {
      if (!matches(path)) continue
      last[at] = entry
      if (entry.excluded) excluded.add(at)
    }
  }
  return last.map((entry, at) => (excluded.has(at) ? undefined : entry))
}
