import type { Insertable, Selectable } from 'kysely'
import { deleteFound } from '../../store/delete-found.ts'
import type { DeployTokensTable } from '../../store/schema/accounts.ts'
import type { Db } from '../../store/schema.ts'

export type DeployTokenRow = Selectable<DeployTokensTable>

export function insertDeployToken(
  db: Db,
  row: Insertable<DeployTokensTable>,
): Promise<DeployTokenRow> {
  return db.insertInto('deploy_tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function deleteDeployTokenRow(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('deploy_tokens').where('id', '=', id))
}
