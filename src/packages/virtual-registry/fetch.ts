import type { Ctx } from '../../ctx.ts'
import { type Transfer, Transfers } from '../upstreams/transfer.ts'
import { askUpstream } from './ask.ts'
import { type EntryRow, saveEntry } from './entry-queries.ts'
import type { UpstreamRow } from './queries.ts'
import { addressOf } from './upstream.ts'

const transfers = new Transfers<EntryRow>()
const keyOf = (upstream: UpstreamRow, path: string) => `${upstream.id} ${path}`

/** Fetches a file of an upstream and keeps it, once for all who ask meanwhile. */
export function fetchOnce(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
): Promise<{ readonly transfer: Transfer<EntryRow>; readonly isFirst: boolean }> {
  return transfers.fetchOnce(ctx, keyOf(upstream, path), {
    ask: () => askUpstream(ctx, addressOf(ctx, upstream), path, 'GET'),
    async save(file, headers) {
      const now = ctx.now()
      return await saveEntry(ctx.db, {
        upstream_id: upstream.id,
        relative_path: path,
        file_sha256: file.sha256,
        file_sha1: file.digests.sha1 ?? '',
        file_md5: file.digests.md5 ?? '',
        size: file.size,
        content_type: headers.type,
        upstream_etag: headers.etag,
        upstream_checked_at: now,
        created_at: now,
        updated_at: now,
      })
    },
  })
}

/** Whether a file is on its way. */
export function isRunning(upstream: UpstreamRow, path: string): boolean {
  return transfers.isRunning(keyOf(upstream, path))
}
