import { badRequest } from '../../base/problem.ts'

const part = /^[A-Za-z0-9._+-]{1,255}$/

/** What the address of a file in a Maven repository says. */
export interface MavenPath {
  /** `com/acme/tool`. */
  readonly name: string
  /** Null for the metadata of all versions. */
  readonly version: string | null
  readonly fileName: string
}

/**
 * Reads `com/acme/tool/1.0/tool-1.0.jar`. The metadata file of an artifact stands beside its versions, that of a
 * snapshot within it (docs/contract/C-resolved §3.4).
 */
export function readMavenPath(path: string): MavenPath {
  const parts = path.split('/')
  const isWrong = parts.some((one) => !part.test(one) || /^\.+$/.test(one))
  if (isWrong || path.length > 5000) throw badRequest('The path is invalid')
  const fileName = parts.pop() ?? ''
  const last = parts.at(-1)
  if (last === undefined) throw badRequest('The path is invalid')
  if (isMetadata(fileName) && !last.endsWith('-SNAPSHOT')) {
    return { name: parts.join('/'), version: null, fileName }
  }
  if (parts.length < 2) throw badRequest('The path is invalid')
  return { name: parts.slice(0, -1).join('/'), version: last, fileName }
}

/** The metadata file or a checksum of it. */
export function isMetadata(fileName: string): boolean {
  return /^maven-metadata\.xml(\.(md5|sha1|sha256|sha512))?$/.test(fileName)
}

/** The checksums that are worked out from what is stored; all others are files like any. */
export type Checksum = 'md5' | 'sha1'

/** The file that a name is the checksum of. */
export function checksumOf(
  fileName: string,
): { readonly of: string; readonly kind: Checksum } | undefined {
  const found = /^(.+)\.(md5|sha1)$/.exec(fileName)
  return found?.[1] ? { of: found[1], kind: found[2] === 'md5' ? 'md5' : 'sha1' } : undefined
}

/** The name without the time and number of a snapshot's build: the same file of an earlier build has it, too. */
export function withoutBuild(fileName: string): string {
  return fileName.replace(/-\d{8}\.\d{6}-\d+/, '')
}
