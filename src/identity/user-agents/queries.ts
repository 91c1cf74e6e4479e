import type { Insertable } from 'kysely'
import type { UserAgentsTable } from '../../store/schema/user-agents.ts'
import type { Db } from '../../store/schema.ts'

export type AgentSubject = UserAgentsTable['subject_type']

export async function insertUserAgent(db: Db, row: Insertable<UserAgentsTable>): Promise<void> {
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
