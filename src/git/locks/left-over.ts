import { rmSync, type Stats, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning, ownerOf } from '../../base/process-mark.ts'
import { canTellHolders, type HeldPart, holdersOf, isOpenInNode } from './lock-holders.ts'

/*
 * Lock files and temporary files whose process was killed. One is removed by the next writer that it stops, after a
 * program or an engine died, and at the start; never while its process runs.
 */

/** Below the repository, or among the objects: a folder or file that something writes, and does not leave behind. */
const temporaryObject = /^(?:tmp_|\.tmp-|incoming-)/
const draft = /\.new$/
const secondLookMs = 10
/**
 * A killed program's children notice within moments; while another git writes in the repository, what git has made cannot
 * be told from its own.
 */
const pauses = [50, 150, 300, 400, 1000, 2000, 4000, 8000, 16_000] as const

/**
 * Removes those of the locks that no running process holds; gives their names. `names` are relative to the repository:
 * `refs/heads/main.lock`. What belongs to another user is left alone.
 */
export async function releaseDeadLocks(path: string, names: readonly string[]): Promise<string[]> {
  if (!canTellHolders()) return []
  const found = locksAt(path, names).filter(({ file }) => isOurs(file))
  return (await deadLocks(path, found)).flatMap(({ name, file }) => {
    // Another lock may have taken its place by now. Nothing else of this process runs before the removal.
    if (!isSame(fileAt(path, name), file)) return []
    rmSync(join(path, name), { force: true })
    return [name]
  })
}

interface Found {
  readonly name: string
  readonly file: Stats
}

function locksAt(path: string, names: readonly string[]): Found[] {
  return names.flatMap((name) => {
    const file = fileAt(path, name)
    return file ? [{ name, file }] : []
  })
}

/** Those of the locks that nobody holds at two looks: the maker of one may not have had the time to show. */
async function deadLocks(path: string, found: readonly Found[]): Promise<Found[]> {
  const first = found.length === 0 ? [] : unheld(path, found)
  if (first.length === 0) return []
  await sleep(secondLookMs)
  return unheld(path, first)
}

function unheld(path: string, locks: readonly Found[]): Found[] {
  const isHeld = holdersOf(path)
  return locks.filter(
    ({ name, file }) =>
      isSame(fileAt(path, name), file) && !isHeld(partOf(name)) && !isOpenInNode(file),
  )
}

function partOf(name: string): HeldPart {
  return name.startsWith('objects/') ? 'objects' : 'refs'
}

function fileAt(path: string, name: string): Stats | undefined {
  try {
    return statSync(join(path, name), { throwIfNoEntry: false })
  } catch (error) {
    // Below `a` there is no lock of a new `a/b` where `a` is a ref: that it is in the way is for git to say.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev && one.ctimeMs === other.ctimeMs
}

function isOurs(file: Stats): boolean {
  const user = process.geteuid?.()
  return user === 0 || user === file.uid
}

/** What a look at a repository removed, and whether something is left that a running git may hold. */
export interface Removal {
  readonly removed: readonly string[]
  readonly inUse: boolean
}

/** Removes every lock and temporary file of a repository whose process is gone. */
export async function removeLeftOvers(path: string): Promise<Removal> {
  const { locks, temporary } = await listCandidates(path)
  const released = await releaseDeadLocks(path, locks)
  const dead = deadAmong(path, temporary)
  for (const name of dead) await rm(join(path, name), { recursive: true, force: true })
  // Who has given their name to a file removes it.
  const unnamed = temporary.filter((name) => ownerOf(name) === undefined && !dead.includes(name))
  const inUse = released.length < locks.length || unnamed.length > 0
  return { removed: [...released, ...dead], inUse }
}

/** The same names without removing anything. */
export async function findLeftOvers(path: string): Promise<string[]> {
  const { locks, temporary } = await listCandidates(path)
  if (!canTellHolders()) return []
  const dead = await deadLocks(path, locksAt(path, locks))
  return [...dead.map(({ name }) => name), ...deadAmong(path, temporary)]
}

/** The repositories that are looked at again and again. */
const looks = new Map<string, AbortController>()

/**
 * Removes what a process that is gone has left in a repository; gives their names. It looks again, for half a minute, as
 * long as something is there that a running program may be writing. A later call takes over from one before it: pushes that
 * are cut off one after the other make no more than one series of looks.
 */
export async function removeSoon(path: string, signal?: AbortSignal): Promise<string[]> {
  looks.get(path)?.abort()
  const own = new AbortController()
  looks.set(path, own)
  try {
    const either = signal ? AbortSignal.any([own.signal, signal]) : own.signal
    return await lookAgain(path, either)
  } finally {
    if (looks.get(path) === own) looks.delete(path)
  }
}

async function lookAgain(path: string, signal: AbortSignal): Promise<string[]> {
  const removed: string[] = []
  for (const pause of pauses) {
    const look = await removeLeftOvers(path).catch(() => nothing)
    removed.push(...look.removed)
    if (!look.inUse) return removed
    const isOver = await sleep(pause, false, { ref: false, signal }).catch(() => true)
    if (isOver) return removed
  }
  return removed.concat((await removeLeftOvers(path).catch(() => nothing)).removed)
}

/** What there is to remove in a repository that goes away meanwhile. */
const nothing: Removal = { removed: [], inUse: false }

/** Of what our code made, the name gives the process; what git or libgit2 made may be any one's that writes here. */
function deadAmong(path: string, names: readonly string[]): string[] {
  const areGitsDead =
    names.some((name) => ownerOf(name) === undefined) &&
    canTellHolders() &&
    !holdersOf(path)('objects')
  return names.filter((name) => {
    const owner = ownerOf(name)
    if (owner !== undefined) return !isRunning(owner)
    const file = areGitsDead ? fileAt(path, name) : undefined
    return file !== undefined && isOurs(file) && !isOpenInNode(file)
  })
}

interface Candidates {
  readonly locks: readonly string[]
  readonly temporary: readonly string[]
}

async function listCandidates(path: string): Promise<Candidates> {
  const top = await namesIn(path, '')
  const refs = await readdir(join(path, 'refs'), { recursive: true }).catch(() => [])
  const objects = await namesIn(path, 'objects/')
  const folders = objects.filter((name) => /^objects\/(?:[0-9a-f]{2}|pack|info)$/.test(name))
  const below = (await Promise.all(folders.map((name) => namesIn(path, `${name}/`)))).flat()
  const graphs = await namesIn(path, 'objects/info/commit-graphs/')
  const all = [...top, ...refs.map((name) => `refs/${name}`), ...below, ...graphs]
  const isTemporary = (name: string) => temporaryObject.test(name.slice(name.lastIndexOf('/') + 1))
  return {
    // git writes the second under the lock of packed refs, and cannot while one is there.
    locks: all.filter((name) => name.endsWith('.lock') || name === 'packed-refs.new'),
    temporary: [
      ...[...objects, ...below, ...graphs].filter(isTemporary),
      ...top.filter((name) => draft.test(name) && ownerOf(name) !== undefined),
    ],
  }
}

async function namesIn(path: string, folder: string): Promise<string[]> {
  const names = await readdir(join(path, folder)).catch(() => [])
  return names.map((name) => `${folder}${name}`)
}
