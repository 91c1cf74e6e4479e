import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Timeslice } from '../../base/timeslice.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'

export interface FoundFile {
  /** Relative to the repository. */
  readonly name: string
  readonly size: number
}

/** What was in a folder of loose objects when it last changed: files there stay as they are. */
interface KnownFolder {
  readonly stamp: bigint
  readonly files: readonly FoundFile[]
}

const knownKey = Symbol('folders of loose objects')
const looseFolder = /^objects\/[0-9a-f]{2}$/

/**
 * Every file of a repository. Of the folders of loose objects only those are read that have changed
 * since the last look: pushes come often, and each adds a few files among thousands.
 */
export async function filesBelow(
  repository: OpenRepository,
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const known = repository.keep(knownKey, () => new Map<string, KnownFolder>())
  const slice = new Timeslice(3)
  const found: FoundFile[][] = []
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (signal.aborted) throw new GitError('timeout', 'the caller went away')
    const isLoose = looseFolder.test(folder)
    const stamp = isLoose ? stampOf(join(repository.path, folder)) : undefined
    const before = isLoose ? known.get(folder) : undefined
    if (before && before.stamp === stamp) {
      found.push([...before.files])
      continue
    }
    const { files, below } = look(repository.path, folder)
    if (stamp !== undefined) known.set(folder, { stamp, files })
    found.push(files)
    folders.push(...below)
    if (slice.isOver()) await slice.yield()
  }
  return found.flat()
}

function stampOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs
}

/** A push or repack may take files and folders away while we look. */
function look(root: string, folder: string): { files: FoundFile[]; below: string[] } {
  const files: FoundFile[] = []
  const below: string[] = []
  for (const entry of entriesOf(join(root, folder))) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) below.push(name)
    const stats = entry.isFile() ? statSync(join(root, name), { throwIfNoEntry: false }) : undefined
    if (stats) files.push({ name, size: stats.size })
  }
  return { files, below }
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch {
    return []
  }
}
