import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { Via } from '../../store/schema/refs.ts'
import type { Db } from '../../store/schema.ts'
import type { RefMove } from './moves.ts'
import type { BranchRule, Level, TagRule } from './protection.ts'

/** The rules of a project and of the groups above it, most specific first. */
export function listBranchRules(
  db: Db,
  projectId: number,
  namespaceId: number,
): Promise<readonly BranchRule[]> {
  const key = `branch rules of ${projectId} in ${namespaceId}`
  return cachedQuery(db, key, (db) => askBranchRules(db, projectId, namespaceId))
}

async function askBranchRules(
  db: Db,
  projectId: number,
  namespaceId: number,
): Promise<BranchRule[]> {
  const rows = await db
    .selectFrom('protected_branches as rule')
    .leftJoin('protected_branch_levels as level', 'level.protected_branch_id', 'rule.id')
    .select(['rule.id', 'rule.name', 'rule.allow_force_push', 'level.action'])
    .select('rule.code_owner_approval_required')
    .select(['level.access_level', 'level.user_id', 'level.group_id', 'level.deploy_key_id'])
    .where((is) =>
      is.or([
        is('rule.project_id', '=', projectId),
        is(
          'rule.group_id',
          'in',
          is
            .selectFrom('namespace_ancestors')
            .select('ancestor_id')
            .where('namespace_id', '=', namespaceId),
        ),
      ]),
    )
    .orderBy('rule.id')
    .orderBy('level.id')
    .execute()
  return byRule(rows).map(({ rule, levels }) => {
    const levelsFor = (action: string) => levels.filter((level) => level.action === action)
    return {
      name: rule.name,
      allowForcePush: rule.allow_force_push === 1,
      codeOwners: rule.code_owner_approval_required === 1,
      push: levelsFor('push'),
      merge: levelsFor('merge'),
      unprotect: levelsFor('unprotect'),
    }
  })
}

export function listTagRules(db: Db, projectId: number): Promise<readonly TagRule[]> {
  return cachedQuery(db, `tag rules of ${projectId}`, (db) => askTagRules(db, projectId))
}

async function askTagRules(db: Db, projectId: number): Promise<TagRule[]> {
  const rows = await db
    .selectFrom('protected_tags as rule')
    .leftJoin('protected_tag_levels as level', 'level.protected_tag_id', 'rule.id')
    .select(['rule.id', 'rule.name', 'level.id as level_id', 'level.access_level'])
    .select(['level.user_id', 'level.group_id', 'level.deploy_key_id'])
    .where('rule.project_id', '=', projectId)
    .orderBy('rule.id')
    .orderBy('level.id')
    .execute()
  return byRule(rows).map(({ rule, levels }) => {
    const create: Level[] = levels.filter((level) => level.level_id !== null)
    return { name: rule.name, create }
  })
}

/** Rows of rules joined with their levels, put together again. */
function byRule<R extends { readonly id: number }>(rows: readonly R[]) {
  const found = new Map<number, { rule: R; levels: R[] }>()
  for (const row of rows) {
    const known = found.get(row.id)
    if (known) known.levels.push(row)
    else found.set(row.id, { rule: row, levels: [row] })
  }
  return [...found.values()]
}

/** The level of default branch protection that the nearest group sets, if any does. */
export async function findGroupProtection(
  db: Db,
  namespaceId: number,
): Promise<number | undefined> {
  const nearest = await db
    .selectFrom('namespace_ancestors as above')
    .innerJoin('namespaces', 'namespaces.id', 'above.ancestor_id')
    .select(
      sql<number>`json_extract(namespaces.settings, '$.default_branch_protection')`.as('level'),
    )
    .where('above.namespace_id', '=', namespaceId)
    .where(
      sql<boolean>`json_extract(namespaces.settings, '$.default_branch_protection') IS NOT NULL`,
    )
    .orderBy('above.depth')
    .executeTakeFirst()
  return nearest?.level
}

/** Records a wish to move refs, before any of them moves. */
export async function insertPush(
  db: Db,
  push: {
    projectId: number
    userId: number | null
    via: Via
    options: readonly string[]
    process: string | null
    moves: readonly RefMove[]
  },
  now: Instant,
): Promise<number> {
  const { id } = await db
    .insertInto('pushes')
    .values({
      project_id: push.projectId,
      user_id: push.userId,
      via: push.via,
      options: JSON.stringify(push.options),
      process: push.process,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const rows = push.moves.map((move) => ({
    push_id: id,
    project_id: push.projectId,
    ref: move.name,
    old_id: move.oldId,
    new_id: move.newId,
  }))
  // SQLite binds at most 32,766 values in one statement.
  for (let at = 0; at < rows.length; at += 5000) {
    await db
      .insertInto('ref_moves')
      .values(rows.slice(at, at + 5000))
      .execute()
  }
  return id
}

/** Closes an open push and gives the door it came by; undefined when that was done before. */
export async function closePush(db: Db, pushId: number, now: Instant): Promise<Via | undefined> {
  const row = await db
    .updateTable('pushes')
    .set({ state: 'closed', closed_at: now })
    .where('id', '=', pushId)
    .where('state', '=', 'open')
    .returning('via')
    .executeTakeFirst()
  return row?.via
}

/** Marks which refs of a push moved, and gives those; the others were refused. */
export async function settleMoves(
  db: Db,
  pushId: number,
  moved: ReadonlySet<string>,
): Promise<RefMove[]> {
  const names = JSON.stringify([...moved])
  const rows = await db
    .updateTable('ref_moves')
    .set({
      state: sql`iif(ref IN (SELECT value FROM json_each(${names})), 'moved', 'refused')`,
    })
    .where('push_id', '=', pushId)
    .where('state', '=', 'open')
    .returning(['id', 'ref', 'old_id', 'new_id', 'state'])
    .execute()
  // Rows come back in no order.
  return rows
    .filter(({ state }) => state === 'moved')
    .sort((a, b) => a.id - b.id)
    .map((row) => ({ name: row.ref, oldId: row.old_id, newId: row.new_id }))
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
  return await db
    .selectFrom('pushes')
    .selectAll()
    .where('id', 'in', sql<number>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`)
    .orderBy('id')
    .execute()
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
  const rows = await db
    .selectFrom('ref_moves')
    .select(['push_id', 'ref', 'old_id', 'new_id'])
    .where('push_id', 'in', sql<number>`(SELECT value FROM json_each(${JSON.stringify(pushIds)}))`)
    .where('state', '=', 'moved')
    .orderBy('id')
    .execute()
  const found = new Map<number, RefMove[]>()
  for (const { push_id, ref, old_id, new_id } of rows) {
    const moves = found.get(push_id) ?? []
    moves.push({ name: ref, oldId: old_id, newId: new_id })
    found.set(push_id, moves)
  }
  return found
}

/** What was recorded for one ref from a move on, newest first, without what was refused. */
export async function listLaterMoves(db: Db, projectId: number, ref: string, fromId: number) {
  return await db
    .selectFrom('ref_moves')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('ref', '=', ref)
    .where('id', '>=', fromId)
    .where('state', '<>', 'refused')
    .orderBy('id', 'desc')
    .execute()
}

/** Notes that an effect of a push is done; false when it was before. */
export async function insertPushEffect(db: Db, pushId: number, effect: string): Promise<boolean> {
  const row = await db
    .insertInto('push_effects')
    .values({ push_id: pushId, effect })
    .onConflict((conflict) => conflict.doNothing())
    .returning('push_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Notes that the effects of a push are still to come. */
export async function insertWaiting(db: Db, projectId: number, pushId: number): Promise<void> {
  await db
    .insertInto('waiting_pushes')
    .values({ push_id: pushId, project_id: projectId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Pushes to a project whose effects are still to come, the oldest first. */
export async function listWaiting(db: Db, projectId: number, most: number): Promise<number[]> {
  const rows = await db
    .selectFrom('waiting_pushes')
    .select('push_id')
    .where('project_id', '=', projectId)
    .orderBy('push_id')
    .limit(most)
    .execute()
  return rows.map((row) => row.push_id)
}

export async function deleteWaiting(db: Db, pushIds: readonly number[]): Promise<void> {
  const ids = JSON.stringify(pushIds)
  await db
    .deleteFrom('waiting_pushes')
    .where('push_id', 'in', sql<number>`(SELECT value FROM json_each(${ids}))`)
    .execute()
}
