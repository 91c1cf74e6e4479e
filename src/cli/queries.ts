import { sql } from 'kysely'
import type { Db } from '../store/schema.ts'

/** Projects after an id, in order, for a walk over all of them. */
export function listProjectsAfter(db: Db, id: number, limit: number) {
  return db
    .selectFrom('projects')
    .select(['id', 'full_path'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Repositories of wikis and snippets after an id, in order; snippets that are being made or removed are left out. */
export function listWikisAndSnippetsAfter(db: Db, id: number, limit: number) {
  return db
    .selectFrom('wiki_snippet_repositories as repository')
    .leftJoin('projects', 'projects.id', 'repository.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'repository.group_id')
    .leftJoin('snippets', 'snippets.id', 'repository.snippet_id')
    .select([
      'repository.id',
      'repository.project_id',
      'repository.group_id',
      'repository.snippet_id',
    ])
    .select(['projects.full_path as project_path', 'namespaces.full_path as group_path'])
    .where('repository.id', '>', id)
    .where((is) =>
      is.or([is('repository.snippet_id', 'is', null), is('snippets.pending_delete', '=', 0)]),
    )
    .orderBy('repository.id')
    .limit(limit)
    .execute()
}

export async function countProjects(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('projects')
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/** Background tasks that have failed for good. */
export async function countDeadTasks(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('tasks')
    .select(sql<number>`count(*)`.as('total'))
    .where('state', '=', 'dead')
    .executeTakeFirstOrThrow()
  return total
}
