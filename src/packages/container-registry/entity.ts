import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { readConfigHash } from '../images/manifest-file.ts'
import { readDigest } from '../images/names.ts'
import { listTagsOf, type RepositoryRow, type TagRow } from './queries.ts'

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
  const tags = shape.tags ? await listTagsOf(ctx.db, ids) : []
  const host = new URL(ctx.config.externalUrl).host
  return rows.map((row) => {
    const path = pathOf(row)
    const own = tags.filter((tag) => tag.repository_id === row.id)
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
