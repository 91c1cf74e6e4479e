import { sql } from 'kysely'
import type { Db } from '../../../store/schema.ts'

/** Whether two projects come from the same first project by forking. */
export async function areRelated(db: Db, one: number, other: number): Promise<boolean> {
  const root = (id: number) => sql`(
    WITH RECURSIVE up(id, forked_from_id, depth) AS (
      SELECT id, forked_from_id, 0 FROM projects WHERE id = ${id}
      UNION ALL
      SELECT p.id, p.forked_from_id, depth + 1 FROM up JOIN projects p ON p.id = up.forked_from_id WHERE depth < 100
    )
    SELECT id FROM up ORDER BY depth DESC LIMIT 1)`
  const { rows } = await sql<{ same: 0 | 1 }>`SELECT ${root(one)} = ${root(other)} AS same`.execute(
    db,
  )
  return rows[0]?.same === 1
}
