import { sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesFeature, seesProject, type Viewer } from '../../access/visible-queries.ts'
import type { OffsetPage, Page } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

function repositories(db: Db) {
  return db
    .selectFrom('container_repositories as r')
    .innerJoin('projects', 'projects.id', 'r.project_id')
    .select([
      'r.id',
      'r.project_id',
      'r.name',
      'r.status',
      'r.cleanup_policy_started_at',
      'r.created_at',
      'r.tags_count',
      'r.tags_size as size',
      'projects.full_path',
    ])
}

/** Repositories of images in a project, or in the projects of a group whose images the viewer sees. */
export function listRepositories(
  db: Db,
  place: { readonly projectId: number } | { readonly groupId: number; readonly viewer: Viewer },
  page: OffsetPage,
) {
  let query = repositories(db).orderBy('r.id')
  if ('projectId' in place)
    return listPage(db, query.where('r.project_id', '=', place.projectId), page)
  query = query
    .where('projects.pending_delete', '=', 0)
    .where(seesProject(place.viewer))
    .where(seesFeature(place.viewer, 'container_registry', Role.guest))
    .where((is) =>
      is(
        'projects.namespace_id',
        'in',
        is
          .selectFrom('namespace_ancestors')
          .select('namespace_id')
          .where('ancestor_id', '=', place.groupId),
      ),
    )
  return listPage(db, query, page)
}

export type RepositoryRow = Awaited<ReturnType<typeof listRepositories>>['items'][number]

/** The first tags by name of each of these repositories, so many at most of each. */
export async function listFirstTags(db: Db, repositoryIds: readonly number[], most: number) {
  const { rows } = await sql<{ repository_id: number; name: string }>`
    SELECT t.repository_id, t.name FROM json_each(${JSON.stringify(repositoryIds)}) AS given
      JOIN container_tags t ON t.id IN (
        SELECT id FROM container_tags WHERE repository_id = given.value ORDER BY name LIMIT ${most})
    ORDER BY t.name`.execute(db)
  return rows
}

export function findRepositoryRow(db: Db, id: number): Promise<RepositoryRow | undefined> {
  return repositories(db).where('r.id', '=', id).executeTakeFirst()
}

function tagsOf(db: Db, repositoryId: number) {
  return db.selectFrom('container_tags').selectAll().where('repository_id', '=', repositoryId)
}

export type TagRow = NonNullable<Awaited<ReturnType<typeof findTagRow>>>

export function findTagRow(db: Db, repositoryId: number, name: string) {
  return tagsOf(db, repositoryId).where('name', '=', name).executeTakeFirst()
}

export function listTagPage(db: Db, repositoryId: number, sort: 'asc' | 'desc', page: Page) {
  return listPage(db, tagsOf(db, repositoryId).orderBy('name', sort), page, {
    id: 'id',
    idOf: (tag) => tag.id,
    keys: { name: { column: 'name', valueOf: (tag) => tag.name } },
  })
}
