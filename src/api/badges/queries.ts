import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

export interface BadgeOwner {
  readonly projectId?: number
  readonly groupId?: number
}

export interface BadgeInput {
  readonly link_url: string
  readonly image_url: string
  readonly name?: string | null | undefined
}

/** The project's badges and those of every group above it, oldest first. */
export function listProjectBadgeRows(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
  name: string | undefined,
  page: OffsetPage,
) {
  const query = projectBadges(db, project).orderBy('badges.id')
  return listPage(db, name === undefined ? query : query.where('badges.name', '=', name), page)
}

function projectBadges(db: Db, project: { readonly id: number; readonly namespace_id: number }) {
  return db
    .selectFrom('badges')
    .selectAll('badges')
    .where((where) =>
      where.or([
        where('badges.project_id', '=', project.id),
        where('badges.group_id', 'in', (inner) =>
          inner
            .selectFrom('namespace_ancestors')
            .select('ancestor_id')
            .where('namespace_id', '=', project.namespace_id),
        ),
      ]),
    )
}

export function findProjectBadge(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
  id: number,
) {
  return projectBadges(db, project).where('badges.id', '=', id).executeTakeFirst()
}

export function listGroupBadgeRows(
  db: Db,
  groupId: number,
  name: string | undefined,
  page: OffsetPage,
) {
  const query = db.selectFrom('badges').selectAll().where('group_id', '=', groupId).orderBy('id')
  return listPage(db, name === undefined ? query : query.where('name', '=', name), page)
}

export function findGroupBadge(db: Db, groupId: number, id: number) {
  return db
    .selectFrom('badges')
    .selectAll()
    .where('group_id', '=', groupId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function insertBadge(db: Db, owner: BadgeOwner, input: BadgeInput, now: Instant) {
  return db
    .insertInto('badges')
    .values({
      project_id: owner.projectId ?? null,
      group_id: owner.groupId ?? null,
      name: input.name ?? null,
      link_url: input.link_url,
      image_url: input.image_url,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateBadge(
  db: Db,
  id: number,
  changes: { [K in keyof BadgeInput]?: BadgeInput[K] | undefined },
  now: Instant,
) {
  return db
    .updateTable('badges')
    .set({
      updated_at: now,
      ...(changes.name === undefined ? {} : { name: changes.name }),
      ...(changes.link_url === undefined ? {} : { link_url: changes.link_url }),
      ...(changes.image_url === undefined ? {} : { image_url: changes.image_url }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteBadge(db: Db, id: number): Promise<void> {
  await db.deleteFrom('badges').where('id', '=', id).execute()
}
