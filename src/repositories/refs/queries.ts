import { sql } from 'kysely'
import { cachedQuery } from '../../store/cached-query.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'
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
        is('rule.group_id', 'in', namespacesAbove(namespaceId)),
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

/** Open merge requests from a fork that let those who may merge them push to their sources. */
export function listCollaborations(db: Db, projectId: number) {
  return db
    .selectFrom('merge_requests')
    .select(['source_branch', 'target_project_id', 'target_branch'])
    .where('source_project_id', '=', projectId)
    .where('target_project_id', '<>', projectId)
    .where('state', '=', 'opened')
    .where('allow_collaboration', '=', 1)
    .execute()
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

/** The default branch protection that the nearest group sets, if any does: a level, and roles where no level says the same. */
export async function findGroupProtection(
  db: Db,
  namespaceId: number,
): Promise<{ readonly level: number; readonly roles: string | null } | undefined> {
  const level = sql<number>`json_extract(namespaces.settings, '$.default_branch_protection')`
  return await db
    .selectFrom('namespace_ancestors as above')
    .innerJoin('namespaces', 'namespaces.id', 'above.ancestor_id')
    .select([
      level.as('level'),
      sql<
        string | null
      >`json_extract(namespaces.settings, '$.default_branch_protection_defaults')`.as('roles'),
    ])
    .where('above.namespace_id', '=', namespaceId)
    .where(sql<boolean>`${level} IS NOT NULL`)
    .orderBy('above.depth')
    .executeTakeFirst()
}
