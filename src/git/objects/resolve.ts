import { runGit } from '../command.ts'
import { asGitError, oidPrefix } from '../engine/native.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { damaged, GitError } from '../error.ts'
import {
  assertObjectId,
  clip,
  isObjectId,
  isPlainRevision,
  isRefName,
  mayBeShortId,
} from '../names.ts'
import { refsOf } from '../ref-files/ref-table.ts'
import type { ObjectId } from '../types.ts'
import { isThere, readLinked, readObject } from './objects.ts'
import { formatIn } from './packs/object-format.ts'
import { parseCommit, parseTag } from './parse-object.ts'
import { knownCommit, parseAndKeep } from './parsed-commits.ts'

/** What a revision turned out to be. */
export interface Resolved {
  readonly commitId: ObjectId
  /** The object named: differs from the commit for an annotated tag. */
  readonly objectId: ObjectId
  /** The full name of the ref, when a ref was named. */
  readonly ref?: string | undefined
}

export type RefKind = 'branch' | 'tag'

const steps = /^(.+?)((?:[~^]\d{0,6})+)$/

/**
 * The commit that a caller's revision names: a full id, `HEAD`, then git's own order (`refs/x`, tag,
 * branch), then a short id; `~n` and `^n` may follow. Text that git would read as anything else
 * (`@{…}`, `:/…`, options) is refused before any lookup.
 */
export async function resolveCommit(
  repository: OpenRepository,
  revision: string,
  kind?: RefKind,
): Promise<Resolved> {
  const [, base = revision, walk = ''] = steps.exec(revision) ?? []
  const named = await nameToObject(repository, base, kind)
  const tip = await peel(repository, named.objectId, named.objectId !== base)
  const commitId = await walkFrom(repository, tip, walk)
  return { ...named, commitId }
}

/** The object that a revision names, without peeling: a tag's own id for an annotated tag. */
async function nameToObject(
  repository: OpenRepository,
  revision: string,
  kind?: RefKind,
): Promise<Omit<Resolved, 'commitId'>> {
  if (!isPlainRevision(revision)) {
    throw new GitError('invalid', `not a revision: ${clip(revision)}`)
  }
  if (isObjectId(revision) && kind === undefined) return { objectId: revision }
  const refs = refsOf(repository)
  for (const ref of candidates(revision, kind)) {
    const objectId = refs.find(ref)
    if (objectId === undefined || !isObjectId(objectId)) continue
    return ref === 'HEAD' ? { objectId } : { objectId, ref }
  }
  if (kind === undefined && mayBeShortId(revision)) {
    return { objectId: await completeId(repository, revision) }
  }
  throw unknown(revision)
}

function candidates(revision: string, kind: RefKind | undefined): string[] {
  if (kind === 'branch') return [`refs/heads/${revision}`]
  if (kind === 'tag') return [`refs/tags/${revision}`]
  if (revision === 'HEAD') return ['HEAD']
  const names = [`refs/${revision}`, `refs/tags/${revision}`, `refs/heads/${revision}`]
  if (revision.startsWith('refs/')) names.unshift(revision)
  return names.filter(isRefName)
}

/**
 * Follows annotated tags to a commit. What a ref names is there as long as the ref is; of an id that a caller gives
 * (not `isHeld`), only the repository knows whether it is still there.
 */
async function peel(repository: OpenRepository, id: ObjectId, isHeld: boolean): Promise<ObjectId> {
  let at = id
  for (let depth = 0; depth < 10; depth += 1) {
    // Known here, and there still: it need not be unpacked.
    if (knownCommit(repository, at) && (isHeld || isThere(repository, at))) return at
    const object = await readHeld(repository, at, isHeld)
    if (object.type === 'commit') {
      // Whoever resolves a commit mostly reads it next.
      parseAndKeep(repository, at, object.data)
      return at
    }
    if (object.type !== 'tag') break
    at = parseTag(at, object.data).targetId
  }
  throw new GitError('not_found', `${id} is not a commit`)
}

/** An object that a ref or a tag names is there, unless the repository is damaged. */
async function readHeld(repository: OpenRepository, id: ObjectId, isHeld: boolean) {
  try {
    return await readObject(repository, id)
  } catch (error) {
    const isLost = isHeld && error instanceof GitError && error.code === 'not_found'
    throw isLost ? damaged(`the object ${id} is missing`) : error
  }
}

async function walkFrom(
  repository: OpenRepository,
  start: ObjectId,
  walk: string,
): Promise<ObjectId> {
  let at = start
  for (const [, sign, digits] of walk.matchAll(/([~^])(\d*)/g)) {
    const count = digits === '' ? 1 : Number(digits)
    if (sign === '~') {
      for (let i = 0; i < count; i += 1) at = await parentOf(repository, at, 1)
    } else if (count > 0) {
      at = await parentOf(repository, at, count)
    }
  }
  return at
}

async function parentOf(
  repository: OpenRepository,
  id: ObjectId,
  number: number,
): Promise<ObjectId> {
  const data = await readLinked(repository, id, 'commit')
  const parent = parseCommit(id, data).parentIds[number - 1]
  if (parent === undefined) throw new GitError('not_found', `${id} has no parent ${number}`)
  return parent
}

/** The one object that a short id stands for; among several, the one that leads to a commit. */
async function completeId(repository: OpenRepository, short: string): Promise<ObjectId> {
  if (isObjectId(short)) return short
  repository.assertEngine('a short id')
  if (formatIn(repository.path) === 'sha1') {
    const found = await findOnlyId(repository, short)
    if (found !== undefined) return found
  }
  const { code, stdout, stderr } = await runGit({
    repo: repository.path,
    args: ['rev-parse', '--verify', short],
    config: { 'core.disambiguate': 'committish' },
    accept: [0, 128],
  })
  if (code === 0) return assertObjectId(stdout.toString('latin1').trim())
  if (!stderr.includes('ambiguous')) throw unknown(short)
  throw new GitError('ambiguous', `${short} is the start of several ids`)
}

/** What libgit2 finds; undefined when there are several. */
async function findOnlyId(
  repository: OpenRepository,
  short: string,
): Promise<ObjectId | undefined> {
  if (short.length > 40) throw unknown(short)
  try {
    const odb = await repository.odb()
    return (await odb.existsPrefix(oidPrefix(short), short.length)).tostrS()
  } catch (error) {
    if (asGitError(error).code === 'ambiguous') return undefined
    throw unknown(short)
  }
}

function unknown(revision: string): GitError {
  return new GitError('not_found', `no revision ${clip(revision)}`, { revision: clip(revision) })
}
