import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { GROUP_EVENTS } from '../notification-settings/levels.ts'

/** What mails are about, beside the events that people choose among: those go to whoever takes part. */
const MORE_EVENTS = ['approve_merge_request', 'mentioned'] as const

/** Something that happened to an issue or merge request, and that people may want a mail about. */
const notificationSchema = z.object({
  project_id: z.int(),
  type: z.enum(['Issue', 'MergeRequest']),
  id: z.int(),
  event: z.enum([...GROUP_EVENTS, ...MORE_EVENTS]),
  author_id: z.int().nullable(),
  note_id: z.int().nullable(),
  /** Only these people are notified. */
  only: z.array(z.int()).nullable(),
  /** Whom it concerns before others: they were assigned, or asked to review. */
  about: z.array(z.int()).default([]),
  at: z.string(),
})

export type Notification = z.infer<typeof notificationSchema>

/** Finds who wants a mail about it; its handler is in tasks.ts. */
export const collectRecipients = { name: 'notifications.collect', payload: notificationSchema }

export const sendNotice = {
  name: 'notifications.send',
  payload: z.object({
    notification: notificationSchema,
    user_id: z.int(),
    email: z.string().nullable(),
    reason: z.enum(['mentioned', 'assigned', 'review_requested', 'subscribed', 'watching']),
  }),
}

export type Notice = z.infer<typeof sendNotice.payload>

/** Lets mails about something be sent, in the transaction that made it happen. */
export async function notifyPeople(
  ctx: Pick<Ctx, 'db' | 'work' | 'now'>,
  notification: Omit<Notification, 'about' | 'at' | 'only' | 'note_id'> & Partial<Notification>,
): Promise<void> {
  await ctx.work.enqueue(ctx.db, collectRecipients, {
    only: null,
    note_id: null,
    about: [],
    at: ctx.now(),
    ...notification,
  })
}

const events: Readonly<Record<string, Readonly<Partial<Record<string, Notification['event']>>>>> = {
  Issue: { opened: 'new_issue', closed: 'close_issue', reopened: 'reopen_issue' },
  MergeRequest: {
    opened: 'new_merge_request',
    closed: 'close_merge_request',
    reopened: 'reopen_merge_request',
    accepted: 'merge_merge_request',
    approved: 'approve_merge_request',
  },
}

/** The event that a word of the feed stands for. */
export function eventOf(
  type: string | undefined,
  action: string,
): Notification['event'] | undefined {
  return events[type ?? '']?.[action]
}
