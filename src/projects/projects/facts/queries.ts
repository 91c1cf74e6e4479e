import type { Day } from '../../../base/clock.ts'
import type { Db, NewRowOf } from '../../../store/schema.ts'

export async function listFacts(db: Db, projectIds: readonly number[]) {
  return await db
    .selectFrom('project_facts')
    .selectAll()
    .where('project_id', 'in', projectIds)
    .execute()
}

export async function saveFacts(db: Db, facts: NewRowOf<'project_facts'>): Promise<void> {
  await db
    .insertInto('project_facts')
    .values(facts)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(facts))
    .execute()
}

/** An empty project has no facts. */
export async function deleteFacts(db: Db, projectId: number): Promise<void> {
  const known = await listFacts(db, [projectId])
  if (known.length === 0) return
  await db.deleteFrom('project_facts').where('project_id', '=', projectId).execute()
}

/** Clones and fetches of a project, newest day first. */
export async function listFetches(db: Db, projectId: number, since: Day) {
  return await db
    .selectFrom('project_fetches')
    .select(['day as date', 'count'])
    .where('project_id', '=', projectId)
    .where('day', '>=', since)
    .orderBy('day', 'desc')
    .execute()
}

/** Adds clones and fetches of a day; none to a project that is gone. */
export async function addFetches(
  db: Db,
  projectId: number,
  day: Day,
  count: number,
): Promise<void> {
  const there = await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .executeTakeFirst()
  if (!there) return
  await db
    .insertInto('project_fetches')
    .values({ project_id: projectId, day, count })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'day'])
        .doUpdateSet((eb) => ({ count: eb('project_fetches.count', '+', count) })),
    )
    .execute()
}
