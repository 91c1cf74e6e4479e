import { sql } from 'kysely'
import { bytesBefore } from '../../store/bytes-before.ts'
import { cachedQuery } from '../../store/cached-query.ts'
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

/** Whether anything was published in a channel. */
export function hasCharts(db: Db, projectId: number, channel: string): Promise<boolean> {
  return cachedQuery(db, `charts of ${projectId} ${channel}`, async (db) => {
    const row = await chartFiles(db, projectId, channel)
      .select('file.id')
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  })
}

/** The newest file of each chart of a channel, the last one first; of long ones only until they have so many bytes. */
export function listCharts(
  db: Db,
  projectId: number,
  channel: string,
  most: { readonly charts: number; readonly bytes: number },
) {
  const newest = chartFiles(db, projectId, channel)
    .select((is) => is.fn.max('file.id').as('id'))
    .groupBy('packages.id')
  const charts = chartFiles(db, projectId, channel)
    .select([
      'file.id as file_id',
      'file.file_sha256',
      'file.metadata',
      'file.file_name',
      'file.created_at',
      bytesBefore('file.metadata', 'file.id').as('bytes'),
    ])
    .where('file.id', 'in', newest)
  return db
    .selectFrom(charts.as('chart'))
    .selectAll()
    .where('bytes', '<', most.bytes)
    .orderBy('file_id', 'desc')
    .limit(most.charts)
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
