// @ts-check
// A lock file that outlives nobody: it names the process that holds it, and a dead holder's lock is taken over.
import {
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

const RETRY_MS = 200
// Taking over a dead lock is a matter of microseconds; whoever died in the middle of it is forgotten after this.
const TAKEOVER_MS = 10_000
// On another machine (a shared home folder) a process can't be asked whether it lives: it touches its lock instead.
const BEAT_MS = 10_000
const SILENT_MS = 60_000

/**
 * Runs work while holding the lock, waiting for whoever holds it now.
 *
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {{ onWait?: (holder: { pid: number, host: string }) => void }} options
 */
export async function withLock(file, work, { onWait } = {}) {
  mkdirSync(dirname(file), { recursive: true })
  let hasSaid = false
  while (!take(file)) {
    const holder = readHolder(file)
    if (holder !== undefined && isStale(file, holder)) takeOver(file)
    else {
      if (!hasSaid && holder !== undefined) onWait?.(holder)
      hasSaid = true
      await new Promise((wake) => setTimeout(wake, RETRY_MS))
    }
  }
  const beat = setInterval(() => touch(file), BEAT_MS)
  beat.unref()
  try {
    return await work()
  } finally {
    clearInterval(beat)
    rmSync(file, { force: true })
  }
}

/** @param {string} file */
function take(file) {
  const mine = `${file}.${hostname()}.${process.pid}`
  writeFileSync(
    mine,
    JSON.stringify({ pid: process.pid, host: hostname(), born: birth(process.pid) }),
  )
  try {
    // A link appears with its content, so that nobody ever reads an empty lock.
    linkSync(mine, file)
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(mine, { force: true })
  }
}

/**
 * @param {string} file
 * @returns {{ pid: number, host: string, born: string | undefined } | undefined} nothing when the lock has just been given up
 */
function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined
    return { pid: 0, host: hostname(), born: undefined }
  }
}

/**
 * @param {string} file
 * @param {{ pid: number, host: string, born?: string | undefined }} holder
 */
export function isStale(file, holder) {
  if (holder.host !== hostname()) return age(file) > SILENT_MS
  if (holder.pid <= 0) return true
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH'
  }
  // The number may have been given to another process since.
  return birth(holder.pid) !== holder.born
}

/** @param {string} file */
function takeOver(file) {
  // Under a second lock, and asked again there: of two that saw a dead holder, the slower must not remove the faster's lock.
  const guard = `${file}.takeover`
  try {
    writeFileSync(guard, '', { flag: 'wx' })
  } catch {
    if (age(guard) > TAKEOVER_MS) rmSync(guard, { force: true })
    return
  }
  const holder = readHolder(file)
  if (holder !== undefined && isStale(file, holder)) rmSync(file, { force: true })
  rmSync(guard, { force: true })
}

/**
 * When a process was started, in clock ticks since boot; nothing where there is no /proc.
 *
 * @param {number} pid
 */
function birth(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may itself hold spaces and parentheses; field 22 is the 20th after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/** @param {string} file */
function age(file) {
  try {
    return Date.now() - statSync(file).mtimeMs
  } catch {
    return 0
  }
}

/** @param {string} file */
function touch(file) {
  try {
    const now = new Date()
    utimesSync(file, now, now)
  } catch {
    // Gone: the next run of set-up finds out what is left to do.
  }
}
