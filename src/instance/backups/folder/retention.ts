import type { BackupFolder } from './backup-folder.ts'

/**
 * Keeps the newest `keep` backups in which nothing was damaged, and whatever is newer than the oldest of them; removes the
 * others, with what no backup names any more. Gives the names of those that are gone.
 */
export async function removeOldBackups(folder: BackupFolder, keep: number): Promise<string[]> {
  const unlock = await folder.lock()
  try {
    const all = await folder.list()
    const good = all.filter(({ manifest }) => manifest?.faults.length === 0)
    const oldest = good.at(-keep)?.name
    if (good.length < keep || oldest === undefined) return []
    const old = all.filter(({ name }) => name < oldest)
    if (old.length === 0) return []
    for (const { name } of old) await folder.remove(name)
    const named = new Set<string>()
    for (const { manifest } of await folder.list()) {
      // One that cannot be read may name anything.
      if (!manifest) return old.map(({ name }) => name)
      for (const { sha256 } of await folder.files(manifest)) named.add(sha256)
    }
    await folder.store().sweep(named)
    return old.map(({ name }) => name)
  } finally {
    unlock()
  }
}
