import { z } from 'zod'
import type { listEntries } from './entry-queries.ts'
import type { RegistryRow, UpstreamRow } from './queries.ts'

export const registryEntity = z.strictObject({
  id: z.int(),
  group_id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})

export function presentRegistry(row: RegistryRow): z.input<typeof registryEntity> {
  const { id, group_id, name, description, created_at, updated_at } = row
  return { id, group_id, name, description, created_at, updated_at }
}

export const registryWithUpstreams = z.strictObject({
  ...registryEntity.shape,
  registry_upstreams: z.array(
    z.strictObject({ id: z.int(), position: z.int(), upstream_id: z.int() }),
  ),
})

export const upstreamEntity = z.strictObject({
  id: z.int(),
  group_id: z.int(),
  url: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  username: z.string().nullable(),
  cache_validity_hours: z.int(),
  metadata_cache_validity_hours: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** Without its password, which no answer holds. */
export function presentUpstream(row: UpstreamRow): z.input<typeof upstreamEntity> {
  const { id, group_id, url, name, description, username } = row
  const { cache_validity_hours, metadata_cache_validity_hours, created_at, updated_at } = row
  const hours = { cache_validity_hours, metadata_cache_validity_hours }
  return { id, group_id, url, name, description, username, ...hours, created_at, updated_at }
}

export const linkEntity = z.strictObject({
  id: z.int(),
  registry_id: z.int(),
  upstream_id: z.int(),
  position: z.int(),
})

const placeEntity = z.strictObject({ id: z.int(), registry_id: z.int(), position: z.int() })

export const upstreamInRegistry = z.strictObject({
  ...upstreamEntity.shape,
  registry_upstream: placeEntity,
})

export const upstreamWithPlaces = z.strictObject({
  ...upstreamEntity.shape,
  registry_upstreams: z.array(placeEntity),
})

export const entryEntity = z.strictObject({
  id: z.string(),
  group_id: z.int(),
  upstream_id: z.int(),
  upstream_checked_at: z.string(),
  file_md5: z.string(),
  file_sha1: z.string(),
  size: z.int(),
  relative_path: z.string(),
  upstream_etag: z.string().nullable(),
  content_type: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  downloads_count: z.int(),
  downloaded_at: z.string().nullable(),
})

type ListedEntry = Awaited<ReturnType<typeof listEntries>>['items'][number]

export function presentEntry(upstream: UpstreamRow, row: ListedEntry): z.input<typeof entryEntity> {
  const { upstream_id, upstream_checked_at, file_md5, file_sha1, size, relative_path } = row
  const { upstream_etag, content_type, created_at, updated_at } = row
  const text = `${upstream_id} ${relative_path}`
  return {
    id: Buffer.from(text).toString('base64url'),
    group_id: upstream.group_id,
    ...{ upstream_id, upstream_checked_at, file_md5, file_sha1, size, relative_path },
    ...{ upstream_etag, content_type, created_at, updated_at },
    downloads_count: row.downloads_count ?? 0,
    downloaded_at: row.downloaded_at,
  }
}

export const testEntity = z.strictObject({ success: z.boolean(), result: z.string().optional() })

export const policyEntity = z.strictObject({
  enabled: z.boolean(),
  cadence: z.int(),
  keep_n_days_after_download: z.int(),
  notify_on_success: z.boolean(),
  notify_on_failure: z.boolean(),
  last_run_at: z.string().nullable(),
  next_run_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
