import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { headersOf } from '../upstreams/ask.ts'
import { type Transfer, Transfers } from '../upstreams/transfer.ts'
import { askUpstream, isPage } from './ask.ts'
import { type EntryRow, saveEntry } from './entry-queries.ts'
import { findUpstream, type UpstreamRow } from './queries.ts'
import { addressOf } from './upstream.ts'

const transfers = new Transfers<EntryRow>()
const keyOf = (upstream: UpstreamRow, path: string) => `${upstream.id} ${upstream.url} ${path}`

/** Fetches a file of an upstream and keeps it, once for all who ask meanwhile. */
export function fetchOnce(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
): Promise<{ readonly transfer: Transfer<EntryRow>; readonly isFirst: boolean }> {
  return transfers.fetchOnce(ctx, keyOf(upstream, path), {
    async ask() {
      const response = await askUpstream(ctx, addressOf(ctx, upstream), path, 'GET')
      if (!isPage(headersOf(response), path)) return response
      response.body.destroy()
      throw new OutboundError('damaged', 'the upstream has a page instead of the file')
    },
    check(file, { sums }) {
      const isOther = (['sha1', 'md5'] as const).some(
        (kind) => sums[kind] !== undefined && sums[kind] !== file.digests[kind],
      )
      if (isOther) throw new OutboundError('damaged', 'the answer is not what its hash says')
    },
    save: (file, headers) =>
      inTransaction(ctx, async (inner) => {
        // The address may have been changed meanwhile: what the old one sent is no file of the new one.
        const current = await findUpstream(inner.db, upstream.id)
        if (current?.url !== upstream.url) {
          throw new OutboundError('damaged', 'the upstream has another address now')
        }
        const now = inner.now()
        return await saveEntry(inner.db, {
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
      }),
  })
}

/** Whether a file is on its way. */
export function isRunning(upstream: UpstreamRow, path: string): boolean {
  return transfers.isRunning(keyOf(upstream, path))
}
