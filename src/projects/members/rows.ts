import type { Insertable, Selectable } from 'kysely'
import type { MembersTable } from '../../store/schema/core.ts'

export type MemberRow = Selectable<MembersTable>
export type NewMemberRow = Insertable<MembersTable>

/** What a row that is deleted gives back, for the record. */
export const ENDED = [
  'source_type',
  'source_id',
  'user_id',
  'access_level',
  'requested_at',
] as const satisfies readonly (keyof MemberRow)[]

export type EndedRow = Pick<MemberRow, (typeof ENDED)[number]>
