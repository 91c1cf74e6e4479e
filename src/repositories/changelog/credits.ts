import { isGroupMember, isProjectMember } from '../../access/members.ts'
import { findVisibleGroup, type Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Commit } from '../../git/types.ts'
import { usersByEmail } from '../../identity/users/find-basic.ts'
import type { ChangelogEntry } from './entries.ts'

type Credit = NonNullable<ChangelogEntry['author']>

/**
 * Who is named beside their commits, by lower-case mail address: users who own the author's address. Those who are no
 * members of the project are contributors; they and members of the named groups are credited (docs/contract/B-resolved §1.8).
 */
export async function creditsOf(
  ctx: Ctx,
  project: Project,
  commits: readonly Commit[],
  includeGroups: readonly string[],
): Promise<ReadonlyMap<string, Credit>> {
  const users = await usersByEmail(
    ctx,
    commits.map((commit) => commit.author.email),
  )
  const groupIds = await visibleGroups(ctx, includeGroups)
  const known = new Map<number, Credit>()
  const credits = new Map<string, Credit>()
  for (const [email, user] of users) {
    let credit = known.get(user.id)
    if (!credit) {
      const contributor = !(await isProjectMember(ctx, user.id, project))
      const isNamed = contributor || (await isMemberOfAny(ctx, user.id, groupIds))
      credit = { reference: `@${user.username}`, contributor, credit: isNamed }
      known.set(user.id, credit)
    }
    credits.set(email, credit)
  }
  return credits
}

/** The named groups that the caller may see; others count for nothing. */
async function visibleGroups(ctx: Ctx, paths: readonly string[]): Promise<number[]> {
  const found: number[] = []
  for (const path of paths.slice(0, 100)) {
    const group = await findVisibleGroup(ctx, path)
    if (group) found.push(group.id)
  }
  return found
}

async function isMemberOfAny(
  ctx: Ctx,
  userId: number,
  groupIds: readonly number[],
): Promise<boolean> {
  for (const id of groupIds) {
    if (await isGroupMember(ctx, userId, id)) return true
  }
  return false
}
