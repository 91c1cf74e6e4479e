import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWithBasic } from '../../../src/access/authentication/sign-in-basic.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let smtp: SMTPServer
let ana: Caller
const mails: string[] = []

beforeAll(async () => {
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '='))
        done()
      })
    },
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const address = smtp.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  world = await openWorld({ smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'git@example.com' })
  ana = await world.user('ana')
})
afterAll(async () => {
  await world.close()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
})

async function mailTo(address: string): Promise<string> {
  await expect.poll(() => mails.some((mail) => mail.includes(`To: ${address}`))).toBe(true)
  return mails.find((mail) => mail.includes(`To: ${address}`)) ?? ''
}

const send = (path: string, form: Record<string, string>) =>
  fetch(`${world.url}${path}`, { method: 'POST', body: new URLSearchParams(form) })

test('the sign-in page answers 200', async () => {
  const reply = await fetch(`${world.url}/users/sign_in`)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toContain('text/html')
})

test('a mail arrives at the mail server, and its link confirms the address, once and by a button', async () => {
  const made = await ana.post('/user/emails', { email: 'second@example.org' })
  const mail = await mailTo('second@example.org')
  expect(mail).toContain('From: Gitstead <git@example.com>')
  expect(mail).toContain('Auto-Submitted: auto-generated')
  const secret = /confirmation_token=([\w-]+)/.exec(mail)?.[1] ?? ''
  const confirmed = async () => (await ana.get(`/user/emails/${made.body.id}`)).body.confirmed_at
  const page = await fetch(`${world.url}/users/confirmation?confirmation_token=${secret}`)
  expect([page.status, await confirmed()]).toEqual([200, null])
  expect((await send('/users/confirmation', { confirmation_token: secret })).status).toBe(200)
  expect(await confirmed()).toBe(world.ctx.now())
  expect((await send('/users/confirmation', { confirmation_token: secret })).status).toBe(400)
  const stored = JSON.stringify(
    await world.ctx.db.selectFrom('email_confirmations').selectAll().execute(),
  )
  expect(stored).not.toContain(secret)
})

test('a new user sets the first password by the link of a mail', async () => {
  await world.root.post('/users', {
    username: 'newcomer',
    name: 'New',
    email: 'newcomer@example.org',
    reset_password: true,
  })
  const mail = await mailTo('newcomer@example.org')
  const secret = /reset_password_token=([\w-]+)/.exec(mail)?.[1] ?? ''
  const set = (password: string) =>
    send('/users/password', { reset_password_token: secret, password })
  expect((await set('short')).status).toBe(400)
  expect((await set('A-good-password-9')).status).toBe(200)
  expect((await set('Another-password-9')).status).toBe(400)
  const given = { user: 'newcomer', password: 'A-good-password-9' }
  expect(await signInWithBasic(world.ctx, given)).toMatchObject({ user: { username: 'newcomer' } })
})

async function passwordLinkOf(name: string) {
  const email = `${name}@example.org`
  const user = { username: name, name, email, reset_password: true }
  const { id } = (await world.root.post('/users', user)).body
  const secret = /reset_password_token=([\w-]+)/.exec(await mailTo(email))?.[1] ?? ''
  const follow = async () => {
    const form = { reset_password_token: secret, password: 'A-stolen-password-9' }
    return (await send('/users/password', form)).status
  }
  return { id, follow }
}

test.each([
  ['somebody who has another address', { email: 'rescued@example.org', skip_reconfirmation: true }],
  ['somebody who has another password', { password: 'A-rescued-password-9' }],
])('a link that was sent before sets no password of %s', async (_, change) => {
  const { id, follow } = await passwordLinkOf(`lost${Object.keys(change).length}`)
  expect((await world.root.put(`/users/${id}`, change)).status).toBe(200)
  expect(await follow()).toBe(400)
})

test('a password that was set by a link is in the audit trail, by its user', async () => {
  const { id, follow } = await passwordLinkOf('heard')
  expect(await follow()).toBe(200)
  const [event] = (await world.root.get(`/audit_events?entity_type=User&entity_id=${id}`)).body
  expect(event).toMatchObject({ event_name: 'password_set_by_link', author_id: id })
})

test('a link is dead after its time', async () => {
  await ana.post('/user/emails', { email: 'third@example.org' })
  const secret = /confirmation_token=([\w-]+)/.exec(await mailTo('third@example.org'))?.[1] ?? ''
  world.setNow('2026-05-08T10:00:00.000Z')
  expect((await send('/users/confirmation', { confirmation_token: secret })).status).toBe(400)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('broken forms are the caller’s fault, and tell nothing of ours', async () => {
  const reply = await fetch(`${world.url}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"a":',
  })
  expect([reply.status, await reply.json()]).toEqual([
    400,
    { error: 'message body does not match declared format' },
  ])
})
