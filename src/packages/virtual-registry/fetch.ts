import { sharingAddress } from '../../base/outbound/address.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { unavailable } from '../../base/problem.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { headersOf } from '../upstreams/ask.ts'
import { type Transfer, Transfers } from '../upstreams/transfer.ts'
import { askUpstream, isPage } from './ask.ts'
import { cacheBytes, type EntryRow, saveEntry } from './entry-queries.ts'
import { fitVirtualCaches, roomOf } from './fit.ts'
import { findUpstream, type UpstreamRow } from './queries.ts'
import { addressOf } from './upstream.ts'

const transfers = new Transfers<EntryRow>()
const keyOf = (upstream: UpstreamRow, path: string) => `${upstream.id} ${upstream.url} ${path}`

/** Files that are fetched at once; an address has a share of them. */
const fetches = new Semaphore({
  limit: 64,
  maxWaiting: 512,
  share: 0.5,
  timeoutMs: 30_000,
  busy: () => unavailable('Too many files are being fetched. Try again in a few seconds.', 5),
})

/** Fetches a file of an upstream and keeps it, once for all who ask meanwhile; the signal is of the one who asks. */
export async function fetchOnce(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
  signal?: AbortSignal,
): Promise<{ readonly transfer: Transfer<EntryRow>; readonly isFirst: boolean }> {
  return await transfers.fetchOnce(ctx, keyOf(upstream, path), {
    signal,
    room: roomOf(ctx),
    async ask() {
      const release = await fetches.acquire(undefined, sharingAddress(ctx.ip))
      const asked = askUpstream(ctx, addressOf(ctx, upstream), path, 'GET')
      asked.then(({ body }) => body.once('close', release), release)
      const response = await asked
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
        const row = await saveEntry(inner.db, {
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
        if ((await cacheBytes(inner.db)) > roomOf(ctx)) {
          await inner.work.enqueue(inner.db, fitVirtualCaches, {}, { uniqueKey: 'full' })
        }
        return row
      }),
  })
}

/** Whether a file is on its way. */
export function isRunning(upstream: UpstreamRow, path: string): boolean {
  return transfers.isRunning(keyOf(upstream, path))
}
