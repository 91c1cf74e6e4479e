import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

const channelOf = sql<string>`json_extract(file.metadata, '$.channel')`

function chartFiles(db: Db, projectId: number, channel: string) {
  return db
    .selectFrom('packages')
    .innerJoin('package_files as file', 'file.package_id', 'packages.id')
    .where('packages.project_id', '=', projectId)
    .where('packages.package_type', '=', 'helm')
    .where('packages.status', 'in', ['default', 'deprecated'])
    .where('file.status', '=', 'default')
    .where(channelOf, '=', channel)
}

/** The newest files of a channel, the last one first. */
export function listCharts(db: Db, projectId: number, channel: string, most: number) {
  return chartFiles(db, projectId, channel)
    .select([
      'packages.id',
      'file.file_sha256',
      'file.metadata',
      'file.file_name',
      'file.created_at',
    ])
    .orderBy('file.id', 'desc')
    .limit(most)
    .execute()
}

/** The newest chart of this file name in a channel. */
export function findChartFile(db: Db, projectId: number, channel: string, fileName: string) {
  return chartFiles(db, projectId, channel)
    .selectAll('file')
    .where('file.file_name', '=', fileName)
    .orderBy('file.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
