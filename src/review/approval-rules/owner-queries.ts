import { type RawBuilder, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/**
 * The users and groups that a line of CODEOWNERS names. Who is unknown is left out, and so is a group that is neither
 * above the project nor invited to it as Developers or more (docs/contract/B-resolved §7).
 */
export async function findOwnerIds(
  db: Db,
  projectId: number,
  owners: {
    readonly names: readonly string[]
    readonly emails: readonly string[]
    readonly roles: readonly number[]
  },
  today: Day,
): Promise<{ userIds: number[]; groupIds: number[] }> {
  const { names, emails, roles } = owners
  const users = db.selectFrom('users').select('users.id').where('users.state', '=', 'active')
  const [named, mailed, ranked, groups] = await Promise.all([
    names.length === 0 ? [] : users.where('users.username', 'in', names).execute(),
    emails.length === 0
      ? []
      : users
          .where((is) =>
            is.or([
              is('users.email', 'in', emails),
              is(
                'users.id',
                'in',
                is
                  .selectFrom('emails')
                  .select('user_id')
                  .where('email', 'in', emails)
                  .where('confirmed_at', 'is not', null),
              ),
            ]),
          )
          .execute(),
    roles.length === 0
      ? []
      : users
          .innerJoin('members', 'members.user_id', 'users.id')
          .where('members.source_type', '=', 'project')
          .where('members.source_id', '=', projectId)
          .where('members.requested_at', 'is', null)
          .where('members.access_level', 'in', roles)
          .execute(),
    names.length === 0
      ? []
      : db
          .selectFrom('namespaces')
          .select('id')
          .where('kind', '=', 'group')
          .where('full_path', 'in', names)
          .where('id', 'in', groupsOf(projectId, today))
          .execute(),
  ])
  return {
    userIds: [...new Set([...named, ...mailed, ...ranked].map((row) => row.id))],
    groupIds: groups.map((row) => row.id),
  }
}

/** The groups above a project, and those that were invited to it or to one of these as Developers or more. */
function groupsOf(projectId: number, today: Day): RawBuilder<number> {
  const above = sql`SELECT a.ancestor_id FROM projects p
    JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id WHERE p.id = ${projectId}`
  return sql<number>`(${above} UNION SELECT l.group_id FROM group_links l
    WHERE l.access_level >= ${Role.developer} AND (l.expires_at IS NULL OR l.expires_at > ${today})
      AND ((l.source_type = 'project' AND l.source_id = ${projectId})
        OR (l.source_type = 'group' AND l.source_id IN (${above}))))`
}
