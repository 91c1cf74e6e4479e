import { GitError } from './error.ts'
import type { ObjectId } from './types.ts'

const fullId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const shortId = /^[0-9a-f]{4,64}$/

/** Whether the text is a full object id in lower-case hex. */
export function isObjectId(text: string): boolean {
  return fullId.test(text)
}

/** Whether the text could be the start of an object id (4 digits at least, as git asks). */
export function mayBeShortId(text: string): boolean {
  return shortId.test(text)
}

/** Refuses whatever is not a full id: native calls pad short ones or crash. */
export function assertObjectId(text: string): ObjectId {
  if (!fullId.test(text)) throw new GitError('invalid', `not an object id: ${clip(text)}`)
  return text
}

/** A value made fit for a message. */
export function clip(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids them in ref names
const forbiddenInRefs = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//

/** File systems take names of 255 bytes; the file of a ref is written under its name and `.lock`. */
const longestFolder = 255
const longestFile = longestFolder - '.lock'.length

/** The rules of `git check-ref-format` for a full name such as `refs/heads/main`, and what fits into a file's name. */
export function isRefName(name: string): boolean {
  if (!name.includes('/') || name === '@' || forbiddenInRefs.test(name)) return false
  if (Buffer.byteLength(name) > 1024) return false
  const parts = name.split('/')
  if (Buffer.byteLength(parts.at(-1) ?? '') > longestFile) return false
  return parts.every(
    (part) =>
      part !== '' &&
      !part.startsWith('.') &&
      !part.endsWith('.lock') &&
      Buffer.byteLength(part) <= longestFolder,
  )
}

/** The rules of `git check-ref-format --branch`, plus names that would be read as something else. */
export function isBranchName(name: string): boolean {
  return !name.startsWith('-') && name !== 'HEAD' && isRefName(`refs/heads/${name}`)
}

/** A tag may be called anything a ref may, except what looks like an option. */
export function isTagName(name: string): boolean {
  return !name.startsWith('-') && name !== 'HEAD' && isRefName(`refs/tags/${name}`)
}

/** A full ref name or an `invalid` error. */
export function assertRefName(name: string): string {
  if (!isRefName(name)) throw new GitError('invalid', `not a ref name: ${clip(name)}`)
  return name
}

/**
 * Whether a caller's revision may be looked up at all: a plain name or id. Operators (`^`, `~`,
 * `@{…}`, `:`, ranges), options and white space are never meant (docs/contract/B-resolved §2.1).
 */
export function isPlainRevision(text: string): boolean {
  if (text === 'HEAD' || isObjectId(text)) return true
  return text !== '' && !text.startsWith('-') && isRefName(`refs/heads/${text}`)
}

/** A path as stored in trees: no leading or trailing slash, no empty, `.` or `..` part. */
export function isTreePath(path: string): boolean {
  if (path === '' || path.length > 4096 || path.includes('\0')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** A caller's folder or file path without the slashes around it; an `invalid` error when it escapes. */
export function cleanPath(path: string): string {
  const trimmed = path.replace(/^(?:\.?\/)+|\/+$/g, '')
  const clean = trimmed === '.' ? '' : trimmed
  if (clean !== '' && !isTreePath(clean)) {
    throw new GitError('invalid', `not a path inside the repository: ${clip(path)}`)
  }
  return clean
}
