import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { email } from '../base/setting.ts'
import { StartError } from '../base/start-error.ts'
import { deliver } from '../identity/mail/deliver.ts'
import { command, UsageError } from './command.ts'
import { withData } from './open.ts'

export const mailTest = command({
  name: 'mail test',
  summary: 'Send a mail with the settings of the server, and say what the mail server answers',
  args: ['address'],
  options: {},
  async run(call) {
    const [address = ''] = call.args
    if (!email.safeParse(address).success) throw new UsageError(`'${address}' is no address`)
    const { data, smtpUrl, mailFrom, externalUrl } = call.config()
    const key = `test-${randomUUID()}`
    await withData(call, async (ctx) => {
      const text = `This mail was sent by gitstead mail test, for ${externalUrl}.\n`
      try {
        await deliver(ctx, { to: address, subject: 'Mail of Gitstead arrives', text, key })
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new StartError(`the mail was not sent: ${reason} (GITSTEAD_SMTP_URL)`)
      }
    })
    const where =
      smtpUrl === undefined
        ? `written to ${join(data, 'outbox', `${key}.eml`)}: GITSTEAD_SMTP_URL is not set`
        : `the mail server has taken it, from ${mailFrom}`
    return { lines: [where], data: { to: address, from: mailFrom, sent: smtpUrl !== undefined } }
  },
})
