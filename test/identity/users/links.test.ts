import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWithBasic } from '../../../src/access/authentication/sign-in-basic.ts'
import { Browser } from '../../support/browser.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let smtp: SMTPServer
let ana: Caller
const mails: string[] = []
let isAway = false

beforeAll(async () => {
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (isAway) return done(new Error('try again later'))
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

/** Sends a form of one of our pages. */
async function send(path: string, form: Record<string, string>) {
  const browser = new Browser(world.url)
  return browser.submit(await browser.get('/users/sign_in'), path, form)
}

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
  const { id, follow } = await passwordLinkOf('known')
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

test('whoever has forgotten their password gets a link, once in a while, and nobody learns which users exist', async () => {
  const { id } = await world.user('forgetful')
  await world.root.put(`/users/${id}`, { password: 'A-first-password-9' })
  const other = new Browser(world.url)
  await other.signIn('forgetful', 'A-first-password-9')
  const ask = (email: string) => send('/users/password/new', { email })
  const [known, unknown, odd] = [
    await ask('forgetful@example.com'),
    await ask('nobody@example.com'),
    await ask('"<x>\r\nBcc: evil@example.com'),
  ]
  const without = ({ text }: { text: string }) => text.replaceAll(/value="[^"]*"/g, '')
  expect([known.status, unknown.status, odd.status]).toEqual([200, 200, 200])
  expect(without(known)).toBe(without(unknown))
  await ask('Forgetful@example.com')
  await world.runTasks()
  const mail = await mailTo('forgetful@example.com')
  expect(mails.filter((one) => one.includes('To: forgetful@'))).toHaveLength(1)
  expect(mails.some((one) => /nobody@|evil@/.test(one))).toBe(false)
  const secret = /reset_password_token=([\w-]+)/.exec(mail)?.[1] ?? ''
  const set = (password: string) =>
    send('/users/password', { reset_password_token: secret, password })
  world.setNow('2026-05-04T11:00:01.000Z')
  expect((await set('A-second-password-9')).status).toBe(400)
  world.setNow('2026-05-04T10:59:00.000Z')
  expect((await set('password1')).status).toBe(400)
  expect((await set('A-second-password-9')).status).toBe(200)
  expect((await set('A-third-password-9')).status).toBe(400)
  expect((await other.get('/-/user_settings/profile')).status).toBe(302)
  const again = new Browser(world.url)
  expect((await again.signIn('forgetful', 'A-first-password-9')).status).toBe(401)
  expect((await again.signIn('forgetful', 'A-second-password-9')).status).toBe(303)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('who is blocked, or no person, gets no link', async () => {
  const { id } = await world.user('barred')
  await world.root.post(`/users/${id}/block`)
  await send('/users/password/new', { email: 'barred@example.com' })
  await world.runTasks()
  expect(mails.some((one) => one.includes('To: barred@'))).toBe(false)
})

test('the mail that confirms an address is sent again while it waits', async () => {
  const email = 'slow@example.org'
  await ana.post('/user/emails', { email })
  await mailTo(email)
  const count = () => mails.filter((one) => one.includes(`To: ${email}`)).length
  const ask = async (address: string) => {
    expect((await send('/users/confirmation/new', { email: address })).status).toBe(200)
    await world.runTasks()
  }
  await ask(email)
  expect(count()).toBe(1)
  world.setNow('2026-05-04T10:03:00.000Z')
  await ask(email)
  await expect.poll(count).toBe(2)
  await ask('ana@example.com')
  expect(mails.some((one) => /To: ana@example.com[\s\S]*confirmation_token/.test(one))).toBe(false)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('broken forms are refused with 4xx, and the answer shows nothing internal', async () => {
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

test('a link for a password arrives although the mail server was away for a moment', async () => {
  await world.user('patient')
  isAway = true
  await send('/users/password/new', { email: 'patient@example.com' })
  await world.runTasks()
  isAway = false
  expect(mails.some((one) => one.includes('To: patient@'))).toBe(false)
  world.setNow('2026-05-04T10:01:30.000Z')
  await world.runTasks()
  const mail = await mailTo('patient@example.com')
  const secret = /reset_password_token=([\w-]+)/.exec(mail)?.[1] ?? ''
  const form = { reset_password_token: secret, password: 'A-third-password-9' }
  expect((await send('/users/password', form)).status).toBe(200)
  world.setNow('2026-05-04T10:00:00.000Z')
})
