import type { Source } from '../../access/sources.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'

type BadgeInput = Pick<NewRowOf<'badges'>, 'link_url' | 'image_url' | 'name'>

/** The badges shown at a project, with those of every group above it, or the badges of a group; oldest first. */
export function listBadgeRows(db: Db, source: Source, name: string | undefined, page: OffsetPage) {
  const query = badgesOf(db, source).orderBy('badges.id')
  return listPage(db, name === undefined ? query : query.where('badges.name', '=', name), page)
}

function badgesOf(db: Db, source: Source) {
  const badges = db.selectFrom('badges').selectAll('badges')
  if (source.type === 'group') return badges.where('badges.group_id', '=', source.id)
  return badges.where((where) =>
    where.or([
      where('badges.project_id', '=', source.id),
      where('badges.group_id', 'in', namespacesAbove(source.namespace_id)),
    ]),
  )
}

export function findBadgeOf(db: Db, source: Source, id: number) {
  return badgesOf(db, source).where('badges.id', '=', id).executeTakeFirst()
}

export function insertBadge(db: Db, source: Source, input: BadgeInput, now: Instant) {
  return db
    .insertInto('badges')
    .values({
      project_id: source.type === 'project' ? source.id : null,
      group_id: source.type === 'group' ? source.id : null,
      ...input,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateBadge(db: Db, id: number, changes: ChangesOf<'badges'>, now: Instant) {
  return db
    .updateTable('badges')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteBadge(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('badges').where('id', '=', id))
}
