import type { Db } from '../../store/schema.ts'

export function listApproverAddresses(db: Db, mergeRequestId: number) {
  return db
    .selectFrom('approvals')
    .innerJoin('users', 'users.id', 'approvals.user_id')
    .select(['users.name', 'users.email', 'users.commit_email'])
    .where('approvals.merge_request_id', '=', mergeRequestId)
    .orderBy('approvals.created_at')
    .orderBy('users.id')
    .execute()
}
