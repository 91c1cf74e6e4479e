import { isProjectMember } from '../../access/members.ts'
import type { Project } from '../../access/subjects.ts'
import { groupBy } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import type { UserBasicRow } from '../../identity/users/basic.ts'
import { listUsersBasic } from '../../identity/users/basic-queries.ts'
import type { Work } from '../../store/schema/issues.ts'
import { deleteAssignees, insertAssignees, listAssignees } from './queries.ts'

/** Most people that one issue or merge request is assigned to. */
const MAX_ASSIGNEES = 200

/** Who is assigned now and was not before, and the other way round, for notes and to-dos. */
interface AssigneeChange {
  readonly added: readonly UserBasicRow[]
  readonly removed: readonly UserBasicRow[]
}

/**
 * Assigns exactly these users, in the caller's transaction. Users who are unknown, blocked or without access to the
 * project are left out without an error; id 0 stands for nobody (docs/contract/D §1.9).
 */
export async function setAssignees(
  ctx: Ctx,
  project: Project,
  type: Work,
  subjectId: number,
  userIds: readonly number[],
): Promise<AssigneeChange> {
  const before = await listAssignees(ctx.db, type, [subjectId])
  const after = await assignable(ctx, project, userIds)
  const beforeIds = new Set(before.map((user) => user.id))
  const afterIds = new Set(after.map((user) => user.id))
  const added = after.filter((user) => !beforeIds.has(user.id))
  const removed = before.filter((user) => !afterIds.has(user.id))
  const ids = (users: readonly UserBasicRow[]) => users.map((user) => user.id)
  await insertAssignees(ctx.db, type, subjectId, ids(added), ctx.now())
  await deleteAssignees(ctx.db, type, subjectId, ids(removed))
  return { added, removed }
}

/** Those of the users who can be made responsible in the project, in the given order. */
export async function assignable(
  ctx: Ctx,
  project: Project,
  userIds: readonly number[],
): Promise<UserBasicRow[]> {
  const wanted = [...new Set(userIds)].filter((id) => id > 0).slice(0, MAX_ASSIGNEES)
  if (wanted.length === 0) return []
  const users = new Map((await listUsersBasic(ctx.db, wanted)).map((user) => [user.id, user]))
  const found: UserBasicRow[] = []
  for (const id of wanted) {
    const user = users.get(id)
    if (user?.state === 'active' && (await mayBeAssigned(ctx, project, id))) found.push(user)
  }
  return found
}

/** In a public project anyone may be made responsible, else only who has a role there. */
async function mayBeAssigned(ctx: Ctx, project: Project, userId: number): Promise<boolean> {
  if (project.visibility === 'public') return true
  return isProjectMember(ctx, userId, project)
}

/** Assignees of many issues or merge requests, by the subject's id. */
export async function assigneesBySubject(
  ctx: Pick<Ctx, 'db'>,
  type: Work,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UserBasicRow[]>> {
  return groupBy(await listAssignees(ctx.db, type, ids), (row) => row.subject_id)
}
