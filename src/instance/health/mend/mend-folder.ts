import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLockDataFolder } from '../../../store/sqlite/lock.ts'
import { copyOut } from '../../backups/folder/content-store.ts'
import type { BackupSource } from './backup-source.ts'

/**
 * Puts the database of the newest backup into a data folder that has lost its own; gives the backup. What repositories
 * have that it does not know, the looks after it find.
 */
export async function putDatabaseBack(
  data: string,
  backup: BackupSource,
): Promise<string | undefined> {
  const found = await backup.findDatabase()
  const lock = found && tryLockDataFolder(data)
  if (!lock) return undefined
  try {
    const path = join(data, 'gitstead.db')
    const draft = `${path}.restored`
    await copyOut(found.path, draft, 0o600)
    // They are of the database that is gone.
    for (const ending of ['-wal', '-shm']) {
      if (existsSync(`${path}${ending}`)) renameSync(`${path}${ending}`, `${path}${ending}.lost`)
    }
    await rename(draft, path)
    return found.backup
  } finally {
    lock.release()
  }
}

/** Puts `secret.key` of the newest backup back where there is none; gives the backup. */
export async function putKeyBack(data: string, backup: BackupSource): Promise<string | undefined> {
  const found = await backup.secretKey()
  if (!found) return undefined
  writeFileSync(join(data, 'secret.key'), found.key, { mode: 0o600, flag: 'wx', flush: true })
  return found.backup
}
