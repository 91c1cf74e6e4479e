import type { Db } from '../../store/schema.ts'
import type { PackagePlace } from '../registry/place-queries.ts'

interface Found {
  readonly place: PackagePlace
  readonly namespaceId: number
}

const isId = (text: string) => /^\d{1,15}$/.test(text)

/** A project by id or full path, whoever asks. */
export async function findProjectPlace(db: Db, idOrPath: string): Promise<Found | undefined> {
  const query = db
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .where('pending_delete', '=', 0)
  const row = await (isId(idOrPath)
    ? query.where('id', '=', Number(idOrPath))
    : query.where('full_path', '=', idOrPath)
  ).executeTakeFirst()
  return row && { place: { projectId: row.id }, namespaceId: row.namespace_id }
}

/** A group by id or full path, whoever asks. */
export async function findGroupPlace(db: Db, idOrPath: string): Promise<Found | undefined> {
  const query = db.selectFrom('namespaces').select('id').where('kind', '=', 'group')
  const row = await (isId(idOrPath)
    ? query.where('id', '=', Number(idOrPath))
    : query.where('full_path', '=', idOrPath)
  ).executeTakeFirst()
  return row && { place: { groupId: row.id }, namespaceId: row.id }
}
