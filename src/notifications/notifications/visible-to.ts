import type { ProjectAbility } from '../../access/abilities.ts'
import { actAs } from '../../access/act-as.ts'
import { mayInProject } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { maySeeIssue } from '../../access/visible-issues.ts'
import type { Ctx } from '../../ctx.ts'
import type { Notification } from './notification.ts'
import { findNote, type Stake, type SubjectRow } from './queries.ts'

interface Seen {
  readonly asPerson: Ctx
  readonly project: Project
}

/** The project as somebody sees it who has the ability there: the very rules that the API asks when they look. */
async function seenBy(
  ctx: Ctx,
  userId: number,
  projectId: number,
  ability: ProjectAbility,
): Promise<Seen | undefined> {
  const asPerson = await actAs(ctx, userId)
  if (asPerson.actor.kind !== 'user') return undefined
  const project = await findVisibleProject(asPerson, String(projectId))
  if (!project || !mayInProject(asPerson.actor, project, ability)) return undefined
  return { asPerson, project }
}

/** Whether somebody has the ability in a project. */
export async function mayReadIn(
  ctx: Ctx,
  projectId: number,
  ability: ProjectAbility,
  userId: number,
): Promise<boolean> {
  return (await seenBy(ctx, userId, projectId, ability)) !== undefined
}

/** Whether somebody may see what a notification is about. */
export async function maySeeSubject(
  ctx: Ctx,
  notification: Notification,
  subject: SubjectRow,
  stakes: readonly Stake[],
  userId: number,
): Promise<boolean> {
  const { type, project_id, note_id } = notification
  const ability = type === 'Issue' ? 'read_issues' : 'read_merge_requests'
  const seen = await seenBy(ctx, userId, project_id, ability)
  if (!seen) return false
  const { asPerson, project } = seen
  const assigned = stakes.filter(({ how }) => how === 'assignee').map((stake) => stake.user_id)
  if (type === 'Issue' && !maySeeIssue(asPerson, project, subject, assigned)) return false
  if (note_id === null) return true
  const note = await findNote(ctx.db, note_id)
  if (!note) return false
  return note.internal === 0 || mayInProject(asPerson.actor, project, 'read_internal_notes')
}
