import { randomBytes } from 'node:crypto'
import { actAs } from '../../access/act-as.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { deliver } from '../../identity/mail/deliver.ts'
import { html } from '../../identity/mail/html.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { renderField } from '../../markdown/render.ts'
import type { Notice } from './notification.ts'
import {
  countSent,
  findNote,
  findSubject,
  insertSent,
  listReachable,
  listStakes,
  type SubjectRow,
} from './queries.ts'
import { maySeeSubject } from './visible-to.ts'
import { REASONS, sentenceOf } from './words.ts'

const DAY_MS = 86_400_000
/** Most mails about one project that somebody gets in a day (docs/contract/A-resolved §6). */
const MAILS_A_DAY = 1000

/** Sends one mail about an issue or merge request, with all that mail programs need to keep threads together. */
export async function sendOne(ctx: Ctx, notice: Notice): Promise<void> {
  const { notification } = notice
  const asPerson = await actAs(ctx, notice.user_id)
  const project = await findVisibleProject(asPerson, String(notification.project_id))
  const subject = await findSubject(ctx.db, notification.type, notification.id)
  const [person] = await listReachable(ctx.db, [notice.user_id])
  if (!project || !subject || !person) return
  // They may have lost it while the mail waited.
  const stakes = await listStakes(ctx.db, notification.type, notification.id)
  if (!(await maySeeSubject(ctx, notification, subject, stakes, person.id))) return
  const note = notification.note_id === null ? null : await findNote(ctx.db, notification.note_id)
  // It was deleted before anybody was notified.
  if (note === undefined) return
  const since = later(ctx.now(), -DAY_MS)
  if ((await countSent(ctx.db, person.id, project.id, since)) >= MAILS_A_DAY) return
  const [author] = (await usersById(ctx, [notification.author_id])).values()
  const people = [...(await usersById(ctx, notification.about)).values()]
  const isConcerned = notification.about.includes(person.id)
  const whom = isConcerned ? 'you' : people.map(({ name }) => name).join(', ')
  const isNew = notification.event === 'new_issue' || notification.event === 'new_merge_request'
  const parts: Parts = {
    sentence: sentenceOf(notification, author?.name ?? 'Somebody', subject, whom),
    body: note?.body ?? (isNew ? (subject.description ?? '') : ''),
    url: urlOf(ctx, project, notice, subject),
    unsubscribe: await unsubscribeUrl(ctx, notice),
    reason: `You get this mail because ${REASONS[notice.reason]}.`,
    path: project.full_path,
  }
  const word = notification.type === 'Issue' ? `#${subject.iid}` : `!${subject.iid}`
  await deliver(ctx, {
    to: notice.email ?? person.email,
    fromName: author?.name,
    subject: `${isNew ? '' : 'Re: '}${project.name} | ${subject.title} (${word})`,
    text: textPart(parts),
    ...(await htmlPart(asPerson, parts)),
    key: `${keyOf(notice)}-${person.id}`,
    ...threadOf(ctx, project, subject, notification.type, isNew),
    unsubscribe: parts.unsubscribe,
    headers: headersOf(ctx, project, subject, notice),
  })
}

function textPart({ sentence, body, url, reason, unsubscribe }: Parts): string {
  const said = [sentence, body.trim(), url].filter((part) => part !== '').join('\n\n')
  return `${said}\n\n-- \n${reason} Unsubscribe: ${unsubscribe}\n`
}

function keyOf({ notification }: Notice): string {
  const { event, id, note_id, at } = notification
  return `notice-${event}-${id}-${note_id ?? Date.parse(at)}`
}

/** The first mail of a thread is named after what it is about, so that all others can refer to it. */
function threadOf(
  ctx: Pick<Ctx, 'config'>,
  project: Project,
  subject: SubjectRow,
  type: Notice['notification']['type'],
  isNew: boolean,
) {
  const host = new URL(ctx.config.externalUrl).hostname
  const root = `<${type === 'Issue' ? 'issue' : 'merge_request'}_${subject.id}@${host}>`
  const listId = listIdOf(project, host)
  return isNew ? { listId, messageId: root } : { listId, inReplyTo: root }
}

function headersOf(
  ctx: Pick<Ctx, 'config'>,
  project: Project,
  subject: SubjectRow,
  { notification, reason }: Notice,
): Record<string, string> {
  return ctx.config.vendor.headers({
    Project: project.name,
    'Project-Id': String(project.id),
    'Project-Path': project.full_path,
    NotificationReason: reason,
    [`${notification.type}-ID`]: String(subject.id),
    [`${notification.type}-IID`]: String(subject.iid),
  })
}

function urlOf(
  ctx: Pick<Ctx, 'config'>,
  project: Project,
  { notification }: Notice,
  subject: SubjectRow,
): string {
  const kind = notification.type === 'Issue' ? 'issues' : 'merge_requests'
  const anchor = notification.note_id === null ? '' : `#note_${notification.note_id}`
  return `${ctx.config.externalUrl}/${project.full_path}/-/${kind}/${subject.iid}${anchor}`
}

/** Groups of mails as mail programs sort them: `path <id.project.group.host>` (RFC 2919). */
function listIdOf(project: Project, host: string): { readonly label: string; readonly id: string } {
  const parts = project.full_path.split('/').reverse()
  return { label: project.full_path, id: `${project.id}.${parts.join('.')}.${host}` }
}

/** A link that ends mails about this subject, for whoever has the mail; its secret is kept as a digest. */
async function unsubscribeUrl(ctx: Ctx, notice: Notice): Promise<string> {
  const secret = randomBytes(24).toString('hex')
  await insertSent(ctx.db, {
    digest: digestOf(secret),
    user_id: notice.user_id,
    subject_type: notice.notification.type === 'Issue' ? 'issue' : 'merge_request',
    subject_id: notice.notification.id,
    created_at: ctx.now(),
  })
  return `${ctx.config.externalUrl}/-/sent_notifications/${secret}/unsubscribe`
}

interface Parts {
  readonly sentence: string
  readonly body: string
  readonly url: string
  readonly reason: string
  readonly unsubscribe: string
  readonly path: string
}

/** The same as HTML, unless administrators want plain mails; links are what the reader may see. */
async function htmlPart(ctx: Ctx, parts: Parts): Promise<{ readonly html?: string }> {
  if (!ctx.settings.get('html_emails_enabled')) return {}
  const rendered = await renderField(ctx, parts.body, parts.path)
  const head = html`<p>${parts.sentence}</p>`
  const foot = html`<p><a href="${parts.url}">View it on Gitstead</a></p>
<p style="color:#737278">${parts.reason} <a href="${parts.unsubscribe}">Unsubscribe</a></p>`
  return { html: `${head.text}\n${rendered}\n${foot.text}` }
}
