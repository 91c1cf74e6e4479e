import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { isIP } from 'node:net'
import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { isPrivateAddress } from '../../base/outbound/address.ts'
import { badRequest, invalid, notFound, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { file, text, type UploadedFile } from '../../http/params.ts'
import { imageType } from '../../identity/users/avatar/avatar.ts'
import { safeName } from '../../projects/uploads/store-upload.ts'
import { onAlertImageList, onAlertImages, onMetricImage } from './access.ts'
import { imagePath } from './entity.ts'
import {
  deleteMetricImage,
  findImageBySecret,
  insertMetricImage,
  listMetricImages,
  type MetricImageRow,
  updateMetricImage,
} from './image-queries.ts'

const path = '/projects/:id/alert_management_alerts/:alert_iid/metric_images'
/** Largest image (docs/contract/C-resolved §1.6). */
const MAX_BYTES = 1024 * 1024

const imageEntity = z.strictObject({
  id: z.int(),
  created_at: z.string(),
  filename: z.string(),
  file_path: z.string(),
  url: z.string().nullable(),
  url_text: z.string().nullable(),
})

function presentImage(projectId: number, row: MetricImageRow): z.input<typeof imageEntity> {
  return {
    id: row.id,
    created_at: row.created_at,
    filename: row.filename,
    file_path: imagePath(projectId, row),
    url: row.url,
    url_text: row.url_text,
  }
}

/** An address that everybody can open: a web address whose host is no private one. */
function isPublicUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  const host = hostname.replaceAll(/[[\]]/g, '').replace(/\.$/, '')
  if (!/^https?:$/.test(protocol) || host === 'localhost') return false
  return isIP(host) === 0 || !isPrivateAddress(host)
}

function wrongUrl(url: string | null | undefined): readonly string[] {
  if (!url) return []
  if (url.length > 255) return ['is too long (maximum is 255 characters)']
  return isPublicUrl(url) ? [] : ['is blocked: Only allowed schemes are http, https']
}

/** The content type of an upload that is an image by its first bytes. */
async function typeOf(upload: UploadedFile): Promise<string> {
  if (upload.size > MAX_BYTES) throw badRequest('File is too large')
  const handle = await open(upload.path, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0)
    const type = imageType(buffer.subarray(0, bytesRead))
    if (type === undefined) throw badRequest('File is not an image')
    return type
  } finally {
    await handle.close()
  }
}

const words = { url: text({ max: 2000 }).nullish(), url_text: text({ max: 128 }).nullish() }

async function addImage(
  ctx: Ctx,
  alertId: number,
  upload: UploadedFile,
  about: { url?: string | null | undefined; url_text?: string | null | undefined },
): Promise<MetricImageRow> {
  const wrong = wrongUrl(about.url)
  if (wrong.length > 0) throw invalid({ url: wrong })
  const content_type = await typeOf(upload)
  const stored = await ctx.files.put(createReadStream(upload.path))
  return await insertMetricImage(ctx.db, {
    alert_id: alertId,
    filename: safeName(upload.filename),
    image_file: stored.sha256,
    size: stored.size,
    content_type,
    secret: randomBytes(16).toString('hex'),
    url: about.url || null,
    url_text: about.url_text || null,
    created_at: ctx.now(),
  })
}

export const createMetricImage = endpoint({
  method: 'POST',
  path,
  summary: 'Add an image of a metric to an alert',
  access: onAlertImages('update_alerts'),
  body: { file: file(), ...words },
  response: imageEntity,
  status: 201,
  handler: async ({ ctx, project, alert, body }) =>
    presentImage(project.id, await addImage(ctx, alert.id, body.file, body)),
})

export const getMetricImages = endpoint({
  method: 'GET',
  path,
  summary: 'List the images of metrics of an alert',
  access: onAlertImageList('read_alerts'),
  paginate: 'offset',
  response: z.array(imageEntity),
  async handler({ ctx, project, alert, page }) {
    const rows = await listMetricImages(ctx.db, alert.id, page)
    return { ...rows, items: rows.items.map((row) => presentImage(project.id, row)) }
  },
})

export const changeMetricImage = endpoint({
  method: 'PUT',
  path: `${path}/:image_id`,
  summary: 'Change the link of an image of an alert',
  access: onMetricImage('update_alerts'),
  body: words,
  response: imageEntity,
  async handler({ ctx, project, image, body }) {
    if (wrongUrl(body.url).length > 0) throw unprocessable('Metric image could not be updated')
    const changes = {
      ...(body.url === undefined ? {} : { url: body.url || null }),
      ...(body.url_text === undefined ? {} : { url_text: body.url_text || null }),
    }
    if (Object.keys(changes).length === 0) return presentImage(project.id, image)
    return presentImage(project.id, await updateMetricImage(ctx.db, image.id, changes))
  },
})

export const removeMetricImage = endpoint({
  method: 'DELETE',
  path: `${path}/:image_id`,
  summary: 'Remove an image from an alert',
  access: onMetricImage('update_alerts'),
  handler: ({ ctx, image }) => deleteMetricImage(ctx.db, image.id),
})

export const getMetricImageFile = endpoint({
  method: 'GET',
  host: true,
  path: '/-/project/:id/alert_metric_images/:secret/:filename',
  summary: 'Show an image of an alert',
  access: onProject('read_alerts'),
  params: { secret: text({ max: 64 }), filename: text({ max: 255 }) },
  response: bytes('image/png'),
  async handler({ ctx, project, params }) {
    const row = await findImageBySecret(ctx.db, project.id, params.secret)
    if (!row) throw notFound()
    const { body, size } = await ctx.files.open(row.image_file)
    const headers = {
      'Content-Length': String(size),
      'Content-Disposition': contentDisposition('inline', row.filename),
      'X-Content-Type-Options': 'nosniff',
    }
    return { body, type: row.content_type, headers }
  },
})
