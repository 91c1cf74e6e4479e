/** Why a path may not be written. */
export type PathProblem = 'path_empty' | 'traversal' | 'path_invalid'

const longestPath = 4096
const longestName = 255

/** Characters that HFS+ ignores in names (git utf8.c, `next_hfs_char`): `.g\u200cit` is `.git` there. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Names that some file system takes for `.git`: never in a tree (CVE-2014-9390, CVE-2019-1352). */
function meansDotGit(name: string): boolean {
  const plain = name.replace(ignoredByHfs, '').toLowerCase()
  return /^(?:\.git|git~1)[. ]*(?::.*)?$/.test(plain)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const refused = /[\x00-\x1f\x7f\\]/

/** Files that git itself reads; a commit that touches one is checked like a push. */
const readByGit =
  /^(?:\.gitmodules|\.gitattributes|\.gitignore|\.mailmap|gitmod~\d|gitatt~\d|gi7eba~\d|gi7d29~\d)[. ]*(?::.*)?$/

export function isReadByGit(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return readByGit.test(name.replace(ignoredByHfs, '').toLowerCase())
}

/** What is wrong with a path that a caller wants to write; undefined when nothing is (docs/faults 41). */
export function pathProblem(path: string): PathProblem | undefined {
  if (path === '') return 'path_empty'
  const parts = path.split('/')
  if (parts.includes('..')) return 'traversal'
  if (Buffer.byteLength(path) > longestPath || refused.test(path) || !path.isWellFormed()) {
    return 'path_invalid'
  }
  const bad = parts.some(
    (part) =>
      part === '' || part === '.' || Buffer.byteLength(part) > longestName || meansDotGit(part),
  )
  return bad ? 'path_invalid' : undefined
}
