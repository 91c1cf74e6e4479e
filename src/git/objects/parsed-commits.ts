import { byteCache } from '../../base/byte-cache.ts'
import { budget, mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { Commit, ObjectId } from '../types.ts'
import { parseCommit } from './parse-object.ts'

/** Parsed commits; lists ask for the same ones again and again. */
const parsed = byteCache<Commit>(
  budget(8 * mebibyte, 4 * mebibyte),
  (commit) => 800 + commit.message.length * 2,
)

/** A commit of this repository that was parsed lately. */
export function knownCommit(repository: OpenRepository, id: ObjectId): Commit | undefined {
  return parsed.get(keyOf(repository, id))
}

/** Parses the bytes of a commit of this repository, and keeps the result for a while. */
export function parseAndKeep(repository: OpenRepository, id: ObjectId, data: Buffer): Commit {
  const commit = parseCommit(id, data)
  parsed.set(keyOf(repository, id), commit)
  return commit
}

const numberKey = Symbol('number of an open repository')
let opened = 0

/**
 * The repository is part of the key: one must not show what only another one has, nor what it had before it was opened
 * anew.
 */
function keyOf(repository: OpenRepository, id: ObjectId): string {
  return `${repository.keep(numberKey, () => ++opened)} ${id}`
}
