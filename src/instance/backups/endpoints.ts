import { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { listPage } from '../../store/pages.ts'
import { type BackupRow, backupsQuery } from './queries.ts'

const backupEntity = z.strictObject({
  id: z.int(),
  name: z.string().nullable(),
  folder: z.string(),
  state: z.enum(['success', 'faulty', 'failed']),
  started_at: z.string(),
  finished_at: z.string(),
  repositories: z.int(),
  bytes: z.int(),
  new_bytes: z.int(),
  faults: z.array(z.string()),
  error: z.string().nullable(),
})

function presentBackup({ faults, ...row }: BackupRow): z.input<typeof backupEntity> {
  return { ...row, faults: JSON.parse(faults) as string[] } // written by `recordBackup`
}

export const listBackups = endpoint({
  method: 'GET',
  path: '/admin/backups',
  summary: 'List what became of the backups of the instance, the newest first',
  access: onInstance(),
  paginate: 'offset',
  response: z.array(backupEntity),
  async handler({ ctx, page }) {
    const found = await listPage(ctx.db, backupsQuery(ctx.db), page)
    return { ...found, items: found.items.map(presentBackup) }
  },
})
