import { createReadStream, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import { endAsideBroken, setAsideBroken } from '../refs/broken-refs.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** Where what is damaged lies afterwards, for whoever wants to try more. */
const asideFolder = 'damaged-objects'
/** Commits are read where they lie: the graph of commits may know more than there is. */
const config = { 'core.commitGraph': 'false' }

/**
 * Takes packs that git cannot use out of its way, after what can be read of them was written as single objects; a pack
 * without an index gets one.
 */
export async function salvagePacks(
  repo: Repo,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of names) {
    const file = join('objects/pack', `${name}.pack`)
    const isThere = existsSync(join(repo.path, file))
    if (isThere && (await isIndexed(repo, file, signal))) continue
    for (const ending of ['idx', 'rev', 'bitmap', 'pack']) {
      setAside(repo, join('objects/pack', `${name}.${ending}`))
    }
    // git may not know that the objects are lost while it knows them by an index of many packs.
    setAside(repo, 'objects/pack/multi-pack-index')
    if (isThere) await unpack(repo, join(asideFolder, `${name}.pack`), signal)
  }
  repo.engine.forget(repo.path)
}

/** Whether the pack itself is whole: its index is then made anew. */
async function isIndexed(repo: Repo, file: string, signal: AbortSignal): Promise<boolean> {
  setAside(repo, file.replace(/\.pack$/, '.idx'))
  return await passes(repo, ['index-pack', '--strict', file], signal)
}

async function unpack(repo: Repo, file: string, signal: AbortSignal): Promise<void> {
  const stdin = createReadStream(join(repo.path, file))
  const args = ['unpack-objects', '-r', '-q']
  await runGit({ repo: repo.path, args, stdin, timeout: 0, signal }).catch((error: unknown) => {
    if (!(error instanceof GitError) || signal.aborted) throw error
  })
}

/** Moves single objects away that hold something else than their name says: they would hide whole ones. */
export async function setAsideDamaged(repo: Repo, ids: readonly ObjectId[], signal: AbortSignal) {
  for (const id of ids) {
    const file = join('objects', id.slice(0, 2), id.slice(2))
    if (!existsSync(join(repo.path, file))) continue
    if (!(await passes(repo, ['cat-file', '-p', id], signal))) setAside(repo, file)
  }
  repo.engine.forget(repo.path)
}

function setAside(repo: Repo, name: string): void {
  if (!existsSync(join(repo.path, name))) return
  mkdirSync(join(repo.path, asideFolder), { recursive: true })
  renameSync(
    join(repo.path, name),
    join(repo.path, asideFolder, name.split('/').slice(-2).join('-')),
  )
}

/**
 * Brings what tips lead to out of other folders of objects into a repository; gives the tips for which nothing is missing
 * now.
 */
export async function bringObjects(
  repo: Repo,
  tips: readonly ObjectId[],
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Set<ObjectId>> {
  const all = [...new Set(tips)]
  const isWhole = async () => (await isComplete(repo, all, signal)) && all.length > 0
  if (await isWhole()) return new Set(all)
  if (sources.length > 0 && !(await pack(repo, all, sources, signal))) {
    for (const tip of all) await pack(repo, [tip], sources, signal)
  }
  repo.engine.forget(repo.path)
  const whole = new Set<ObjectId>()
  for (const tip of all) if (await isComplete(repo, [tip], signal)) whole.add(tip)
  return whole
}

/** Whether everything is there that the tips lead to. */
async function isComplete(repo: Repo, tips: readonly ObjectId[], signal: AbortSignal) {
  return await passes(repo, ['rev-list', '--objects', '--quiet', '--stdin'], signal, {
    stdin: `${tips.join('\n')}\n`,
  })
}

async function pack(
  repo: Repo,
  tips: readonly ObjectId[],
  sources: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const args = ['pack-objects', '--revs', '--delta-base-offset', '-q', 'objects/pack/pack']
  return await passes(repo, args, signal, {
    stdin: `${tips.join('\n')}\n`,
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: sources.map(quoted).join(':') },
  })
}

/** As git reads it between colons. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, (sign) => `\\${sign}`)}"`
}

/** Writes a ref that is missing, or whose file holds nothing, unless it holds something else than `there` by now. */
export async function writeLostRef(
  repo: Repo,
  name: string,
  id: ObjectId,
  there?: ObjectId,
): Promise<void> {
  repo.moves.note(repo.key)
  await setAsideBroken(repo, { names: [name] })
  try {
    const before = there ?? '0'.repeat(id.length)
    await runGit({ repo: repo.path, args: ['update-ref', '--no-deref', name, id, before] })
  } finally {
    await endAsideBroken(repo, { names: [name] }).catch(() => undefined)
  }
}

async function passes(
  repo: Repo,
  args: readonly string[],
  signal: AbortSignal,
  more: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<boolean> {
  try {
    await runGit({ repo: repo.path, args, config, timeout: 0, signal, limit: 2 ** 31, ...more })
    return true
  } catch (error) {
    if (!(error instanceof GitError) || signal.aborted) throw error
    return false
  }
}
