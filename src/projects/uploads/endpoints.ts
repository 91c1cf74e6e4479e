import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { existing } from '../../base/problem.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { file, id, text } from '../../http/params.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { deleteUpload, findUploadById, findUploadBySecret, listUploads } from './queries.ts'
import { serveUpload } from './serve.ts'
import { storeUpload } from './store-upload.ts'

const uploadedEntity = z.strictObject({
  id: z.int(),
  alt: z.string(),
  url: z.string(),
  full_path: z.string(),
  markdown: z.string(),
})

export const postUpload = endpoint({
  method: 'POST',
  path: '/projects/:id/uploads',
  summary: 'Upload a file to be linked from texts of a project',
  access: onProject('upload_file'),
  body: { file: file() },
  response: uploadedEntity,
  handler: ({ ctx, project, body }) => storeUpload(ctx, project, body.file),
})

const uploadEntity = z.strictObject({
  id: z.int(),
  size: z.int(),
  filename: z.string(),
  created_at: z.string(),
  uploaded_by: z.strictObject({ id: z.int(), name: z.string(), username: z.string() }).nullable(),
})

export const getUploads = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads',
  summary: 'List the uploaded files of a project',
  access: onProject('admin_uploads'),
  paginate: 'offset',
  response: z.array(uploadEntity),
  async handler({ ctx, project, page }) {
    const rows = await listUploads(ctx.db, project.id, page)
    const users = await usersById(
      ctx,
      rows.items.map((row) => row.uploaded_by_id),
    )
    const items = rows.items.map((row) => {
      const by = row.uploaded_by_id === null ? undefined : users.get(row.uploaded_by_id)
      return {
        id: row.id,
        size: row.size,
        filename: row.filename,
        created_at: row.created_at,
        uploaded_by: by ? { id: by.id, name: by.name, username: by.username } : null,
      }
    })
    return { ...rows, items }
  },
})

export const getUploadById = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads/:upload_id',
  summary: 'Download an uploaded file by its id',
  access: onProject('admin_uploads'),
  params: { upload_id: id() },
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, params }) {
    const row = existing(await findUploadById(ctx.db, project.id, params.upload_id))
    return await serveUpload(ctx, row)
  },
})

export const deleteUploadById = endpoint({
  method: 'DELETE',
  path: '/projects/:id/uploads/:upload_id',
  summary: 'Delete an uploaded file by its id',
  access: onProject('admin_uploads'),
  params: { upload_id: id() },
  async handler({ ctx, project, params }) {
    const row = existing(await findUploadById(ctx.db, project.id, params.upload_id))
    await deleteUpload(ctx.db, row.id)
  },
})

export const getUploadBySecret = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads/:secret/:filename',
  summary: 'Download an uploaded file by its link',
  access: onProject('read_project'),
  params: { secret: text(), filename: text() },
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, params }) {
    const { secret, filename } = params
    const row = existing(await findUploadBySecret(ctx.db, project.id, secret, filename))
    return await serveUpload(ctx, row)
  },
})

export const deleteUploadBySecret = endpoint({
  method: 'DELETE',
  path: '/projects/:id/uploads/:secret/:filename',
  summary: 'Delete an uploaded file by its link',
  access: onProject('admin_uploads'),
  params: { secret: text(), filename: text() },
  async handler({ ctx, project, params }) {
    const { secret, filename } = params
    const row = existing(await findUploadBySecret(ctx.db, project.id, secret, filename))
    await deleteUpload(ctx.db, row.id)
  },
})
