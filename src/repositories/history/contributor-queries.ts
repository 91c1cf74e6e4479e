import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

interface LineRow {
  readonly commit_id: string
  readonly additions: number
  readonly deletions: number
}

export async function listContributorLines(
  db: Db,
  projectId: number,
  ids: readonly string[],
): Promise<LineRow[]> {
  return await db
    .selectFrom('contributor_lines')
    .select(['commit_id', 'additions', 'deletions'])
    .where('project_id', '=', projectId)
    .where('commit_id', 'in', [...ids])
    .execute()
}

export async function insertContributorLines(
  db: Db,
  projectId: number,
  rows: readonly LineRow[],
): Promise<void> {
  await db
    .insertInto('contributor_lines')
    .values(rows.map((row) => ({ ...row, project_id: projectId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Tips whose totals are kept, those used last first. */
export async function listContributorTips(db: Db, projectId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('contributor_totals')
    .select('tip')
    .where('project_id', '=', projectId)
    .orderBy('used_at', 'desc')
    .execute()
  return rows.map((row) => row.tip)
}

export async function findContributorTotals(
  db: Db,
  projectId: number,
  tip: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('contributor_totals')
    .select('totals')
    .where('project_id', '=', projectId)
    .where('tip', '=', tip)
    .executeTakeFirst()
  return row?.totals
}

/** Keeps the totals of a tip, and of no more than `most` tips of the project. */
export async function saveContributorTotals(
  db: Db,
  kept: { readonly projectId: number; readonly tip: string; readonly totals: string },
  most: number,
  now: Instant,
): Promise<void> {
  const { projectId, tip, totals } = kept
  await db
    .insertInto('contributor_totals')
    .values({ project_id: projectId, tip, totals, used_at: now })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'tip']).doUpdateSet({ totals, used_at: now }),
    )
    .execute()
  await db
    .deleteFrom('contributor_totals')
    .where('project_id', '=', projectId)
    .where('tip', 'not in', (is) =>
      is
        .selectFrom('contributor_totals')
        .select('tip')
        .where('project_id', '=', projectId)
        .orderBy('used_at', 'desc')
        .limit(most),
    )
    .execute()
}
