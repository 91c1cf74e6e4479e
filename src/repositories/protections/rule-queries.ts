import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

interface SimpleLevel {
  readonly action: 'push' | 'merge'
  readonly level: number
}

/** The rule of a project with exactly this name, made when there is none. */
export async function ensureBranchRule(
  db: Db,
  projectId: number,
  name: string,
  now: Instant,
): Promise<{ id: number; isNew: boolean }> {
  const known = await db
    .selectFrom('protected_branches')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .executeTakeFirst()
  if (known) return { id: known.id, isNew: false }
  const { id } = await db
    .insertInto('protected_branches')
    .values({ project_id: projectId, name, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, isNew: true }
}

/** Replaces the role of one action of a rule; levels for users, groups and keys stay. */
export async function setRoleLevel(db: Db, ruleId: number, { action, level }: SimpleLevel) {
  await db
    .deleteFrom('protected_branch_levels')
    .where('protected_branch_id', '=', ruleId)
    .where('action', '=', action)
    .where('access_level', 'is not', null)
    .execute()
  await db
    .insertInto('protected_branch_levels')
    .values({ protected_branch_id: ruleId, action, access_level: level })
    .execute()
}

export async function deleteBranchRule(db: Db, projectId: number, name: string): Promise<void> {
  await db
    .deleteFrom('protected_branches')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .execute()
}

/** Protects a branch with one level each for pushing, merging and unprotecting; no change if it is. */
export async function insertDefaultRule(
  db: Db,
  rule: { projectId: number; name: string; push: number; merge: number; force: boolean },
  now: Instant,
): Promise<void> {
  const inserted = await db
    .insertInto('protected_branches')
    .values({
      project_id: rule.projectId,
      name: rule.name,
      allow_force_push: rule.force,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!inserted) return
  const id = inserted.id
  await db
    .insertInto('protected_branch_levels')
    .values([
      { protected_branch_id: id, action: 'push', access_level: rule.push },
      { protected_branch_id: id, action: 'merge', access_level: rule.merge },
    ])
    .execute()
}
