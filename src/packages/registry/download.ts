import type { Readable } from 'node:stream'
import { type Instant, later } from '../../base/clock.ts'
import { LostFile } from '../../base/streams/lost-file.ts'
import type { Ctx } from '../../ctx.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import type { ByteRange } from '../../store/files.ts'
import { flushLater, inTransaction } from '../../store/transaction.ts'
import { findLastDownload, type PackageFileRow, saveLastDownload } from './queries.ts'

export interface DownloadOptions {
  /** `application/octet-stream` by default. */
  readonly type?: string
  /** The name to save under; the file's own by default. */
  readonly fileName?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Streams a file of a package, whole or in part, and notes that the package was downloaded. */
export async function answerPackageFile(
  ctx: Ctx,
  request: Pick<RequestFacts, 'method' | 'headers'>,
  file: PackageFileRow,
  options: DownloadOptions = {},
): Promise<Bytes> {
  const { file_sha256: sha256, size } = file
  const isGet = request.method === 'GET'
  if (!isGet && (await ctx.files.sizeOf(sha256)) !== size) throw new LostFile(sha256)
  if (isGet) await noteDownload(ctx, file.package_id)
  return await answerDownload(request, {
    size,
    etag: `"${sha256}"`,
    type: options.type ?? 'application/octet-stream',
    headers: {
      'Content-Disposition': attachment(options.fileName ?? file.file_name),
      'Content-Security-Policy': "sandbox; default-src 'none'",
      ...options.headers,
    },
    open: (range) => openFile(ctx, file, range),
  })
}

async function openFile(
  ctx: Ctx,
  file: PackageFileRow,
  range: ByteRange | undefined,
): Promise<Readable> {
  const opened = await ctx.files.openOften(file.file_sha256, range)
  if (opened.size === file.size) return opened.body
  opened.body.destroy()
  throw new LostFile(file.file_sha256)
}

/** Names of files are plain ASCII in most formats; the long form says the others (RFC 6266). */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_')
  const long = plain === name ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`
  return `attachment; filename="${plain}"${long}`
}

const EVERY_MS = 60_000

/** At most once a minute, and without waiting for the disk: a thousand installs must not be a thousand writes. */
export async function noteDownload(ctx: Ctx, packageId: number): Promise<void> {
  const now = ctx.now()
  if (!isDue(await findLastDownload(ctx.db, packageId), now)) return
  await inTransaction(ctx, async ({ db }) => {
    await saveLastDownload(db, packageId, now)
    await flushLater(db)
  })
}

function isDue(last: Instant | undefined, now: Instant): boolean {
  return last === undefined || last <= later(now, -EVERY_MS)
}
