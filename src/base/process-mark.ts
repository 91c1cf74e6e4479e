import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Names a running process for good: `<pid>:<start time>`, since a pid alone may be somebody else's by now. Undefined
 * for one that is gone, and where there is no /proc.
 */
export function processMark(pid: number): string | undefined {
  const start = statFields(pid)?.start
  return start === undefined ? undefined : `${pid}:${start}`
}

/** What the system says of a process. */
export interface ProcessFields {
  readonly parent: number
  readonly session: number
  readonly start: string
}

/** Undefined for a process that is gone, be it only not yet reaped. */
export function statFields(pid: number): ProcessFields | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The name in brackets may hold anything; the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const start = fields[19]
  if (start === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined
  return { parent: Number(fields[1]), session: Number(fields[3]), start }
}

/** Whether the process of a mark still runs. */
export function isRunning(mark: string): boolean {
  return processMark(Number.parseInt(mark, 10)) === mark
}

let own: string | undefined

/** A name that says which process made the file or folder: `<prefix><pid>-<start time>-<random>`. */
export function ownedName(prefix: string): string {
  own ??= (processMark(process.pid) ?? `${process.pid}:0`).replace(':', '-')
  return `${prefix}${own}-${randomBytes(6).toString('hex')}`
}

const owned = /(?:^|[^0-9])(\d+-\d+)-[0-9a-f]{12}(?:\.|$)/

/** The mark of the process that gave a name by `ownedName`; undefined for other names. */
export function ownerOf(name: string): string | undefined {
  return owned.exec(name)?.[1]?.replace('-', ':')
}

/** Whether a name was given by a process that is gone. */
export function isOrphaned(name: string): boolean {
  const mark = ownerOf(name)
  return mark !== undefined && !isRunning(mark)
}

/**
 * A prefix for `ownedName` in a folder that may be shared with other containers: it names the space of process ids that
 * this process is in, since those of another one say nothing about what runs there.
 */
export function prefixHere(prefix: string): string {
  try {
    const [space = '0'] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) ?? []
    return `${prefix}${space}-`
  } catch {
    return prefix
  }
}

/** Removes the folders in `parent` that processes of this user which were killed have named with `ownedName(prefix)`. */
export function removeOrphans(parent: string, prefix: string): void {
  for (const name of namesIn(parent)) {
    if (!name.startsWith(prefix) || !isOrphaned(name)) continue
    const folder = join(parent, name)
    // Anybody may put a folder of such a name there; those of others are theirs to remove.
    const owner = lstatSync(folder, { throwIfNoEntry: false })?.uid
    if (owner === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
  }
}

/** None where it may not be listed, which a folder for temporary files need not allow. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
