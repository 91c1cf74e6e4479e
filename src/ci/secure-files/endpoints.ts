import { extname } from 'node:path'
import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { file, filledText } from '../../http/params.ts'
import { onSecureFile } from './access.ts'
import { listSecureFiles, type SecureFileRow } from './queries.ts'
import { openSecureFile, removeSecureFile, saveSecureFile } from './save-file.ts'

const path = '/projects/:id/secure_files'

/** A file that jobs fetch (docs/contract/D §1.2, rows of P3). */
const secureFileEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  checksum: z.string(),
  checksum_algorithm: z.literal('sha256'),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  file_extension: z.string().nullable(),
})

function present(row: SecureFileRow): z.input<typeof secureFileEntity> {
  return {
    id: row.id,
    name: row.name,
    checksum: row.checksum,
    checksum_algorithm: 'sha256',
    created_at: row.created_at,
    expires_at: row.expires_at,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>), // written by us
    file_extension: extname(row.name).slice(1) || null,
  }
}

export const listProjectSecureFiles = endpoint({
  method: 'GET',
  path,
  summary: 'List the secure files of a project',
  access: onProject('read_secure_files'),
  jobToken: true,
  paginate: 'offset',
  response: z.array(secureFileEntity),
  async handler({ ctx, project, page }) {
    const rows = await listSecureFiles(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map(present) }
  },
})

export const addSecureFile = endpoint({
  method: 'POST',
  path,
  summary: 'Keep a file for the jobs of a project',
  access: onProject('admin_secure_files'),
  body: { name: filledText({ max: 255 }), file: file() },
  response: secureFileEntity,
  status: 201,
  handler: async ({ ctx, project, body }) => present(await saveSecureFile(ctx, project, body)),
})

export const getSecureFile = endpoint({
  method: 'GET',
  path: `${path}/:secure_file_id`,
  summary: 'Read about a secure file',
  access: onSecureFile(),
  jobToken: true,
  response: secureFileEntity,
  handler: ({ secureFile }) => present(secureFile),
})

export const downloadSecureFile = endpoint({
  method: 'GET',
  path: `${path}/:secure_file_id/download`,
  summary: 'Download a secure file',
  access: onSecureFile(),
  jobToken: true,
  response: bytes('application/octet-stream'),
  async handler({ ctx, secureFile }) {
    const body = await openSecureFile(ctx, secureFile)
    return {
      body,
      type: 'application/octet-stream',
      headers: { 'Content-Disposition': contentDisposition('attachment', secureFile.name) },
    }
  },
})

export const dropSecureFile = endpoint({
  method: 'DELETE',
  path: `${path}/:secure_file_id`,
  summary: 'Delete a secure file',
  access: onSecureFile('admin_secure_files'),
  handler: ({ ctx, secureFile }) => removeSecureFile(ctx, secureFile),
})
