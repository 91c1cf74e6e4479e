import type { NewRowOf, RowOf } from '../../store/schema.ts'

export type MemberRow = RowOf<'members'>
export type NewMemberRow = NewRowOf<'members'>

/** What a row that is deleted gives back, for the record. */
export const ENDED = [
  'source_type',
  'source_id',
  'user_id',
  'access_level',
  'requested_at',
] as const satisfies readonly (keyof MemberRow)[]

export type EndedRow = Pick<MemberRow, (typeof ENDED)[number]>
