import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOrphaned, ownedName } from '../../base/process-mark.ts'

const PREFIX = 'gitstead-job-'

/** A control group of the kernel: it holds whatever its processes start, wherever that moves to. */
export class ControlGroup {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The file by which a process joins. */
  get joinFile(): string {
    return join(this.#folder, 'cgroup.procs')
  }

  /** Its processes; those of groups that they have made within are not named. */
  list(): number[] {
    try {
      return readFileSync(this.joinFile, 'utf8').split('\n').filter(Boolean).map(Number)
    } catch {
      return []
    }
  }

  /** Kills all of its processes, and those of groups within. */
  kill(): void {
    try {
      writeFileSync(join(this.#folder, 'cgroup.kill'), '1')
    } catch {
      // It is gone already.
    }
  }

  /** Kills what is in it and removes it. */
  async close(): Promise<void> {
    this.kill()
    for (let turn = 0; turn < 50 && !removeTree(this.#folder); turn += 1) await sleep(20)
  }
}

/** Makes control groups for jobs. */
export interface ControlGroups {
  /** Undefined where the kernel gives no more of them. */
  make(): ControlGroup | undefined
}

/** Undefined where the kernel has none of version 2, or this process may not make any below its own. */
export async function openControlGroups(): Promise<ControlGroups | undefined> {
  const folder = ownFolder()
  if (folder === undefined) return undefined
  try {
    await removeOrphaned(folder)
    const groups = { make: () => tryMakeGroup(folder) }
    const trial = makeGroup(folder)
    const joined = spawnSync('/bin/sh', ['-c', 'echo 0 > "$1"', 'sh', trial.joinFile])
    const isUsable = joined.status === 0 && existsSync(join(trial.joinFile, '../cgroup.kill'))
    await trial.close()
    return isUsable ? groups : undefined
  } catch {
    return undefined
  }
}

function makeGroup(parent: string): ControlGroup {
  const folder = join(parent, ownedName(PREFIX))
  mkdirSync(folder)
  return new ControlGroup(folder)
}

function tryMakeGroup(parent: string): ControlGroup | undefined {
  try {
    return makeGroup(parent)
  } catch {
    return undefined
  }
}

/** What runners left that were killed together with what watched over their jobs. */
async function removeOrphaned(parent: string): Promise<void> {
  const left = readdirSync(parent).filter((name) => name.startsWith(PREFIX) && isOrphaned(name))
  for (const name of left) await new ControlGroup(join(parent, name)).close()
}

/** The folder of the control group that this process is in. */
function ownFolder(): string | undefined {
  try {
    const mount = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(
      readFileSync('/proc/self/mountinfo', 'utf8'),
    )
    const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
    const [, root = '', place = ''] = mount ?? []
    // Above what this process can see.
    if (!mount || path === undefined || path.split('/').includes('..')) return undefined
    const below = root !== '/' && path.startsWith(root) ? path.slice(root.length) : path
    return join(place, below)
  } catch {
    return undefined
  }
}

/** Whether a group and those within are gone. */
function removeTree(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !removeTree(join(folder, entry.name))) return false
    }
    rmdirSync(folder)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
