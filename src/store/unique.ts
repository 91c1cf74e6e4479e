import Database from 'better-sqlite3'
import { invalid, Problem } from '../base/problem.ts'

/**
 * Which unique index a write broke, by its columns (`users.email`, `projects.namespace_id, projects.name`), or undefined
 * for any other error.
 */
export function brokenKey(error: unknown): string | undefined {
  if (!(error instanceof Database.SqliteError)) return undefined
  if (error.code !== 'SQLITE_CONSTRAINT_UNIQUE' && error.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') {
    return undefined
  }
  return /^UNIQUE constraint failed: (.*)$/.exec(error.message)?.[1]
}

/** Does the write, and answers a broken unique index with the problem that is named for its columns. */
export async function uniquely<T>(
  problems: Readonly<Record<string, () => Problem>>,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const key = brokenKey(error)
    const problem = key === undefined ? undefined : problems[key]
    throw problem ? problem() : error
  }
}

const TAKEN = 'has already been taken'

/** The model's words for a value that somebody else has. */
export function taken(field: string): Problem {
  return invalid({ [field]: [TAKEN] })
}

/** Whether this says that somebody else has a value. */
export function isTaken(error: unknown): boolean {
  if (!(error instanceof Problem)) return false
  return (
    error.code === 'conflict' ||
    Object.values(error.fields ?? {})
      .flat()
      .includes(TAKEN)
  )
}
