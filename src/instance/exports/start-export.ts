import { userOf } from '../../access/actor.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import type { Bytes } from '../../http/endpoint.ts'
import { assertImportable } from '../../projects/projects/create/import-url.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type LeftOutRelation, presentLeftOut } from './left-out.ts'
import { type ExportKey, findExport, findImportLeftOut, saveExport } from './queries.ts'
import { sealAddress } from './remote-archive.ts'
import { exportSource } from './tasks.ts'

export interface ExportWishes {
  /** Instead of the description of the project. */
  readonly description?: string | undefined
  /** Where the archive is sent when it is finished. */
  readonly upload?:
    | { readonly url?: string | undefined; readonly http_method?: 'PUT' | 'POST' | undefined }
    | undefined
}

/** Enqueues an export; the download of an earlier one ends. */
export async function startExport(
  ctx: Ctx,
  key: ExportKey,
  wanted: ExportWishes = {},
): Promise<void> {
  const { url, http_method = 'PUT' } = wanted.upload ?? {}
  if (url) await assertImportable(ctx, url, 'upload[url]')
  const target = url ? { sealed_url: sealAddress(ctx, url), method: http_method } : undefined
  await inTransaction(ctx, async (ctx) => {
    await saveExport(ctx.db, {
      source_type: key.type,
      source_id: key.id,
      status: 'queued',
      description: wanted.description ?? null,
      requested_by_id: userOf(ctx.actor)?.id ?? null,
      created_at: ctx.now(),
    })
    const payload = { source_type: key.type, source_id: key.id, target }
    await ctx.work.enqueue(ctx.db, exportSource, payload, { uniqueKey: `${key.type} ${key.id}` })
  })
}

/** `none` until somebody asks, then how far it is. */
export async function exportStatus(
  ctx: Ctx,
  key: ExportKey,
): Promise<'none' | 'queued' | 'started' | 'finished'> {
  const row = await findExport(ctx.db, key)
  return !row || row.status === 'failed' ? 'none' : row.status
}

/** What the last archive does not hold. */
export async function exportLeftOut(ctx: Ctx, key: ExportKey) {
  const row = await findExport(ctx.db, key)
  return row ? presentLeftOut(parsed(row.left_out), row.finished_at ?? row.created_at) : []
}

/** What the archive that a project was made of did not hold. */
export async function importLeftOut(ctx: Ctx, projectId: number) {
  const row = await findImportLeftOut(ctx.db, projectId)
  return row ? presentLeftOut(parsed(row.relations), row.created_at) : []
}

function parsed(text: string): LeftOutRelation[] {
  return JSON.parse(text) as LeftOutRelation[] // written by us
}

/** The archive, or 404 until it is finished. */
export async function downloadExport(ctx: Ctx, key: ExportKey, name: string): Promise<Bytes> {
  const row = await findExport(ctx.db, key)
  if (!row || row.file === null || row.status !== 'finished') throw notFound()
  const { body, size } = await ctx.files.open(row.file)
  const filename = `${row.created_at.slice(0, 10)}_${name}_export.tar.gz`
  return {
    body,
    type: 'application/gzip',
    headers: {
      'Content-Disposition': contentDisposition('attachment', filename),
      'Content-Length': String(size),
    },
  }
}
