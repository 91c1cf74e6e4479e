import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { listMembersOfGroups, listUsersByName } from '../../discussions/references/queries.ts'
import { findReferences } from '../../markdown/find-references.ts'
import type { Notification } from './notification.ts'
import { findNote, type SubjectRow } from './queries.ts'

/** Most people and groups that one text calls. */
const MAX_CALLED = 50

/** Whom the very text that a mail brings mentions, themselves or by a group of theirs. */
export async function calledBy(
  ctx: Ctx,
  notification: Notification,
  subject: SubjectRow,
): Promise<ReadonlySet<number>> {
  const found = findReferences(await textOf(ctx, notification, subject))
  const names = found
    .flatMap((one) => (one.kind === 'user' ? [one.username] : []))
    .slice(0, MAX_CALLED)
  const people = await listUsersByName(ctx.db, names)
  const members = await listMembersOfGroups(ctx.db, names, dayOf(ctx.now()))
  return new Set([...people, ...members].map((user) => user.id))
}

async function textOf(
  ctx: Ctx,
  { event, note_id }: Notification,
  { title, description }: SubjectRow,
): Promise<string> {
  if (note_id !== null) return (await findNote(ctx.db, note_id))?.body ?? ''
  const isNew = event === 'new_issue' || event === 'new_merge_request'
  return isNew ? `${title}\n\n${description ?? ''}` : ''
}
