import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** Whether the database answers. */
export async function answersReads(db: Db): Promise<boolean> {
  try {
    await sql`select 1`.execute(db)
    return true
  } catch {
    return false
  }
}
