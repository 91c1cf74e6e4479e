import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * Names a running process for good: `<pid>:<start time>`, since a pid alone may be somebody else's by now. Undefined
 * for one that is gone, and where there is no /proc.
 */
export function processMark(pid: number): string | undefined {
  const start = statFields(pid)?.start
  return start === undefined ? undefined : `${pid}:${start}`
}

/** What the system says of a process; undefined when it is gone, be it only not yet reaped. */
export function statFields(
  pid: number,
): { readonly parent: number; readonly start: string } | undefined {
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
  return { parent: Number(fields[1]), start }
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
