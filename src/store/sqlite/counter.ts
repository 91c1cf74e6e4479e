import { sql } from 'kysely'
import type { Db, Schema } from '../schema.ts'

/** Lets the next row of a table have an id above `used`: something that the database does not know has it. */
export async function passOverIds(db: Db, table: keyof Schema, used: number): Promise<void> {
  await sql`
    UPDATE sqlite_sequence SET seq = max(seq, ${used}) WHERE name = ${table}`.execute(db)
  await sql`
    INSERT INTO sqlite_sequence (name, seq) SELECT ${table}, ${used}
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${table})`.execute(db)
}
