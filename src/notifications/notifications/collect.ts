import { actAs } from '../../access/act-as.ts'
import { isAdmin } from '../../access/actor.ts'
import { mayInProject } from '../../access/decide.ts'
import { Role } from '../../access/roles.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { maySeeIssue } from '../../access/visible-issues.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { effectiveSetting } from '../notification-settings/effective.ts'
import { EVENTS, isNotified, type NotificationEvent } from '../notification-settings/levels.ts'
import { type Happening, type Notice, sendNotice } from './happening.ts'
import {
  findNote,
  findSubject,
  isMailOff,
  listFollowerIds,
  listReachable,
  listStakes,
  type Stake,
  type SubjectRow,
} from './queries.ts'

/** Finds who wants a mail about something and may see it, and lets one be sent to each (docs/contract/A-resolved §13). */
export async function collectFor(ctx: Ctx, happening: Happening): Promise<void> {
  const subject = await findSubject(ctx.db, happening.type, happening.id)
  const project = await findVisibleProject(ctx, String(happening.project_id))
  if (!subject || !project || (await isSilent(ctx, project))) return
  // Who was assigned or mentioned from the start hears of it by the first mail.
  if (happening.only && subject.created_at === happening.at) return
  const stakes = await listStakes(ctx.db, happening.type, happening.id)
  for (const person of await candidates(ctx, project, happening, subject, stakes)) {
    const how = stakes.filter((stake) => stake.user_id === person.id).map((stake) => stake.how)
    const wish = await wishOf(ctx, project, happening, subject, person, how)
    if (!wish || !(await maySee(ctx, happening, subject, stakes, person.id))) continue
    await ctx.work.enqueue(ctx.db, sendNotice, { happening, user_id: person.id, ...wish })
  }
}

async function isSilent(ctx: Ctx, project: Project): Promise<boolean> {
  return (
    !projectSetting(project, 'emails_enabled') || (await isMailOff(ctx.db, project.namespace_id))
  )
}

interface Person {
  readonly id: number
  readonly settings: string
}

async function candidates(
  ctx: Ctx,
  project: Project,
  happening: Happening,
  subject: SubjectRow,
  stakes: readonly Stake[],
): Promise<readonly Person[]> {
  if (happening.only) return await listReachable(ctx.db, happening.only)
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  const followers = await listFollowerIds(ctx.db, place, dayOf(ctx.now()))
  const ids = [subject.author_id ?? 0, ...stakes.map((stake) => stake.user_id), ...followers]
  return await listReachable(ctx.db, [...new Set(ids)])
}

/** Why somebody gets the mail and where; undefined when they do not want it. */
async function wishOf(
  ctx: Ctx,
  project: Project,
  happening: Happening,
  subject: SubjectRow,
  person: Person,
  how: readonly Stake['how'][],
): Promise<Pick<Notice, 'reason' | 'email'> | undefined> {
  const own = person.id === happening.author_id
  if (own && !wantsOwn(person)) return undefined
  if (how.includes('unsubscribed') && !happening.only) return undefined
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  const setting = await effectiveSetting(ctx.db, person.id, place)
  const mentioned = happening.event === 'mentioned' || how.includes('mentioned')
  const participating =
    happening.only !== null ||
    subject.author_id === person.id ||
    how.some((one) => one !== 'mentioned' && one !== 'unsubscribed')
  const involved = { mentioned, participating }
  const wanted = isChoice(happening.event)
    ? isNotified(setting.level, setting.events, happening.event, involved)
    : setting.level !== 'disabled' && (mentioned || (participating && setting.level !== 'mention'))
  if (!wanted) return undefined
  return { reason: reasonOf(own, happening, how, participating), email: setting.email }
}

function isChoice(event: Happening['event']): event is NotificationEvent {
  return EVENTS.some((one) => one === event)
}

function wantsOwn(person: Person): boolean {
  const settings = JSON.parse(person.settings) as Record<string, unknown> // written by us
  return settings.notified_of_own_activity === true
}

function reasonOf(
  own: boolean,
  happening: Happening,
  how: readonly Stake['how'][],
  participating: boolean,
): Notice['reason'] {
  if (own) return 'own_activity'
  if (happening.event === 'mentioned') return 'mentioned'
  if (how.includes('assignee')) return 'assigned'
  if (how.includes('reviewer')) return 'review_requested'
  if (how.includes('mentioned')) return 'mentioned'
  return participating ? 'subscribed' : 'watching'
}

/** Asks the very rules that the API asks when the person looks. */
async function maySee(
  ctx: Ctx,
  happening: Happening,
  subject: SubjectRow,
  stakes: readonly Stake[],
  userId: number,
): Promise<boolean> {
  const asPerson = await actAs(ctx, userId)
  if (asPerson.actor.kind !== 'user') return false
  const project = await findVisibleProject(asPerson, String(happening.project_id))
  if (!project) return false
  const ability = happening.type === 'Issue' ? 'read_issues' : 'read_merge_requests'
  if (!mayInProject(asPerson.actor, project, ability)) return false
  const assigned = stakes.filter(({ how }) => how === 'assignee').map((stake) => stake.user_id)
  if (happening.type === 'Issue' && !maySeeIssue(asPerson, project, subject, assigned)) return false
  if (happening.note_id === null) return true
  const note = await findNote(ctx.db, happening.note_id)
  if (!note) return false
  return note.internal === 0 || project.role >= Role.planner || isAdmin(asPerson.actor)
}
