import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type PolicyRow = RowOf<'package_cleanup_policies'>

export function findPolicy(db: Db, projectId: number): Promise<PolicyRow | undefined> {
  return db
    .selectFrom('package_cleanup_policies')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

export async function savePolicy(db: Db, policy: PolicyRow): Promise<void> {
  const { project_id: _, ...values } = policy
  await db
    .insertInto('package_cleanup_policies')
    .values(policy)
    .onConflict((on) => on.column('project_id').doUpdateSet(values))
    .execute()
}

/** Says when a policy runs next, unless somebody has set it anew since it was read. */
export async function postponePolicy(db: Db, policy: PolicyRow, next: Instant): Promise<void> {
  await db
    .updateTable('package_cleanup_policies')
    .set({ next_run_at: next })
    .where('project_id', '=', policy.project_id)
    .where('next_run_at', '=', policy.next_run_at)
    .execute()
}

export function listDuePolicies(db: Db, now: Instant): Promise<PolicyRow[]> {
  return db
    .selectFrom('package_cleanup_policies')
    .selectAll()
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(100)
    .execute()
}

export interface SurplusFile {
  readonly id: number
  readonly project_id: number
  readonly package_type: PackageType
  readonly name_key: string
}

/**
 * Files of a project beyond the newest `keep` of the same name in the same package. Those of another revision of a Conan
 * recipe or package are no copies, and neither are those of another Helm channel.
 */
export async function listSurplusFiles(
  db: Db,
  projectId: number,
  keep: number,
  most: number,
): Promise<SurplusFile[]> {
  const { rows } = await sql<SurplusFile>`
    SELECT id, project_id, package_type, name_key FROM (
      SELECT f.id, p.project_id, p.package_type, p.name_key,
        row_number() OVER (
          PARTITION BY f.package_id, f.file_name, f.metadata ->> 'rrev', f.metadata ->> 'pid',
            f.metadata ->> 'prev', f.metadata ->> 'channel'
          ORDER BY f.id DESC) AS place
      FROM package_files f JOIN packages p ON p.id = f.package_id
      WHERE f.project_id = ${projectId} AND f.status = 'default'
        AND p.status <> 'pending_destruction')
    WHERE place > ${keep} LIMIT ${most}`.execute(db)
  return rows
}
