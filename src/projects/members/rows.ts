import type { Insertable, Selectable } from 'kysely'
import type { MembersTable } from '../../store/schema/core.ts'

export type MemberRow = Selectable<MembersTable>
export type NewMemberRow = Insertable<MembersTable>
