import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runGit } from '../command.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { damaged, GitError } from '../error.ts'
import { clip } from '../names.ts'
import { refsOf } from '../ref-files/ref-table.ts'
import type { Repo } from '../repo.ts'

export interface BrokenRef {
  readonly name: string
  /** What is wrong with it, in one clause. */
  readonly what: string
}

/** The refs that hold neither an object nor a name: a power cut leaves files without bytes. */
export const listBrokenRefs = engineCall({
  name: 'listBrokenRefs',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, _input: Record<never, never>): Promise<readonly BrokenRef[]> {
    return refsOf(repository).listBroken()
  },
})

/** Throws `damaged` for a repository with a broken ref, which git leaves out of what it copies. */
export async function assertRefsWhole(repo: Repo, signal?: AbortSignal): Promise<void> {
  const [first] = await listBrokenRefs(repo, {}, signal)
  if (first) throw damaged(first.what)
}

/** Where a broken ref lies while a push makes it anew. */
const asideFolder = 'broken-refs'

const asideOf = (repository: string, name: string) =>
  join(repository, asideFolder, encodeURIComponent(name))

/** Takes broken refs out of the way of whoever makes them anew; gives those that it took. */
export async function takeAside(
  repository: OpenRepository,
  names: readonly string[],
): Promise<string[]> {
  const { path } = repository
  const taken: string[] = []
  for (const name of names) {
    const isTaken = withRefLock(path, name, () => {
      if (!refsOf(repository).isBroken(name)) return false
      mkdirSync(join(path, asideFolder), { recursive: true })
      renameSync(join(path, name), asideOf(path, name))
      return true
    })
    if (!isTaken) continue
    taken.push(name)
    // What was packed of one before is older than what was lost, and goes.
    const packed = refsOf(repository).read(name)
    if (packed === undefined) continue
    await runGit({ repo: path, args: ['update-ref', '--no-deref', '-d', name, packed] })
  }
  return taken
}

/** Ends what `takeAside` began: a ref that was not made anew is broken again. */
export function returnAside(repository: OpenRepository, names: readonly string[]): void {
  const { path } = repository
  for (const name of names) {
    withRefLock(path, name, () => {
      if (refsOf(repository).read(name) !== undefined) rmSync(asideOf(path, name), { force: true })
      else renameSync(asideOf(path, name), join(path, name))
    })
  }
}

/** Runs `act` while nobody else moves the ref: under its lock, as git and libgit2 take it. */
function withRefLock<T>(repository: string, name: string, act: () => T): T {
  const lock = `${join(repository, name)}.lock`
  const file = openLock(lock, name)
  try {
    return act()
  } finally {
    rmSync(lock, { force: true })
    // Not sooner: a lock that nobody has open is one that a killed process has left behind.
    closeSync(file)
  }
}

function openLock(lock: string, name: string): number {
  mkdirSync(dirname(lock), { recursive: true })
  try {
    return openSync(lock, 'wx', 0o666)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new GitError('locked', `${clip(name)} is locked`, { ref: clip(name) })
  }
}

/** As `takeAside`, for a push, which git refuses while there is a broken ref. */
export const setAsideBroken = engineCall({
  name: 'setAsideBroken',
  lane: 'light',
  writes: true,
  run: ({ repository }, { names }: { readonly names: readonly string[] }) =>
    takeAside(repository, names),
})

/** As `returnAside`. */
export const endAsideBroken = engineCall({
  name: 'endAsideBroken',
  lane: 'light',
  writes: true,
  async run({ repository }, { names }: { readonly names: readonly string[] }): Promise<void> {
    returnAside(repository, names)
  },
})
