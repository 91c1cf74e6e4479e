import Database from 'better-sqlite3'
import { workerTask } from '../../base/workers/worker-task.ts'

/**
 * Copies into the database file what the write-ahead log holds and no reader still needs there; for a worker thread.
 * Readers and writers go on meanwhile, so that what is committed meanwhile stays in the log.
 */
export const checkpoint = workerTask((path: string): void => {
  const database = new Database(path, { fileMustExist: true, timeout: 0 })
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } finally {
    database.close()
  }
})
