import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { approvalStanding } from '../../review/approval-rules/standing.ts'
import { findById } from '../../review/merge-requests/queries.ts'
import { effectiveSetting } from '../notification-settings/effective.ts'
import { EVENTS, isNotified, type NotificationEvent } from '../notification-settings/levels.ts'
import { calledBy } from './called.ts'
import { isSilent } from './mail-followers.ts'
import { type Notice, type Notification, sendNotice } from './notification.ts'
import {
  findSubject,
  listFollowerIds,
  listReachable,
  listStakes,
  type Stake,
  type SubjectRow,
} from './queries.ts'
import { maySeeSubject } from './visible-to.ts'

/** Finds who wants a mail about something and may see it, and lets one be sent to each (docs/contract/A-resolved §13). */
export async function collectFor(ctx: Ctx, notification: Notification): Promise<void> {
  const subject = await findSubject(ctx.db, notification.type, notification.id)
  const project = await findVisibleProject(ctx, String(notification.project_id))
  if (!subject || !project || (await isSilent(ctx, project))) return
  // Who was assigned or mentioned from the start learns of it from the first mail.
  const isForSome = notification.only !== null || notification.about.length > 0
  if (isForSome && subject.created_at === notification.at) return
  const stakes = await listStakes(ctx.db, notification.type, notification.id)
  const approvers = await approversOf(ctx, notification)
  const called = await calledBy(ctx, notification, subject)
  const involved = [...stakes.map((stake) => stake.user_id), ...called, ...notification.about]
  for (const person of await candidates(ctx, project, notification, subject, involved)) {
    const standing = {
      how: stakes.filter((stake) => stake.user_id === person.id).map((stake) => stake.how),
      mentioned: notification.event === 'mentioned' || called.has(person.id),
      asked: approvers.has(person.id),
    }
    const delivery = await deliveryFor(ctx, project, notification, subject, person, standing)
    if (!delivery || !(await maySeeSubject(ctx, notification, subject, stakes, person.id))) continue
    await ctx.work.enqueue(ctx.db, sendNotice, { notification, user_id: person.id, ...delivery })
  }
}

/** Whose approval the rules of a new merge request name. */
async function approversOf(ctx: Ctx, { event, id }: Notification): Promise<ReadonlySet<number>> {
  const row = event === 'new_merge_request' ? await findById(ctx.db, id) : undefined
  if (!row) return new Set()
  const { rules } = await approvalStanding(ctx, row)
  const naming = rules.filter(({ rule }) => rule.rule_type !== 'any_approver')
  return new Set(naming.flatMap(({ eligible }) => [...eligible]))
}

interface Person {
  readonly id: number
}

async function candidates(
  ctx: Ctx,
  project: Project,
  notification: Notification,
  subject: SubjectRow,
  involved: readonly number[],
): Promise<readonly Person[]> {
  if (notification.only) return await listReachable(ctx.db, notification.only)
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  const followers = await listFollowerIds(ctx.db, place, dayOf(ctx.now()))
  const ids = [subject.author_id ?? 0, ...involved, ...followers]
  return await listReachable(ctx.db, [...new Set(ids)])
}

/** How somebody stands to what the mail is about. */
interface Standing {
  readonly how: readonly Stake['how'][]
  /** The text of the mail mentions them. */
  readonly mentioned: boolean
  /** Their approval is asked for. */
  readonly asked: boolean
}

/** Why somebody gets the mail and where; undefined when they do not want it. */
async function deliveryFor(
  ctx: Ctx,
  project: Project,
  notification: Notification,
  subject: SubjectRow,
  person: Person,
  { how, mentioned, asked }: Standing,
): Promise<Pick<Notice, 'reason' | 'email'> | undefined> {
  if (person.id === notification.author_id) return undefined
  const concerned = notification.only !== null || notification.about.includes(person.id)
  if (how.includes('unsubscribed') && !concerned && !mentioned) return undefined
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  const setting = await effectiveSetting(ctx.db, person.id, place)
  const participating =
    concerned || subject.author_id === person.id || how.some((one) => one !== 'unsubscribed')
  const involved = { mentioned, participating }
  const wanted = isChoice(notification.event)
    ? isNotified(setting.level, setting.events, notification.event, involved)
    : setting.level !== 'disabled' && (mentioned || (participating && setting.level !== 'mention'))
  if (!wanted && !(asked && isNotified(setting.level, setting.events, 'approver', involved)))
    return undefined
  return { reason: reasonOf(how, mentioned, participating), email: setting.email }
}

function isChoice(event: Notification['event']): event is NotificationEvent {
  return EVENTS.some((one) => one === event)
}

function reasonOf(
  how: readonly Stake['how'][],
  mentioned: boolean,
  participating: boolean,
): Notice['reason'] {
  if (how.includes('assignee')) return 'assigned'
  if (how.includes('reviewer')) return 'review_requested'
  if (mentioned || how.includes('mentioned')) return 'mentioned'
  return participating ? 'subscribed' : 'watching'
}
