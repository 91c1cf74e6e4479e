import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { listTagsOf, type RepositoryRow } from './queries.ts'

const tagEntity = z.strictObject({ name: z.string(), path: z.string(), location: z.string() })

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

export async function presentRepositories(
  ctx: Ctx,
  rows: readonly RepositoryRow[],
  shape: RepositoryShape,
): Promise<z.input<typeof repositoryEntity>[]> {
  const ids = rows.map((row) => row.id)
  const tags = shape.tags ? await listTagsOf(ctx.db, ids) : []
  const host = new URL(ctx.config.externalUrl).host
  return rows.map((row) => {
    const path = row.name === '' ? row.full_path : `${row.full_path}/${row.name}`
    const own = tags.filter((tag) => tag.repository_id === row.id)
    const presentTag = ({ name }: { name: string }) => ({
      name,
      path: `${path}:${name}`,
      location: `${host}/${path}:${name}`,
    })
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
      ...(shape.tags ? { tags: own.map(presentTag) } : {}),
    }
  })
}
