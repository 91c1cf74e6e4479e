import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** The data of a running server as it was at one moment. */
export interface PreparedData {
  /** Puts the database back, and the repositories if they may have changed. */
  putBack(repositories: boolean): Promise<void>
  /** Remembers the database as it is now, and gives how to come back to that, until the next `putBack`. */
  mark(): Promise<() => Promise<void>>
  close(): void
}

export async function prepareData(folder: string): Promise<PreparedData> {
  const repositories = join(folder, 'repositories')
  const copy = `${folder}-prepared`
  const database = rewindable(join(folder, 'gitstead.db'))
  const begin = await database.mark()
  const tree = linkTree(repositories, copy)
  return {
    async putBack(mayHaveMovedRefs) {
      await begin()
      if (mayHaveMovedRefs) putTreeBack(tree, copy, repositories)
    },
    mark: database.mark,
    close() {
      database.close()
      rmSync(copy, { recursive: true, force: true })
    },
  }
}

/** The head of the index beside a write-ahead log, twice the same 48 bytes: how far the log goes (sqlite.org/walformat.html, 2.1). */
const headBytes = 96

interface Rewindable {
  /** Remembers the database as it is now, and gives how to come back to that. */
  mark(): Promise<() => Promise<void>>
  close(): void
}

/**
 * A database that can be put back to what it was, as often as wanted and in a moment, however much was written: what is
 * committed from here on stays in the write-ahead log, which a reader keeps from being copied into the database, and to go
 * back is to tell all connections that the log is as long as it was. SQLite itself undoes a transaction like this.
 */
function rewindable(path: string): Rewindable {
  const writer = new Database(path, { timeout: 0 })
  const [{ busy } = { busy: 1 }] = writer.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  if (busy !== 0) throw new Error(`somebody reads ${path}`)
  const reader = new Database(path, { readonly: true })
  reader.exec('BEGIN; SELECT 1 FROM sqlite_schema')
  // Not closed before the end: that takes away the locks that this process has on the file.
  const index = openSync(`${path}-shm`, 'r+')
  const read = () => {
    const head = Buffer.alloc(headBytes)
    readSync(index, head, 0, headBytes, 0)
    return head
  }
  /** While nobody else writes. */
  async function alone<T>(act: () => T): Promise<T> {
    await whenFree(() => writer.exec('BEGIN IMMEDIATE'))
    try {
      return act()
    } finally {
      writer.exec('ROLLBACK')
    }
  }
  return {
    async mark() {
      const head = await alone(read)
      return () =>
        alone(() => {
          if (!read().equals(head)) writeSync(index, head, 0, headBytes, 0)
        })
    },
    close() {
      reader.close()
      writer.close()
      closeSync(index)
    },
  }
}

/** Nothing may wait in here for the server, which is in the same process. */
async function whenFree(act: () => void): Promise<void> {
  for (;;) {
    try {
      return act()
    } catch (error) {
      if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY')) throw error
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** What a folder holds: files with their inodes, and folders. */
interface Tree {
  readonly files: ReadonlyMap<string, number>
  readonly folders: ReadonlyMap<string, Tree>
}

/** A copy of hard links: git replaces files, it never writes into them. */
function linkTree(from: string, to: string): Tree {
  mkdirSync(to)
  const files = new Map<string, number>()
  const folders = new Map<string, Tree>()
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) {
      folders.set(entry.name, linkTree(source, target))
    } else {
      linkSync(source, target)
      files.set(entry.name, lstatSync(source).ino)
    }
  }
  return { files, folders }
}

/** Makes a folder hold what its copy does again; what is still the same is left alone. */
function putTreeBack(tree: Tree, from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  const kept = new Set<string>()
  for (const entry of readdirSync(to, { withFileTypes: true })) {
    const path = join(to, entry.name)
    const isSame = entry.isDirectory()
      ? tree.folders.has(entry.name)
      : tree.files.get(entry.name) === lstatSync(path).ino
    if (isSame) kept.add(entry.name)
    else rmSync(path, { recursive: true, force: true })
  }
  for (const name of tree.files.keys()) {
    if (!kept.has(name)) linkSync(join(from, name), join(to, name))
  }
  for (const [name, folder] of tree.folders) putTreeBack(folder, join(from, name), join(to, name))
}
