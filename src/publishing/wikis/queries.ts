import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

interface SavedPage {
  readonly slug: string
  readonly path: string
  /** Under which it was known so far. */
  readonly formerSlug?: string | undefined
}

/** The number of a page, which it keeps when it is renamed. */
export async function savePage(
  db: Db,
  repositoryId: number,
  page: SavedPage,
  now: Instant,
): Promise<number> {
  if (page.formerSlug !== undefined && page.formerSlug !== page.slug) {
    await db
      .updateTable('wiki_pages')
      .set({ slug: page.slug, path: page.path, updated_at: now })
      .where('repository_id', '=', repositoryId)
      .where('slug', '=', page.formerSlug)
      .where((is) =>
        is.not(
          is.exists(
            is
              .selectFrom('wiki_pages as taken')
              .select('taken.id')
              .where('taken.repository_id', '=', repositoryId)
              .where('taken.slug', '=', page.slug),
          ),
        ),
      )
      .execute()
  }
  const { id } = await db
    .insertInto('wiki_pages')
    .values({
      repository_id: repositoryId,
      slug: page.slug,
      path: page.path,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['repository_id', 'slug']).doUpdateSet({ path: page.path, updated_at: now }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** A page that an edit of ours renamed. */
export interface Rename {
  readonly from: string
  readonly to: string
}

export async function saveRename(db: Db, pushId: number, { from, to }: Rename): Promise<void> {
  await db
    .insertInto('wiki_renames')
    .values({ push_id: pushId, from_path: from, to_path: to })
    .execute()
}

export async function findRename(db: Db, pushId: number): Promise<Rename | undefined> {
  return await db
    .selectFrom('wiki_renames')
    .select(['from_path as from', 'to_path as to'])
    .where('push_id', '=', pushId)
    .executeTakeFirst()
}
