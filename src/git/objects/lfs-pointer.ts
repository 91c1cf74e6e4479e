/** What stands in a repository for a large file that is kept elsewhere. */
export interface LfsPointer {
  /** SHA-256 of the file, lower-case hex. */
  readonly oid: string
  readonly size: number
}

/** Pointers are smaller than this (git-lfs spec). */
export const LFS_POINTER_LIMIT = 1024
/** No pointer is smaller: a version line, an oid and a size of one digit. */
export const LFS_POINTER_LEAST = 100

const start =
  /^version (?:https:\/\/git-lfs\.github\.com\/spec\/v1|http:\/\/git-media\.io\/v\/2|https:\/\/hawser\.github\.com\/spec\/v1)\n/

/** Reads the content of a file as a pointer, as leniently as git-lfs does; undefined when it is none. */
export function readLfsPointer(content: Buffer): LfsPointer | undefined {
  if (content.length >= LFS_POINTER_LIMIT) return undefined
  const text = content.toString('latin1')
  if (!start.test(text)) return undefined
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1]
  const size = Number(/^size (\d{1,16})$/m.exec(text)?.[1] ?? Number.NaN)
  return oid !== undefined && Number.isSafeInteger(size) ? { oid, size } : undefined
}
