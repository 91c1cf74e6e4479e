import { readlinkSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning, processMark, statFields } from '../../base/process-mark.ts'
import { argumentsOf, isNode, processIds } from '../locks/lock-holders.ts'

/** Engines end with their server, git programs when their pipes break; what takes longer is ended. */
const timeoutMs = 3000
const lookMs = 20

/**
 * Waits for engines and git programs that a server has left behind which worked on the same repositories, and kills
 * those that stay: they might still move a ref. `root` is the folder of all repositories.
 */
export async function outliveOthers(root: string): Promise<void> {
  const folder = await realpath(root).catch(() => undefined)
  if (folder === undefined) return
  let left = strangers(folder, root)
  for (let waited = 0; left.length > 0; waited += lookMs) {
    if (waited >= timeoutMs) for (const mark of left) end(mark)
    await sleep(lookMs)
    left = left.filter(isRunning)
    // One may have started another meanwhile.
    if (left.length === 0) left = strangers(folder, root)
  }
}

/** Marks of processes that work on these repositories and whose server is gone. */
function strangers(folder: string, root: string): string[] {
  return processIds().flatMap((pid) => {
    if (!isEngine(pid, root) && !isGitBelow(pid, folder)) return []
    const mark = processMark(pid)
    return mark === undefined || hasOwner(pid) ? [] : [mark]
  })
}

function isEngine(pid: number, root: string): boolean {
  const args = argumentsOf(pid)
  return args.at(-1) === root && args.some((one) => /[\\/]engine[\\/]process\.[jt]s$/.test(one))
}

function isGitBelow(pid: number, folder: string): boolean {
  if (!/^(?:git(?:-.*)?|timeout)$/.test(basename(argumentsOf(pid)[0] ?? ''))) return false
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder + sep)
  } catch {
    return false
  }
}

/** Whether a program of ours that runs, be it a command beside the server, has started it. */
function hasOwner(pid: number): boolean {
  let at = statFields(pid)?.parent
  while (at !== undefined && at > 1) {
    if (isNode(at)) return true
    at = statFields(at)?.parent
  }
  return false
}

function end(mark: string): void {
  try {
    process.kill(Number.parseInt(mark, 10), 'SIGKILL')
  } catch {
    // It went meanwhile.
  }
}
