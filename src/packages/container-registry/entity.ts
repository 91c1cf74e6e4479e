import { z } from 'zod'
import { groupBy } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import { readConfigHash } from '../images/manifest-file.ts'
import { readDigest } from '../images/names.ts'
import { listFirstTags, type RepositoryRow, type TagRow } from './queries.ts'

/** Tags that one answer shows of its repositories; the list of a repository's tags has the rest. */
const MOST_TAGS = 10_000

/** A tag in a list. */
export const tagEntity = z.strictObject({
  name: z.string(),
  path: z.string(),
  location: z.string(),
})

/** A tag with the image that it is at. */
export const fullTagEntity = z.strictObject({
  ...tagEntity.shape,
  revision: z.string(),
  short_revision: z.string(),
  digest: z.string(),
  created_at: z.string(),
  total_size: z.int(),
})

/** A repository of images (docs/contract/D §1.31). */
export const repositoryEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  path: z.string(),
  project_id: z.int(),
  location: z.string(),
  created_at: z.string(),
  cleanup_policy_started_at: z.string().nullable(),
  status: z.string().nullable(),
  tags_count: z.int().optional(),
  size: z.int().optional(),
  tags: z.array(tagEntity).optional(),
})

export interface RepositoryShape {
  readonly tags?: boolean | undefined
  readonly tags_count?: boolean | undefined
  readonly size?: boolean | undefined
}

/** In small letters: no client takes the name of an image with others, whatever the path of its project. */
function pathOf(row: RepositoryRow): string {
  const root = row.full_path.toLowerCase()
  return row.name === '' ? root : `${root}/${row.name}`
}

export function presentTag(
  ctx: Pick<Ctx, 'config'>,
  repository: RepositoryRow,
  name: string,
): z.input<typeof tagEntity> {
  const path = `${pathOf(repository)}:${name}`
  return { name, path, location: `${new URL(ctx.config.externalUrl).host}/${path}` }
}

/** `revision` is the hash of the image's configuration; an index has none, and shows its own. */
export async function presentFullTag(
  ctx: Ctx,
  repository: RepositoryRow,
  tag: TagRow,
): Promise<z.input<typeof fullTagEntity>> {
  const { name, digest, created_at, total_size } = tag
  const revision = await readConfigHash(ctx, readDigest(digest))
  const shown = { revision, short_revision: revision.slice(0, 9), digest, created_at, total_size }
  return { ...presentTag(ctx, repository, name), ...shown }
}

export async function presentRepositories(
  ctx: Ctx,
  rows: readonly RepositoryRow[],
  shape: RepositoryShape,
): Promise<z.input<typeof repositoryEntity>[]> {
  const ids = rows.map((row) => row.id)
  const most = Math.floor(MOST_TAGS / Math.max(1, rows.length))
  const tags = shape.tags ? await listFirstTags(ctx.db, ids, most) : []
  const tagsOf = groupBy(tags, (tag) => tag.repository_id)
  const host = new URL(ctx.config.externalUrl).host
  return rows.map((row) => {
    const path = pathOf(row)
    const own = tagsOf.get(row.id) ?? []
    return {
      id: row.id,
      name: row.name,
      path,
      project_id: row.project_id,
      location: `${host}/${path}`,
      created_at: row.created_at,
      cleanup_policy_started_at: row.cleanup_policy_started_at,
      status: row.status,
      ...(shape.tags || shape.tags_count ? { tags_count: row.tags_count } : {}),
      ...(shape.size ? { size: row.size } : {}),
      ...(shape.tags ? { tags: own.map(({ name }) => presentTag(ctx, row, name)) } : {}),
    }
  })
}
