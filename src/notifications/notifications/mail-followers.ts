import type { ProjectAbility } from '../../access/abilities.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser, type PlainMail } from '../../identity/mail/mail-user.ts'
import { effectiveSetting } from '../notification-settings/effective.ts'
import { isNotified, type NotificationEvent } from '../notification-settings/levels.ts'
import { isMailOff, listFollowerIds } from './queries.ts'
import { mayReadIn } from './visible-to.ts'

/** The project that something happened in. */
export interface MailPlace {
  readonly id: number
  readonly namespace_id: number
  readonly settings: Readonly<Record<string, unknown>>
}

/** Whether the project, or a group above it, switches mails off. */
export async function isSilent(ctx: Ctx, project: MailPlace): Promise<boolean> {
  return project.settings.emails_enabled === false || isMailOff(ctx.db, project.namespace_id)
}

/** Lets a mail be sent to those who follow a project and want mails of this event, and to those who take part. */
export async function mailFollowers(
  ctx: Ctx,
  project: MailPlace,
  event: NotificationEvent,
  taking: {
    readonly part: readonly number[]
    readonly author: number | null
    /** What it takes to see what the mail is about. */
    readonly ability: ProjectAbility
  },
  mail: PlainMail,
): Promise<void> {
  if (await isSilent(ctx, project)) return
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  const followers = await listFollowerIds(ctx.db, place, dayOf(ctx.now()))
  for (const userId of new Set([...taking.part, ...followers])) {
    if (userId === taking.author && !taking.part.includes(userId)) continue
    const setting = await effectiveSetting(ctx.db, userId, place)
    const involved = { mentioned: false, participating: taking.part.includes(userId) }
    if (!isNotified(setting.level, setting.events, event, involved)) continue
    if (await mayReadIn(ctx, project.id, taking.ability, userId)) {
      await mailUser(ctx, userId, mail, setting.email)
    }
  }
}
