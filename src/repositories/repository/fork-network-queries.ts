import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** The project from which, step by step, this one was forked: itself when it is no fork. */
export async function findForkRoot(db: Db, projectId: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    WITH RECURSIVE chain(id, parent_id, depth) AS (
      SELECT id, forked_from_id, 0 FROM projects WHERE id = ${projectId}
      UNION ALL
      SELECT p.id, p.forked_from_id, chain.depth + 1 FROM projects p JOIN chain ON p.id = chain.parent_id
      WHERE chain.depth < 1000
    )
    SELECT id FROM chain ORDER BY depth DESC LIMIT 1`.execute(db)
  return rows[0]?.id ?? projectId
}
