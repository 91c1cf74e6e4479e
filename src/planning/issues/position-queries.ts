import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** Gives places behind all others to the issues of a project that have none yet, oldest first. */
export async function fillPositions(db: Db, projectId: number, gap: number): Promise<void> {
  await sql`WITH last AS (
      SELECT coalesce(max(relative_position), 0) AS position FROM issues
      WHERE project_id = ${projectId} AND relative_position IS NOT NULL
    ), fresh AS (
      SELECT id, row_number() OVER (ORDER BY id) AS at FROM issues INDEXED BY issues_without_position
      WHERE project_id = ${projectId} AND relative_position IS NULL
    )
    UPDATE issues SET relative_position = (SELECT position FROM last) + fresh.at * ${gap}
    FROM fresh WHERE issues.id = fresh.id`.execute(db)
}

/** Puts all issues of a project a whole gap apart, in the order that they have. */
export async function spreadPositions(db: Db, projectId: number, gap: number): Promise<void> {
  await sql`WITH ordered AS (
      SELECT id, row_number() OVER (ORDER BY relative_position, id) AS at FROM issues
      WHERE project_id = ${projectId}
    )
    UPDATE issues SET relative_position = ordered.at * ${gap}
    FROM ordered WHERE issues.id = ordered.id`.execute(db)
}

export async function findPosition(
  db: Db,
  projectId: number,
  id: number,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('issues')
    .select('relative_position')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.relative_position ?? undefined
}

/** The nearest position above or below one, of another issue of the project. */
export async function findNeighbour(
  db: Db,
  place: { readonly projectId: number; readonly exceptId: number },
  direction: 'above' | 'below',
  position: number,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('issues')
    .select('relative_position')
    .where('project_id', '=', place.projectId)
    .where('id', '<>', place.exceptId)
    .where('relative_position', direction === 'above' ? '>' : '<', position)
    .orderBy('relative_position', direction === 'above' ? 'asc' : 'desc')
    .executeTakeFirst()
  return row?.relative_position ?? undefined
}
