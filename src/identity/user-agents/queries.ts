import type { Db, NewRowOf, Schema } from '../../store/schema.ts'

export type AgentSubject = Schema['user_agents']['subject_type']

export async function insertUserAgent(db: Db, row: NewRowOf<'user_agents'>): Promise<void> {
  await db
    .insertInto('user_agents')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export function findUserAgent(db: Db, type: AgentSubject, id: number) {
  return db
    .selectFrom('user_agents')
    .select(['user_agent', 'ip_address'])
    .where('subject_type', '=', type)
    .where('subject_id', '=', id)
    .executeTakeFirst()
}
