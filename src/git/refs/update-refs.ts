import { runGit } from '../command.ts'
import { operation } from '../engine/operation.ts'
import { GitError, type GitErrorCode } from '../error.ts'
import { releaseDeadLocks } from '../locks/left-over.ts'
import { assertObjectId, assertRefName, clip } from '../names.ts'
import type { Repo } from '../repo.ts'
import { noObject, type RefUpdate } from '../types.ts'
import { moveLooseRef } from './move-ref.ts'

/** Moves or makes one ref, if it still holds what the caller saw. */
const moveRefOperation = operation({
  name: 'moveRef',
  lane: 'light',
  writes: true,
  run: ({ repository }, update: RefUpdate) => moveLooseRef(repository, update),
})

/** git's own refusals, the clearest first. */
const refusals: readonly (readonly [RegExp, GitErrorCode])[] = [
  [
    /Unable to create '.*\.lock'|packed-refs\.new: File exists|could not lock|another git process/i,
    'locked',
  ],
  [/reference already exists/, 'exists'],
  [/exists; cannot create|there are still refs under|non-empty directory/, 'conflict'],
  [/cannot process '.*' and '.*' at the same time/, 'conflict'],
  [/is at [0-9a-f]+ but expected|unable to resolve reference|reference is missing/, 'stale'],
  [/nonexistent object|non-commit object|not a valid/, 'invalid'],
]

function asRefError(error: unknown): unknown {
  if (!(error instanceof GitError) || error.code !== 'failed') return error
  const said = String(error.detail.stderr ?? '')
  const found = refusals.find(([pattern]) => pattern.test(said))
  const ref = /ref '([^']+)'/.exec(said)?.[1] ?? ''
  return found ? new GitError(found[1], said.trim(), { ref }) : error
}

async function transaction(repo: Repo, updates: readonly RefUpdate[]): Promise<void> {
  const fields = ['start']
  for (const { name, oldId, newId } of updates) {
    if (newId === noObject) fields.push(`delete ${name}`, oldId)
    // Not as an update from zeros, of which SHA-256 has more.
    else if (oldId === noObject) fields.push(`create ${name}`, newId)
    else fields.push(`update ${name}`, newId, oldId)
  }
  fields.push('prepare', 'commit', '')
  try {
    await runGit({
      repo: repo.path,
      args: ['update-ref', '-z', '--no-deref', '--stdin'],
      stdin: fields.join('\0'),
    })
  } catch (error) {
    throw asRefError(error)
  }
}

/** With SHA-256 clients write "nothing" as sixty-four zeros. */
function nothingAsOne(id: string): string {
  return /^0{64}$/.test(id) ? noObject : id
}

/** What the rules allow at all, before git is asked. */
function assertUpdates(updates: readonly RefUpdate[]): void {
  const names = new Set<string>()
  for (const { name, oldId, newId } of updates) {
    assertRefName(name)
    assertObjectId(oldId)
    assertObjectId(newId)
    if (oldId === noObject && newId === noObject) {
      throw new GitError('invalid', `${clip(name)} would be made and deleted at once`)
    }
    if (names.has(name)) throw new GitError('invalid', `${clip(name)} is named twice`)
    names.add(name)
  }
}

const retryDelays = [5, 15, 40, 90] as const

/** The locks that a move of these refs takes. */
export function locksOf(names: readonly string[]): string[] {
  return [...names.map((name) => `${name}.lock`), 'packed-refs.lock', 'packed-refs.new']
}

/** Tries again while another writer holds a lock, which it does for a moment only, unless it was killed. */
async function withRetries(
  repo: Repo,
  locks: readonly string[],
  attempt: () => Promise<void>,
): Promise<void> {
  for (const [round, wait] of retryDelays.entries()) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'locked') throw error
      if (round > 0 && (await releaseDeadLocks(repo.path, locks)).length > 0) continue
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())))
    }
  }
  return attempt()
}

/**
 * Moves, makes and deletes refs, all or none, each only if it still holds `oldId` (`noObject`: must
 * not exist). Errors: `stale` (it moved), `exists`, `conflict` (a name is in the way of another, such
 * as `a` and `a/b`), `locked` (another writer would not let go), `invalid`. For `moveRefs` only:
 * nothing else moves a ref.
 */
export async function updateRefs(repo: Repo, given: readonly RefUpdate[]): Promise<void> {
  const updates = given.map(({ name, oldId, newId }) => ({
    name,
    oldId: nothingAsOne(oldId),
    newId: nothingAsOne(newId),
  }))
  assertUpdates(updates)
  const [only, ...others] = updates
  if (!only) return
  // One ref needs no program; a deletion and a transaction touch the packed refs too, and libgit2 knows SHA-1 only.
  const single = others.length === 0 && only.newId !== noObject && only.newId.length === 40
  const locks = locksOf(updates.map(({ name }) => name))
  await withRetries(repo, locks, () =>
    single ? repo.engine.run(moveRefOperation, repo.path, only) : transaction(repo, updates),
  )
}
