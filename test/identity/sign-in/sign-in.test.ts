import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const PASSWORD = 'correct horse battery'
let smtp: MailServer
let world: World
let ana: Caller

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' })
  ana = await world.user('ana')
  await world.root.put(`/users/${ana.id}`, { password: PASSWORD })
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

const isSignedIn = async (browser: Browser) =>
  (await browser.get('/users/sign_in')).text.includes('You are signed in')

test('the page answers 200 to whoever polls it, and lets no script run', async () => {
  const page = await new Browser(world.url).get('/users/sign_in')
  expect(page.status).toBe(200)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("script-src 'self';")
  expect(page.text).not.toMatch(/<script(?! type="module" src="\/-\/assets\/main-\w+\.js")/)
})

test('a user signs in with name or e-mail and password, and out again', async () => {
  const browser = new Browser(world.url)
  const done = await browser.signIn('ana@example.com', PASSWORD)
  expect([done.status, done.location]).toEqual([303, '/'])
  expect(done.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax$/)
  const page = await browser.get('/users/sign_in')
  expect(page.text).toContain('Account of ')
  await browser.submit(page, '/users/sign_out', {})
  expect(await isSignedIn(browser)).toBe(false)
  const user = await world.root.get(`/users/${ana.id}`)
  expect(user.body.current_sign_in_at).toBe('2026-05-04T10:00:00.000Z')
})

test('a wrong password says no more than that', async () => {
  const browser = new Browser(world.url)
  for (const [login, password] of [
    ['ana', 'wrong password'],
    ['nobody', PASSWORD],
  ] as const) {
    const page = await browser.signIn(login, password)
    expect(page.status).toBe(401)
    expect(page.text).toContain('The username or the password is wrong.')
    expect(await isSignedIn(browser)).toBe(false)
  }
})

test('a form that is not ours signs nobody in', async () => {
  const browser = new Browser(world.url)
  const fields = { 'user[login]': 'ana', 'user[password]': PASSWORD }
  expect((await browser.post('/users/sign_in', fields)).status).toBe(422)
  const foreign = await new Browser(world.url).get('/users/sign_in')
  expect((await browser.submit(foreign, '/users/sign_in', fields)).status).toBe(422)
  expect(await isSignedIn(browser)).toBe(false)
})

test.each([
  '//evil.example',
  '/\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/a\tb',
])('signing in leads to no foreign page: %s', async (target) => {
  const browser = new Browser(world.url)
  const form = await browser.get(`/users/sign_in?return_to=${encodeURIComponent(target)}`)
  const done = await browser.submit(form, '/users/sign_in', {
    'user[login]': 'ana',
    'user[password]': PASSWORD,
    return_to: target,
  })
  expect(done.location).toBe('/')
})

test('a session ends with the block of its user, a new password, and its time', async () => {
  const browser = new Browser(world.url)
  await browser.signIn('ana', PASSWORD)
  await world.root.post(`/users/${ana.id}/block`)
  expect(await isSignedIn(browser)).toBe(false)
  expect((await new Browser(world.url).signIn('ana', PASSWORD)).status).toBe(403)
  await world.root.post(`/users/${ana.id}/unblock`)
  expect(await isSignedIn(browser)).toBe(true)
  await world.root.put(`/users/${ana.id}`, { password: `${PASSWORD}!` })
  expect(await isSignedIn(browser)).toBe(false)
  await world.root.put(`/users/${ana.id}`, { password: PASSWORD })
  await browser.signIn('ana', PASSWORD)
  world.setNow('2026-05-11T10:00:00.000Z')
  expect(await isSignedIn(browser)).toBe(false)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('who was deactivated is active again once they sign in, but not by git or a wrong password', async () => {
  const { id } = await world.user('dora')
  await world.root.put(`/users/${id}`, { password: PASSWORD })
  expect((await world.root.post(`/users/${id}/deactivate`)).body).toBe(true)
  const state = async () => (await world.root.get(`/users/${id}`)).body.state
  const browser = new Browser(world.url)
  expect((await browser.signIn('dora', 'wrong password')).status).toBe(401)
  const basic = Buffer.from(`dora:${PASSWORD}`).toString('base64')
  const headers = { authorization: `Basic ${basic}` }
  const refs = await fetch(`${world.url}/dora/x.git/info/refs?service=git-upload-pack`, { headers })
  expect([refs.status, await state()]).toEqual([403, 'deactivated'])
  expect((await browser.signIn('dora', PASSWORD)).status).toBe(303)
  expect([await isSignedIn(browser), await state()]).toEqual([true, 'active'])
  const { body: events } = await world.root.get(`/audit_events?entity_type=User&entity_id=${id}`)
  expect(events).toContainEqual(
    expect.objectContaining({ author_id: id, event_name: 'user_activated' }),
  )
})

test('a sign-in from a new place sends a mail that says what to do if it was somebody else', async () => {
  const sam = await world.user('sam')
  await world.root.put(`/users/${sam.id}`, { password: PASSWORD })
  await world.root.put('/application/settings', { notify_on_unknown_sign_in: true })
  const signIn = () => new Browser(world.url).signIn('sam', PASSWORD)
  // The first place is no new one, and neither is one that was seen before.
  await signIn()
  await signIn()
  await world.ctx.db.updateTable('sessions').set({ ip: '192.0.2.7' }).execute()
  await signIn()
  await world.runTasks()
  const mail = await smtp.wait('sam@example.com', 'You signed in from a new place')
  expect(mail).toContain('signed in to your account from 127.0.0.1')
  expect(mail).toContain('/-/user_settings/password')
  expect(smtp.to('sam@example.com').filter((one) => one.includes('new place'))).toHaveLength(1)
  await world.root.put('/application/settings', { notify_on_unknown_sign_in: false })
})

test('a session opens no API', async () => {
  const browser = new Browser(world.url)
  await browser.signIn('ana', PASSWORD)
  expect((await browser.get('/api/v4/user')).status).toBe(401)
})

test('health, liveness and readiness answer at the server itself', async () => {
  const browser = new Browser(world.url)
  expect((await browser.get('/-/health')).text).toBe('svc OK')
  expect(JSON.parse((await browser.get('/-/liveness')).text)).toEqual({ status: 'ok' })
  const ready = await browser.get('/-/readiness')
  expect(JSON.parse(ready.text)).toEqual({ status: 'ok', master_check: [{ status: 'ok' }] })
  const { body } = await world.nobody.get('/openapi.json')
  expect(body.paths['/-/health'].servers).toEqual([{ url: world.app.config.externalUrl }])
})

test('whoever has not confirmed their address signs in as far as the settings let them', async () => {
  const email = 'new@example.com'
  const account = { username: 'new', name: 'New', email, password: PASSWORD }
  const set = (email_confirmation_setting: string) =>
    world.root.put('/application/settings', { email_confirmation_setting })
  await set('hard')
  expect((await world.root.post('/users', account)).status).toBe(201)
  const oauth = { grant_type: 'password', username: 'new', password: PASSWORD }
  const basic = Buffer.from(`new:${PASSWORD}`).toString('base64')
  const statuses = async () => {
    const raw = new URLSearchParams(oauth)
    const token = await world.nobody.post('/oauth/token', undefined, { host: true, raw })
    const git = await world.nobody.get('/new/none.git/info/refs?service=git-upload-pack', {
      host: true,
      headers: { Authorization: `Basic ${basic}` },
    })
    const page = await new Browser(world.url).signIn('new', PASSWORD)
    return [page.status, token.status, git.status]
  }
  const refused = [403, 400, 403]
  const admitted = [303, 200, 404]
  expect(await statuses()).toEqual(refused)
  await set('soft')
  expect(await statuses()).toEqual(admitted)
  world.setNow('2026-05-07T10:00:00.000Z')
  expect(await statuses()).toEqual(refused)
  await set('off')
  expect(await statuses()).toEqual(admitted)
  await set('hard')
  expect((await new Browser(world.url).signIn('ana', PASSWORD)).status).toBe(303)
  await set('off')
  world.setNow('2026-05-04T10:00:00.000Z')
})
