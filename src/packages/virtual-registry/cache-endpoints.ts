import { z } from 'zod'
import { forbidden } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { onCacheEntry, onMavenRegistry, onUpstream } from './access.ts'
import { entryEntity, presentEntry } from './entity.ts'
import { deleteEntry, listEntries } from './entry-queries.ts'
import { readPath, serveFile } from './serve.ts'

const ROOT = '/virtual_registries/packages/maven'

export const listCacheEntries = endpoint({
  method: 'GET',
  path: `${ROOT}/upstreams/:upstream_id/cache_entries`,
  summary: 'List the cache entries of an upstream, newest first',
  access: onUpstream('read'),
  params: { upstream_id: id() },
  jobToken: true,
  query: { search: text({ max: 1024 }).optional() },
  paginate: 'offset',
  response: z.array(entryEntity),
  async handler({ ctx, upstream, query, page }) {
    const found = await listEntries(ctx.db, upstream.id, query.search, page)
    return { ...found, items: found.items.map((row) => presentEntry(upstream, row)) }
  },
})

export const deleteCacheEntry = endpoint({
  method: 'DELETE',
  path: `${ROOT}/cache_entries/*entry_id`,
  summary: 'Delete a cache entry',
  access: onCacheEntry(),
  params: { entry_id: text({ max: 2000 }) },
  jobToken: true,
  async handler({ ctx, entry, request }) {
    assertUnmodifiedSince(request, entry.updated_at)
    await deleteEntry(ctx.db, entry.id)
  },
})

const client = {
  client: { realm: 'Virtual Registry', userName: 'own' },
  jobToken: true,
  scopes: ['api', 'read_api', 'read_virtual_registry', 'write_virtual_registry'],
  deployToken: ['read_virtual_registry', 'write_virtual_registry'],
} as const

/** A thousand requests in 15 seconds (docs/contract/C-resolved §4.3). */
const FILES = { name: 'virtual_registry', perMinute: 4000, seconds: 15, scope: 'address' } as const

export const getVirtualFile = endpoint({
  ...client,
  limit: FILES,
  method: 'GET',
  path: `${ROOT}/:registry_id/*path`,
  summary: 'Download a file of a Maven repository through a virtual registry',
  access: onMavenRegistry(),
  params: { registry_id: text({ max: 20 }), path: text({ max: 1100 }) },
  response: bytes('application/octet-stream'),
  handler: ({ ctx, registry, params, request }) =>
    serveFile(ctx, registry, readPath(params.path), request),
})

export const uploadVirtualFile = endpoint({
  ...client,
  method: 'POST',
  path: `${ROOT}/:registry_id/*path/upload`,
  summary: 'Refused: nobody publishes through a virtual registry',
  access: onMavenRegistry(),
  params: { registry_id: text({ max: 20 }), path: text({ max: 1100 }) },
  raw: true,
  status: 200,
  handler() {
    throw forbidden()
  },
})
