import type { Db } from '../../store/schema.ts'
import type { NewMemberRow } from './rows.ts'

export async function insertMember(db: Db, row: NewMemberRow): Promise<number> {
  const { id } = await db
    .insertInto('members')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
