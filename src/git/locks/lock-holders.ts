import { existsSync, readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { basename } from 'node:path'
import { statFields } from '../../base/process-mark.ts'

/*
 * Which running processes may hold a lock or write a temporary file of a repository. Nobody has to write that down, and
 * nothing written down can be wrong: the system knows which programs work in the repository's folder, as all of ours
 * do, and which files a process of ours has open. Locks that git programs take are closed before they are renamed.
 */

/** A lock of refs, or a lock or temporary file among the objects. */
export type HeldPart = 'refs' | 'objects'

interface Program {
  readonly pid: number
  readonly parent: number
  readonly isGit: boolean
  readonly command: string
  readonly args: readonly string[]
}

/** git programs that take no lock and leave no file in a repository. */
const readers = new Set(
  `archive blame bundle cat-file check-ref-format describe diff diff-tree for-each-ref format-patch fsck grep log ls-files
  ls-remote ls-tree merge-base name-rev patch-id rev-list rev-parse shortlog show show-ref upload-archive upload-pack
  var verify-commit verify-pack verify-tag version`.split(/\s+/),
)
/** git programs that write among the objects, and lock no ref. */
const objectWriters = new Set(
  `commit-graph hash-object index-pack merge-file merge-tree multi-pack-index pack-objects prune prune-packed repack
  unpack-objects`.split(/\s+/),
)
/** Those that our own code starts, with a folder of its own for what they write. */
const inOwnFolder = new Set(['unpack-objects', 'merge-tree'])

/** Whether a git command only reads, so that it leaves nothing behind however it ends. */
export function onlyReads(command: string): boolean {
  return readers.has(command)
}

/** Whether the system shows processes at all. */
export function canTellHolders(): boolean {
  return existsSync('/proc/self/stat')
}

/** Finds for each part of a repository whether a running git program may hold a lock or write a file in it, as of now. */
export function holdersOf(path: string): (part: HeldPart) => boolean {
  const programs = programsIn(path)
  return (part) => programs.some((program) => program.isGit && mayHold(program, part, programs))
}

function mayHold(program: Program, part: HeldPart, all: readonly Program[]): boolean {
  const { command, args, pid, parent } = program
  if (readers.has(command)) return false
  if (command === 'pack-objects' && args.includes('--stdout')) return false
  if (inOwnFolder.has(command) && isNode(parent)) return false
  if (part === 'objects') return command !== 'update-ref' && command !== 'pack-refs'
  if (objectWriters.has(command)) return false
  // It moves refs when its hook has answered, and what takes the objects in is gone.
  return command !== 'receive-pack' || !all.some((other) => other.parent === pid)
}

/** Whether a process of ours has this very file open: a lock that our own code takes stays open until it is renamed. */
export function isOpenInNode(file: Pick<Stats, 'dev' | 'ino'>): boolean {
  return processIds().some((pid) => isNode(pid) && hasOpen(pid, file))
}

function programsIn(path: string): Program[] {
  const folder = statSync(path, { throwIfNoEntry: false })
  if (!folder) return []
  const name = `/${basename(path)}`
  return processIds().flatMap((pid) => {
    const args = argumentsOf(pid)
    const isGit = /^git(?:-|$)/.test(basename(args[0] ?? ''))
    const isHere = worksIn(pid, folder) || (isGit && args.some((one) => one.endsWith(name)))
    const parent = isHere ? statFields(pid)?.parent : undefined
    return parent === undefined ? [] : [{ pid, parent, isGit, command: commandOf(args), args }]
  })
}

/** The processes that run; none where the system does not show them. */
export function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function worksIn(pid: number, folder: Stats): boolean {
  try {
    const { dev, ino } = statSync(`/proc/${pid}/cwd`)
    return dev === folder.dev && ino === folder.ino
  } catch {
    return false
  }
}

/** What a process was started with, its program first. */
export function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}

const withValue = new Set(['-c', '-C', '--git-dir', '--work-tree', '--namespace', '--exec-path'])

/** `receive-pack` of `git -c a=b --git-dir x receive-pack …` and of `git-receive-pack …`. */
function commandOf(args: readonly string[]): string {
  const program = basename(args[0] ?? '')
  if (program.startsWith('git-')) return program.slice(4)
  for (let at = 1; at < args.length; at += 1) {
    const one = args[at] ?? ''
    if (withValue.has(one)) at += 1
    else if (!one.startsWith('-')) return one
  }
  return ''
}

/** Whether a process runs the same Node as this one. */
export function isNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '') === process.execPath
  } catch {
    return false
  }
}

function hasOpen(pid: number, file: Pick<Stats, 'dev' | 'ino'>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const found = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })
      return found?.ino === file.ino && found.dev === file.dev
    })
  } catch {
    return false
  }
}
