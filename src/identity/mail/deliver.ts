import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transporter } from 'nodemailer'
import type { Config } from '../../base/config.ts'
import type { Ctx } from '../../ctx.ts'
import { html } from './html.ts'

/** A message as our own code writes it: plain text. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Makes the message's id, so that a second delivery of the same message is known as such. */
  readonly key: string
  /** The same as HTML. */
  readonly html?: string | undefined
  /** Who did what it is about, beside the address of the server. */
  readonly fromName?: string | undefined
  /** The message's id instead of one made of the key: the first of a thread. */
  readonly messageId?: string | undefined
  /** The first message of the thread. */
  readonly inReplyTo?: string | undefined
  readonly listId?: { readonly label: string; readonly id: string } | undefined
  /** Where the reader ends mails of this kind, by a click of the mail program too. */
  readonly unsubscribe?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

type Smtp = { readonly url: string; readonly transport: Transporter }
const open = new WeakMap<Config, Smtp>()

/**
 * Hands a message to the mail server of the configuration; without one, it becomes a file in `<data>/outbox`. Only
 * background tasks call this: a mail server may be slow, or away.
 */
export async function deliver(
  ctx: Pick<Ctx, 'config' | 'now' | 'settings'>,
  mail: Mail,
): Promise<void> {
  const host = new URL(ctx.config.externalUrl).hostname
  // What administrators have under every mail, such as who runs this server.
  const more = ctx.settings.get('email_additional_text').trim()
  const message = {
    from: { name: oneLine(mail.fromName ?? 'Gitstead'), address: ctx.config.mailFrom },
    to: { name: '', address: mail.to },
    subject: oneLine(mail.subject),
    text: more === '' ? mail.text : `${mail.text}\n${more}\n`,
    ...(mail.html === undefined ? {} : { html: `${mail.html}${html`<p>${more}</p>`.text}` }),
    date: new Date(ctx.now()),
    messageId: mail.messageId ?? `<${mail.key}@${host}>`,
    ...(mail.inReplyTo === undefined
      ? {}
      : { inReplyTo: mail.inReplyTo, references: mail.inReplyTo }),
    headers: { 'Auto-Submitted': 'auto-generated', ...listHeaders(mail), ...mail.headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  if (ctx.config.smtpUrl === undefined) return intoOutbox(ctx, mail.key, message)
  const transport = await smtpOf(ctx.config, ctx.config.smtpUrl)
  await transport.sendMail(message)
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ')
}

/** What mail programs sort by, and the button that some of them show (RFC 2919, RFC 8058). */
function listHeaders({ listId, unsubscribe }: Mail): Record<string, string> {
  return {
    ...(listId ? { 'List-Id': `${oneLine(listId.label)} <${oneLine(listId.id)}>` } : {}),
    ...(unsubscribe
      ? {
          'List-Unsubscribe': `<${unsubscribe}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }
      : {}),
  }
}

// Loaded by the first mail: many servers send none.
const mailer = () => import('nodemailer')

async function smtpOf(config: Config, url: string): Promise<Transporter> {
  const { createTransport } = await mailer()
  const known = open.get(config)
  if (known) return known.transport
  const transport = createTransport(url, {})
  open.set(config, { url, transport })
  return transport
}

async function intoOutbox(
  ctx: Pick<Ctx, 'config'>,
  key: string,
  message: Parameters<Transporter['sendMail']>[0],
): Promise<void> {
  const folder = join(ctx.config.data, 'outbox')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { createTransport } = await mailer()
  const composed = await createTransport({ streamTransport: true, buffer: true }).sendMail(message)
  const path = join(folder, `${key}.eml`)
  await writeFile(`${path}.partial`, composed.message as Buffer, { mode: 0o600 })
  await rename(`${path}.partial`, path)
}
