import type { Db } from '../../store/schema.ts'

/** The users and groups that a line of CODEOWNERS names; who is unknown is left out. */
export async function findOwnerIds(
  db: Db,
  projectId: number,
  owners: {
    readonly names: readonly string[]
    readonly emails: readonly string[]
    readonly roles: readonly number[]
  },
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
          .execute(),
  ])
  return {
    userIds: [...new Set([...named, ...mailed, ...ranked].map((row) => row.id))],
    groupIds: groups.map((row) => row.id),
  }
}
