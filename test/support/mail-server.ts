import { SMTPServer } from 'smtp-server'
import { expect } from 'vitest'

/** A real mail server that keeps what it gets. */
export interface MailServer {
  readonly url: string
  /** Every mail to an address so far, decoded, oldest first. */
  to(address: string): readonly string[]
  /** Waits for a mail to an address whose subject has these words. */
  wait(address: string, subject: string): Promise<string>
  clear(): void
  close(): Promise<void>
}

export async function openMailServer(): Promise<MailServer> {
  const mails: string[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push(unfolded(Buffer.concat(chunks).toString()))
        done()
      })
    },
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const address = smtp.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const to = (who: string) => mails.filter((mail) => mail.includes(`To: ${who}`))
  const find = (who: string, subject: string) =>
    to(who).find((mail) => /^Subject: .*$/m.exec(mail)?.[0].includes(subject))
  return {
    url: `smtp://127.0.0.1:${port}`,
    to,
    async wait(who, subject) {
      await expect.poll(() => find(who, subject) !== undefined, { timeout: 10_000 }).toBe(true)
      return find(who, subject) ?? ''
    },
    clear: () => {
      mails.length = 0
    },
    close: () => new Promise<void>((resolve) => smtp.close(() => resolve())),
  }
}

/** Long header lines and quoted-printable soft breaks undone. */
function unfolded(mail: string): string {
  return mail
    .replaceAll('=\r\n', '')
    .replaceAll('=3D', '=')
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .replaceAll('\r\n', '\n')
}
