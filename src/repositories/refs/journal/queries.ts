import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Via } from '../../../store/schema/refs.ts'
import type { Db, RowOf } from '../../../store/schema.ts'
import type { RefMove } from '../moves.ts'

/* What every push asks is written in SQL: to build it anew each time takes longer than to run it. */

/** The repository whose refs move, as the journal knows it: of a project, or of a wiki or snippet. */
export type JournalKey = { readonly projectId: number } | { readonly repositoryId: number }

function columnsOf(key: JournalKey) {
  return 'projectId' in key
    ? { project_id: key.projectId, repository_id: null }
    : { project_id: null, repository_id: key.repositoryId }
}

/** Records which refs are about to move, before any of them does. */
export async function insertPush(
  db: Db,
  push: {
    key: JournalKey
    userId: number | null
    via: Via
    options: readonly string[]
    process: string | null
    moves: readonly RefMove[]
  },
  now: Instant,
): Promise<number> {
  const { project_id, repository_id } = columnsOf(push.key)
  const { rows } = await sql<{ id: number }>`
    INSERT INTO pushes (project_id, repository_id, user_id, via, options, process, created_at)
    VALUES (${project_id}, ${repository_id}, ${push.userId}, ${push.via}, ${JSON.stringify(push.options)},
      ${push.process}, ${now})
    RETURNING id`.execute(db)
  const id = rows[0]?.id
  if (id === undefined) throw new Error('no push was added')
  await sql`
    INSERT INTO ref_moves (push_id, project_id, repository_id, ref, old_id, new_id)
    SELECT ${id}, ${project_id}, ${repository_id}, value ->> 'name', value ->> 'oldId', value ->> 'newId'
    FROM json_each(${JSON.stringify(push.moves)}) ORDER BY key`.execute(db)
  return id
}

/** Closes an open push and gives how it came in; undefined when that was done before. */
export async function closePush(db: Db, pushId: number, now: Instant): Promise<Via | undefined> {
  const { rows } = await sql<{ via: Via }>`
    UPDATE pushes SET state = 'closed', closed_at = ${now} WHERE id = ${pushId} AND state = 'open'
    RETURNING via`.execute(db)
  return rows[0]?.via
}

/** Marks which refs of a push moved, and gives those; the others were refused. */
export async function markMoves(
  db: Db,
  pushId: number,
  moved: ReadonlySet<string>,
): Promise<RefMove[]> {
  const names = JSON.stringify([...moved])
  const { rows } = await sql<Omit<RowOf<'ref_moves'>, 'push_id'>>`
    UPDATE ref_moves
    SET state = iif(ref IN (SELECT value FROM json_each(${names})), 'moved', 'refused')
    WHERE push_id = ${pushId} AND state = 'open'
    RETURNING id, ref, old_id, new_id, state`.execute(db)
  // Rows come back in no order.
  return rows
    .filter(({ state }) => state === 'moved')
    .sort((a, b) => a.id - b.id)
    .map((row) => ({ name: row.ref, oldId: row.old_id, newId: row.new_id }))
}

export async function findOpenPush(db: Db, id: number) {
  return await db
    .selectFrom('pushes')
    .selectAll()
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst()
}

/** Pushes of which it is not known what became of them, begun before a moment. */
export async function listOpenPushes(db: Db, before: Instant) {
  return await db
    .selectFrom('pushes')
    .selectAll()
    .where('state', '=', 'open')
    .where('created_at', '<=', before)
    .orderBy('id')
    .execute()
}

/** These pushes, the oldest first. */
export async function listPushes(db: Db, ids: readonly number[]) {
  const { rows } = await sql<RowOf<'pushes'>>`
    SELECT * FROM pushes WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))
    ORDER BY id`.execute(db)
  return rows
}

export async function listMoves(db: Db, pushId: number) {
  return await db
    .selectFrom('ref_moves')
    .selectAll()
    .where('push_id', '=', pushId)
    .orderBy('id')
    .execute()
}

/** The refs of several pushes that moved, by push. */
export async function listMovedRefsOf(
  db: Db,
  pushIds: readonly number[],
): Promise<Map<number, RefMove[]>> {
  const { rows } = await sql<RowOf<'ref_moves'>>`
    SELECT * FROM ref_moves
    WHERE push_id IN (SELECT value FROM json_each(${JSON.stringify(pushIds)})) AND state = 'moved'
    ORDER BY id`.execute(db)
  const found = new Map<number, RefMove[]>()
  for (const { push_id, ref, old_id, new_id } of rows) {
    const moves = found.get(push_id) ?? []
    moves.push({ name: ref, oldId: old_id, newId: new_id })
    found.set(push_id, moves)
  }
  return found
}

/** What was recorded for one ref from a move on, newest first, without what was refused. */
export async function listLaterMoves(db: Db, key: JournalKey, ref: string, fromId: number) {
  return await db
    .selectFrom('ref_moves')
    .selectAll()
    .where((is) =>
      'projectId' in key
        ? is('project_id', '=', key.projectId)
        : is('repository_id', '=', key.repositoryId),
    )
    .where('ref', '=', ref)
    .where('id', '>=', fromId)
    .where('state', '<>', 'refused')
    .orderBy('id', 'desc')
    .execute()
}

/** The last that was recorded of each ref of a repository, without what was refused. */
export async function listLastMoves(db: Db, key: JournalKey): Promise<RowOf<'ref_moves'>[]> {
  const { project_id, repository_id } = columnsOf(key)
  // SQLite takes the other columns from the row with the greatest id.
  const { rows } = await sql<RowOf<'ref_moves'>>`
    SELECT max(id) AS id, push_id, project_id, repository_id, ref, old_id, new_id, state FROM ref_moves
    WHERE ${project_id === null ? sql`repository_id = ${repository_id}` : sql`project_id = ${project_id}`}
      AND state <> 'refused'
    GROUP BY ref`.execute(db)
  return rows
}

/** Notes that an effect of a push is done; false when it was before. */
export async function insertPushEffect(db: Db, pushId: number, effect: string): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO push_effects (push_id, effect) VALUES (${pushId}, ${effect})
    ON CONFLICT DO NOTHING RETURNING push_id`.execute(db)
  return rows.length > 0
}

/** Notes that the effects of a push are still to come. */
export async function insertWaiting(db: Db, projectId: number, pushId: number): Promise<void> {
  await sql`
    INSERT INTO waiting_pushes (push_id, project_id) VALUES (${pushId}, ${projectId})
    ON CONFLICT DO NOTHING`.execute(db)
}

/** Pushes to a project whose effects are still to come, the oldest first. */
export async function listWaiting(db: Db, projectId: number, most: number): Promise<number[]> {
  const { rows } = await sql<{ push_id: number }>`
    SELECT push_id FROM waiting_pushes WHERE project_id = ${projectId}
    ORDER BY push_id LIMIT ${sql.lit(most)}`.execute(db)
  return rows.map((row) => row.push_id)
}

export async function deleteWaiting(db: Db, pushIds: readonly number[]): Promise<void> {
  const ids = JSON.stringify(pushIds)
  await sql`
    DELETE FROM waiting_pushes
    WHERE push_id IN (SELECT value FROM json_each(${ids}))`.execute(db)
}

function isSameRef(other: 'earlier' | 'later') {
  const its = (column: string) => sql.ref(`${other}.${column}`)
  return sql`${its('project_id')} IS m.project_id AND ${its('repository_id')} IS m.repository_id
    AND ${its('ref')} = m.ref`
}

/**
 * Deletes pushes that were closed before a moment, their moves and effects with them; gives how many. What became of a
 * push that is still open is read from the moves after its own, so nothing of its repository from then on goes. The last
 * move of each ref stays, so that a ref whose file is lost can be written again; that of a deleted one, until nothing
 * before it is there.
 */
export async function deleteOldPushes(db: Db, before: Instant, most: number): Promise<number> {
  const result = await db
    .deleteFrom('pushes')
    .where('id', 'in', (from) =>
      from
        .selectFrom('pushes as old')
        .select('old.id')
        .where('old.state', '=', 'closed')
        .where('old.closed_at', '<', before)
        .where((is) =>
          is.not(
            is.exists(
              is
                .selectFrom('pushes as open')
                .select('open.id')
                .where('open.state', '=', 'open')
                .whereRef('open.project_id', 'is', 'old.project_id')
                .whereRef('open.repository_id', 'is', 'old.repository_id')
                .whereRef('open.id', '<', 'old.id'),
            ),
          ),
        )
        .where(
          sql<boolean>`NOT EXISTS (SELECT 1 FROM ref_moves m
            WHERE m.push_id = old.id AND m.state = 'moved'
              AND (trim(m.new_id, '0') <> '' OR EXISTS (SELECT 1 FROM ref_moves earlier
                WHERE ${isSameRef('earlier')} AND earlier.id < m.id))
              AND NOT EXISTS (SELECT 1 FROM ref_moves later
                WHERE ${isSameRef('later')} AND later.id > m.id AND later.state = 'moved'))`,
        )
        .orderBy('old.id')
        .limit(most),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
