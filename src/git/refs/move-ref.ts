import { dirname, join } from 'node:path'
import { type NativeRepository, nodegit, type Oid, oid } from '../engine/native.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { persistently, writingHandle } from '../engine/writing-handles.ts'
import { GitError, type GitErrorCode } from '../error.ts'
import { clip } from '../names.ts'
import { readObjectHeader, readTyped } from '../objects/objects.ts'
import { refsOf } from '../ref-files/ref-table.ts'
import { syncUnlessGone } from '../repo-layout.ts'
import { noObject, type RefUpdate } from '../types.ts'
import { returnAside, takeAside } from './broken-refs.ts'

interface Nodegit {
  readonly Reference: {
    /** Compares and swaps; an id of zeros means that there is no such ref. */
    createMatching(
      repository: NativeRepository,
      name: string,
      id: Oid,
      force: number,
      held: Oid,
      message: string,
    ): Promise<unknown>
  }
}

/**
 * Moves or makes one ref, if it still holds what the caller saw, by libgit2 under git's lock; the ref and its name are on
 * the disk at the end.
 */
export async function moveLooseRef(repository: OpenRepository, update: RefUpdate): Promise<void> {
  const { name, newId } = update
  // A branch holds a commit, and one that can be read: its pack may be damaged.
  if (name.startsWith('refs/heads/')) await readTyped(repository, newId, 'commit')
  else await readObjectHeader(repository, newId)
  // What is broken holds nothing, and whoever has it brings it back.
  const aside = refsOf(repository).isBroken(name) ? await takeAside(repository, [name]) : []
  try {
    await createMatching(repository, update)
  } finally {
    returnAside(repository, aside)
  }
  await Promise.all(
    foldersAbove(name).map((folder) => syncUnlessGone(join(repository.path, folder))),
  )
}

async function createMatching(
  repository: OpenRepository,
  { name, oldId, newId }: RefUpdate,
): Promise<void> {
  // A cast as in every file that declares its part of nodegit.
  const { Reference } = nodegit() as unknown as Nodegit
  try {
    await persistently(async () => {
      const handle = await writingHandle(repository)
      await Reference.createMatching(handle, name, oid(newId), 1, oid(oldId), '')
    })
  } catch (error) {
    throw refused(error, name, oldId)
  }
}

const codes: Readonly<Record<number, GitErrorCode>> = {
  [-3]: 'stale',
  [-4]: 'exists',
  [-14]: 'locked',
  [-15]: 'stale',
  [-23]: 'conflict',
}
/** What libgit2 says, without a number of its own, where a ref is a folder of others or the other way round. */
const inTheWay = /Not a directory|collides with existing/

function refused(error: unknown, name: string, oldId: string): unknown {
  if (!(error instanceof GitError)) return error
  const isInTheWay = error.code === 'failed' && inTheWay.test(error.message)
  const code = isInTheWay ? 'conflict' : codes[Number(error.detail.errno)]
  if (code === undefined) return error
  const isMade = oldId === noObject && code === 'stale'
  return new GitError(isMade ? 'exists' : code, `${clip(name)}: ${error.message}`, {
    ref: clip(name),
  })
}

/** `refs/heads/a/b`: `refs/heads/a`, `refs/heads` and `refs`. */
function foldersAbove(name: string): string[] {
  const folders: string[] = []
  for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.push(at)
  return folders
}
