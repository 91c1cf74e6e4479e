import { deleteFound } from '../../store/delete-found.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type DeployTokenRow = RowOf<'deploy_tokens'>

export function insertDeployToken(db: Db, row: NewRowOf<'deploy_tokens'>): Promise<DeployTokenRow> {
  return db.insertInto('deploy_tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function deleteDeployTokenRow(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('deploy_tokens').where('id', '=', id))
}
