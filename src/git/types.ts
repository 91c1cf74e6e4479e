/** What the engine answers with: plain data of strings, numbers, buffers and arrays. */

/** A full object id, lower-case hex. */
export type ObjectId = string

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** The types by the numbers that git gives them in packs. */
export const objectTypes: readonly (ObjectType | undefined)[] = [
  undefined,
  'commit',
  'tree',
  'blob',
  'tag',
]

/** The id that stands for "nothing" in ref updates. */
export const noObject: ObjectId = '0'.repeat(40)

/** The tree without entries; git knows it without storing it. */
export const emptyTree: ObjectId = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** The same by SHA-256. */
const emptyTree256: ObjectId = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'

export const emptyTrees: ReadonlySet<ObjectId> = new Set([emptyTree, emptyTree256])

/** The hash that makes a repository's ids. */
export type ObjectFormat = 'sha1' | 'sha256'

/** The format of a repository that has this id. */
export function formatOfId(id: ObjectId): ObjectFormat {
  return id.length === emptyTree256.length ? 'sha256' : 'sha1'
}

export function emptyTreeIn(format: ObjectFormat): ObjectId {
  return format === 'sha256' ? emptyTree256 : emptyTree
}

export interface TreeEntry {
  readonly id: ObjectId
  /** Last part of the path. Bytes that are not UTF-8 are replaced; `rawPath` then holds the truth. */
  readonly name: string
  readonly path: string
  /** What git says the entry is: a submodule is a `commit`. */
  readonly type: 'tree' | 'blob' | 'commit'
  /** Six octal digits, e.g. `040000`, `100644`. */
  readonly mode: string
  /** The path's bytes, only where `path` could not hold them. */
  readonly rawPath?: Uint8Array | undefined
}

/** Who did something and when, as written in a commit or tag. */
export interface Person {
  readonly name: string
  readonly email: string
  /** ISO 8601 with milliseconds and the author's own offset: `2021-09-20T09:06:12.000+02:00`. */
  readonly date: string
  /** Seconds since 1970. */
  readonly seconds: number
  /** Minutes east of UTC. */
  readonly offset: number
}

export interface Commit {
  readonly id: ObjectId
  readonly treeId: ObjectId
  readonly parentIds: readonly ObjectId[]
  readonly author: Person
  readonly committer: Person
  /** The whole message, decoded. */
  readonly message: string
  /** First paragraph on one line, as `git log --format=%s` gives it. */
  readonly title: string
  /** The armoured signature, when there is one. */
  readonly signature?: string | undefined
}

export interface CommitStats {
  readonly additions: number
  readonly deletions: number
  readonly files: number
}

export interface Tag {
  readonly id: ObjectId
  readonly targetId: ObjectId
  readonly targetType: ObjectType
  readonly name: string
  readonly tagger?: Person | undefined
  readonly message: string
  readonly signature?: string | undefined
}

export interface Ref {
  /** The full name, e.g. `refs/heads/main`. */
  readonly name: string
  /** What the ref holds: for an annotated tag, the id of the tag object. */
  readonly id: ObjectId
}

/** One change of a ref: `noObject` as old means "must not exist", as new "delete". */
export interface RefUpdate {
  readonly name: string
  readonly oldId: ObjectId
  readonly newId: ObjectId
}

export interface Blob {
  readonly id: ObjectId
  readonly size: number
  readonly content: Buffer
}
