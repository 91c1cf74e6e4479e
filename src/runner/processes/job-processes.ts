import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ProcessFields, statFields } from '../../base/process-mark.ts'
import type { ControlGroup } from './control-groups.ts'

/** Ends what a program has started; see there. */
const contain = fileURLToPath(new URL('../../../scripts/contain', import.meta.url))

/** By this variable of their environment the processes of a job are found, whatever group they moved to. */
export const MARK = 'GITSTEAD_RUNNER_JOB'

/** A job can stop the process that watches over it. */
const STOP_MS = 3000

export interface StartedCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * The processes of one job. They are found as descendants of the process that watches over each command, by their
 * session and environment should a job have killed that one, and by their control group where there are such.
 */
export class JobProcesses {
  readonly #mark: string
  readonly #group: ControlGroup | undefined
  /** Those that watch over a command which runs. */
  readonly #watching = new Map<number, ChildProcess>()
  /** Those that have ended since processes were last looked for. */
  readonly #sessions = new Set<number>()

  constructor(mark: string, group: ControlGroup | undefined) {
    this.#mark = mark
    this.#group = group
  }

  /** Starts a program of the job; the process that this gives ends as it does. */
  start({ program, args, cwd, env }: StartedCommand): ChildProcess {
    const group = this.#group ? ['--group', this.#group.joinFile] : []
    const environment = environmentText({ ...env, [MARK]: this.#mark })
    const own = ['--parent', String(process.pid), '--environment', ...group]
    const child = spawn(perl(), [contain, ...own, '--', program, ...args], {
      cwd,
      // Variables of a job are for its own programs: they could lead this one anywhere.
      env: { PERL_BADLANG: '0' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    // Missing where the system has no room for another process; only ever written to.
    const input = child.stdio?.[3] as Writable | undefined
    input?.on('error', () => undefined)
    input?.end(environment)
    const { pid } = child
    if (pid === undefined) return child
    this.#watching.set(pid, child)
    child.once('exit', () => {
      this.#watching.delete(pid)
      this.#sessions.add(pid)
    })
    return child
  }

  /** Ends a program and what it has started. */
  stop(child: ChildProcess): void {
    // One that is stopped gets no signal.
    child.kill('SIGTERM')
    child.kill('SIGCONT')
    const timer = setTimeout(() => {
      void this.kill().then(() => child.kill('SIGKILL'))
    }, STOP_MS).unref()
    child.once('exit', () => clearTimeout(timer))
  }

  /** Those that run now, but for what hides from the process that watches. */
  async list(): Promise<number[]> {
    const found = descendants(await fieldsOfAll(), new Set(this.#watching.keys()))
    return [...new Set([...found, ...(this.#group?.list() ?? [])])]
  }

  /** Kills every process of the job until there is none. */
  async kill(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1) {
      this.#group?.kill()
      const found = await this.#find()
      if (found.length === 0) break
      for (const pid of found) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It is gone already.
        }
      }
      await sleep(turn < 5 ? 5 : 50)
    }
    this.#sessions.clear()
  }

  /** Kills what is left and forgets the job. */
  async close(): Promise<void> {
    await this.kill()
    await this.#group?.close()
  }

  async #find(): Promise<number[]> {
    const all = await fieldsOfAll()
    const below = descendants(all, new Set(this.#watching.keys()))
    const found = await Promise.all(
      [...all].map(async ([pid, { session }]) => {
        if (this.#watching.has(pid)) return []
        const isOwn =
          below.has(pid) || this.#sessions.has(session) || (await isMarked(pid, this.#mark))
        return isOwn ? [pid] : []
      }),
    )
    return found.flat()
  }
}

/** As `contain` reads it. */
function environmentText(env: StartedCommand['env']): string {
  const pairs = Object.entries(env)
  const bad = pairs.find((pair) => pair.some((text) => text.includes('\0')))
  if (bad) throw new Error(`the variable ${bad[0]} holds a zero byte`)
  return pairs.map(([key, value]) => `${key}=${value}\0`).join('')
}

/** Jobs may name other folders for programs in their variables. */
function perl(): string {
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(':')]
  const found = folders.find((folder) => existsSync(`${folder}/perl`))
  return found === undefined ? 'perl' : `${found}/perl`
}

type AllFields = ReadonlyMap<number, ProcessFields>

async function fieldsOfAll(): Promise<AllFields> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const all = new Map<number, ProcessFields>()
  for (const pid of names.map(Number)) {
    const fields = statFields(pid)
    if (fields) all.set(pid, fields)
  }
  return all
}

function descendants(all: AllFields, roots: ReadonlySet<number>): ReadonlySet<number> {
  const children = new Map<number, number[]>()
  for (const [pid, { parent }] of all) {
    const known = children.get(parent)
    if (known) known.push(pid)
    else children.set(parent, [pid])
  }
  const found = new Set<number>()
  const left = [...roots]
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (found.has(child)) continue
      found.add(child)
      left.push(child)
    }
  }
  return found
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return text.includes(`${MARK}=${mark}\0`)
}
