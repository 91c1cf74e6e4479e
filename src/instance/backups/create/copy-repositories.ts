import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { StartError } from '../../../base/start-error.ts'
import {
  listObjectFiles,
  listRepositoryFolders,
  type RefsCopy,
  readRefsCopy,
} from '../../../git/transfer/copy-out.ts'
import type { BackupFile } from '../folder/manifest.ts'
import type { FileCopier } from './copy-files.ts'

/** A repack takes files away after what was in them has come into others. */
const attempts = 5

/** The refs of all repositories of a data folder at one moment, by the folder of each, such as `2a/42.git`. */
export class AllRefs {
  readonly #root: string
  readonly #refs = new Map<string, RefsCopy>()

  constructor(data: string) {
    this.#root = join(data, 'repositories')
  }

  get entries(): ReadonlyMap<string, RefsCopy> {
    return this.#refs
  }

  /** Reads those of every repository, while refs move. */
  async readAll(signal: AbortSignal): Promise<void> {
    for (const folder of await listRepositoryFolders(this.#root)) {
      signal.throwIfAborted()
      this.#read(folder)
    }
  }

  /** While no ref moves: reads those anew that have moved, and finds what has come and gone. */
  async catchUp(moved: ReadonlySet<string>): Promise<void> {
    const folders = await listRepositoryFolders(this.#root)
    const there = new Set(folders)
    for (const folder of [...this.#refs.keys()]) if (!there.has(folder)) this.#refs.delete(folder)
    for (const folder of folders) {
      if (!this.#refs.has(folder) || moved.has(basename(folder, '.git'))) this.#read(folder)
    }
  }

  #read(folder: string): void {
    const refs = readRefsCopy(join(this.#root, folder))
    if (refs) this.#refs.set(folder, refs)
    else this.#refs.delete(folder)
  }
}

/** Copies the objects of one repository, and writes its recorded refs. */
export async function copyRepository(
  data: string,
  folder: string,
  refs: RefsCopy,
  copier: FileCopier,
): Promise<BackupFile[]> {
  const path = join(data, 'repositories', folder)
  const below = `repositories/${folder}`
  const objects = await copyObjects(path, below, copier)
  const written = await Promise.all([
    copier.copyBytes(`${below}/HEAD`, refs.head),
    copier.copyBytes(`${below}/config`, readConfigOf(path)),
    copier.copyBytes(`${below}/packed-refs`, refs.packed),
  ])
  return [...objects, ...written]
}

async function copyObjects(path: string, below: string, copier: FileCopier): Promise<BackupFile[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const sources = listObjectFiles(path).map(({ name, source, stats }) => ({
        path: `${below}/${name}`,
        source,
        stats,
      }))
      return await copier.copyAll(sources)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      if (attempt === attempts) {
        throw new StartError(`the files of ${below} kept changing: make the backup again`)
      }
    }
  }
}

/** One that was deleted meanwhile has it beside its old place no more; a restored one is deleted again. */
function readConfigOf(path: string): string {
  try {
    return readFileSync(join(path, 'config'), 'utf8')
  } catch {
    return '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
  }
}
