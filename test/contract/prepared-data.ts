import { linkSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** The data of a running server as it was at one moment. */
export interface PreparedData {
  /** Puts the database back, and the repositories if they may have changed. */
  putBack(repositories: boolean): Promise<void>
  close(): void
}

export async function prepareData(folder: string): Promise<PreparedData> {
  const repositories = join(folder, 'repositories')
  const copy = `${folder}-prepared`
  const live = new Database(join(folder, 'gitstead.db'))
  await live.backup(`${copy}.db`)
  const prepared = new Database(`${copy}.db`, { readonly: true })
  const tree = linkTree(repositories, copy)
  // A restored database counts as one of another schema, which each connection would read anew, a thousand tables and
  // indexes, with each statement; it is the same one.
  const schema = live.pragma('schema_version', { simple: true })
  live.unsafeMode()
  const seenVersion = () => live.pragma('data_version', { simple: true })
  let version = seenVersion()
  return {
    async putBack(mayHaveMovedRefs) {
      if (version !== seenVersion()) {
        await prepared.backup(live.name, { progress: () => 100_000 })
        live.pragma(`schema_version = ${schema}`)
        version = seenVersion()
      }
      if (mayHaveMovedRefs) putTreeBack(tree, copy, repositories)
    },
    close() {
      live.close()
      prepared.close()
      for (const path of [copy, `${copy}.db`]) rmSync(path, { recursive: true, force: true })
    },
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
