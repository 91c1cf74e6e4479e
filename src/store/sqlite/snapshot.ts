import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { StartError } from '../../base/start-error.ts'

/** A repository in the journal of moves: of a project, or a wiki or snippet of what it belongs to. */
export interface MovedRepository {
  readonly project_id: number | null
  readonly wiki_project_id: number | null
  readonly wiki_group_id: number | null
  readonly snippet_id: number | null
}

/**
 * The database of a data folder as it is at one moment, from the call of `pin` on, while others write. Its schema may be
 * of any version.
 */
export class DatabaseSnapshot {
  readonly #database: Database.Database

  constructor(folder: string) {
    const path = join(folder, 'gitstead.db')
    if (!existsSync(path)) {
      throw new StartError(`${folder} holds nothing yet: there is no database`)
    }
    try {
      this.#database = new Database(path, { fileMustExist: true, timeout: 5000 })
      this.#database.pragma('query_only = ON')
      this.#database.pragma('trusted_schema = OFF')
    } catch (error) {
      throw new StartError(`the database ${path} cannot be opened (${String(error)})`)
    }
  }

  pin(): void {
    this.#database.exec('BEGIN; SELECT 1 FROM sqlite_schema')
  }

  /** Names of the migrations that made the schema. */
  migrations(): string[] {
    const sql = 'SELECT name FROM schema_migrations ORDER BY name'
    return this.#database
      .prepare<[], { name: string }>(sql)
      .all()
      .map(({ name }) => name)
  }

  /** The number of the last move of a ref. */
  lastMove(): number {
    const sql = 'SELECT coalesce(max(id), 0) AS id FROM ref_moves'
    return this.#database.prepare<[], { id: number }>(sql).get()?.id ?? 0
  }

  /** The repositories in which refs were to move after one move. */
  movedSince(id: number): MovedRepository[] {
    const sql = `
      SELECT DISTINCT m.project_id, w.project_id AS wiki_project_id, w.group_id AS wiki_group_id, w.snippet_id
      FROM ref_moves m LEFT JOIN wiki_snippet_repositories w ON w.id = m.repository_id
      WHERE m.id > ?`
    return this.#database.prepare<[number], MovedRepository>(sql).all(id)
  }

  /** Writes what was pinned to a new file, and lets go of it. */
  async copyTo(path: string, signal?: AbortSignal): Promise<void> {
    await this.#database.backup(path, {
      progress() {
        signal?.throwIfAborted()
        return 1000
      },
    })
    this.#database.exec('COMMIT')
    const file = await open(path, 'r')
    await file.sync()
    await file.close()
  }

  close(): void {
    this.#database.close()
  }
}

/** What SQLite finds wrong with a database that nobody uses; it needs no log beside it from then on. */
export function checkCopy(path: string): string[] {
  const database = new Database(path, { fileMustExist: true })
  try {
    database.pragma('journal_mode = DELETE')
    return faultsIn(database)
  } catch (error) {
    return [`the database cannot be read (${String(error)})`]
  } finally {
    database.close()
  }
}

/** The same, of a file that stays as it is. */
export function checkReadOnly(path: string): string[] {
  try {
    const database = new Database(path, { readonly: true, fileMustExist: true })
    try {
      return faultsIn(database)
    } finally {
      database.close()
    }
  } catch (error) {
    return [`the database cannot be read (${String(error)})`]
  }
}

export function faultsIn(database: Database.Database): string[] {
  const found = database.pragma('integrity_check') as { integrity_check: string }[]
  const texts = found.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  const broken = database.pragma('foreign_key_check') as { table: string; rowid: number }[]
  return [...texts, ...broken.map((row) => `${row.table} row ${row.rowid} points to nothing`)]
}
