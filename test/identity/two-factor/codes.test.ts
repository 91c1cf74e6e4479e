import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { codeAt, withApp } from '../../support/codes.ts'
import { type MailServer, openMailServer } from '../../support/mail-server.ts'
import { givePassword, PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const SECOND = '/users/sign_in/second_factor'
let smtp: MailServer
let world: World
let minutes = 0

beforeAll(async () => {
  smtp = await openMailServer()
  world = await openWorld({ smtpUrl: smtp.url, mailFrom: 'git@example.com' })
})
afterAll(async () => {
  await world.close()
  await smtp.close()
})

/** Goes on by so many minutes; codes and limits of before are over after eleven. */
function on(by = 11): string {
  minutes += by
  const now = new Date(Date.parse('2026-05-04T10:00:00.000Z') + minutes * 60_000).toISOString()
  world.setNow(now)
  return now
}

async function somebody(name: string) {
  const caller = await world.user(name)
  const app = await withApp(world, caller, on())
  return { caller, ...app }
}

async function firstStep(name: string): Promise<Browser> {
  const browser = new Browser(world.url)
  const done = await browser.signIn(name, PASSWORD)
  expect([done.status, done.location]).toEqual([303, expect.stringContaining(SECOND)])
  return browser
}

const give = (browser: Browser, code: string) => submitForm(browser, SECOND, SECOND, { code })
const isIn = async (browser: Browser) =>
  (await browser.get('/-/user_settings/profile')).status === 200
const eventsOf = async ({ id }: Caller) => {
  const { body } = await world.root.get(`/audit_events?entity_type=User&entity_id=${id}`)
  return body.map((one: { event_name: string }) => one.event_name) as string[]
}

test('the first step opens nothing, and a code of the app then signs in', async () => {
  const { caller, secret } = await somebody('ana')
  expect((await caller.get('/user')).body.two_factor_enabled).toBe(true)
  const now = on()
  const browser = await firstStep('ana')
  const before = browser.cookies.get('_svc_session')
  expect(await isIn(browser)).toBe(false)
  expect((await browser.get('/-/user_settings/personal_access_tokens')).status).toBe(302)
  const done = await give(browser, codeAt(secret, now))
  expect([done.status, done.location]).toEqual([303, '/'])
  expect(await isIn(browser)).toBe(true)
  // What waited is over: whoever knew its cookie has nothing.
  expect(browser.cookies.get('_svc_session')).not.toBe(before)
  const thief = new Browser(world.url)
  thief.cookies.set('_svc_session', String(before))
  expect((await thief.get(SECOND)).status).toBe(302)
})

describe('a code that is wrong, old or used', () => {
  test('signs nobody in, and is audited', async () => {
    const { caller, secret } = await somebody('bob')
    const now = on()
    const browser = await firstStep('bob')
    const old = new Date(Date.parse(now) - 120_000).toISOString()
    for (const code of ['000000', codeAt(secret, old), 'abcdefghijk', '']) {
      const refused = await give(browser, code)
      expect([code, refused.status]).toEqual([code, 400])
      expect(refused.text).not.toContain(secret)
    }
    const code = codeAt(secret, now)
    expect((await give(browser, code)).status).toBe(303)
    const other = await firstStep('bob')
    expect((await give(other, code)).status).toBe(400)
    // Nor the code of the half minute before, which would be in the window.
    const before = new Date(Date.parse(now) - 30_000).toISOString()
    expect((await give(other, codeAt(secret, before))).status).toBe(400)
    expect(await isIn(other)).toBe(false)
    const events = await eventsOf(caller)
    expect(events.filter((name) => name === 'second_factor_refused')).toHaveLength(6)
  })

  test('is used by one of two who send it at once', async () => {
    const { secret } = await somebody('cleo')
    const now = on()
    const browsers = [await firstStep('cleo'), await firstStep('cleo'), await firstStep('cleo')]
    const done = await Promise.all(browsers.map((one) => give(one, codeAt(secret, now))))
    expect(done.map(({ status }) => status).sort()).toEqual([303, 400, 400])
  })

  test('cannot be tried often, from wherever; a recovery code goes on counting, once', async () => {
    const { secret, codes } = await somebody('dan')
    const now = on()
    const browser = await firstStep('dan')
    for (let tries = 0; tries < 10; tries++) await give(browser, '000000')
    expect((await give(browser, codeAt(secret, now))).status).toBe(429)
    expect((await give(await firstStep('dan'), codeAt(secret, now))).status).toBe(429)
    await world.runTasks()
    await smtp.wait('dan@example.com', 'Wrong codes for your account')
    expect((await give(browser, String(codes[0]).toUpperCase())).status).toBe(303)
    const again = await firstStep('dan')
    expect((await give(again, String(codes[0]))).status).toBe(400)
    const later = on()
    expect((await give(await firstStep('dan'), codeAt(secret, later))).status).toBe(303)
  })
})

test('a first step ends after ten minutes, with a new password, and with a block', async () => {
  const { caller, secret } = await somebody('eve')
  on()
  const late = await firstStep('eve')
  on(10)
  expect((await late.get(SECOND)).status).toBe(302)
  const blocked = await firstStep('eve')
  const form = await blocked.get(SECOND)
  await world.root.post(`/users/${caller.id}/block`)
  const now = on(1)
  const code = codeAt(secret, now)
  expect((await blocked.submit(form, SECOND, { code })).status).toBe(302)
  await world.root.post(`/users/${caller.id}/unblock`)
  const changed = await firstStep('eve')
  await world.root.put(`/users/${caller.id}`, { password: `${PASSWORD}!` })
  expect((await changed.get(SECOND)).status).toBe(302)
})

test('programs sign in by a token, and by the password no more', async () => {
  const { caller } = await somebody('fay')
  const git = (password: string) =>
    world.nobody.get('/fay/none.git/info/refs?service=git-upload-pack', {
      host: true,
      headers: { Authorization: `Basic ${Buffer.from(`fay:${password}`).toString('base64')}` },
    })
  const refused = await git(PASSWORD)
  expect(refused.status).toBe(403)
  expect(JSON.stringify(refused.body)).toContain('personal access token')
  expect((await git(String(caller.token))).status).toBe(404)
  const grant = { grant_type: 'password', username: 'fay', password: PASSWORD }
  const raw = new URLSearchParams(grant)
  expect((await world.nobody.post('/oauth/token', undefined, { host: true, raw })).status).toBe(400)
})

test('it is turned on by the password and a code, and off by both', async () => {
  const gil = await world.user('gil')
  await givePassword(world, gil.id)
  const offer = (current_password: string) => gil.post('/user/two_factor/app', { current_password })
  expect((await offer('wrong')).status).toBe(400)
  const { secret } = (await offer(PASSWORD)).body
  expect((await gil.put('/user/two_factor/app', { code: '000000' })).status).toBe(400)
  expect((await gil.get('/user')).body.two_factor_enabled).toBe(false)
  const at = on()
  const confirmed = await gil.put('/user/two_factor/app', { code: codeAt(secret, at) })
  expect(confirmed.body.recovery_codes).toHaveLength(10)
  expect((await offer(PASSWORD)).status).toBe(409)
  const { rows } = { rows: await world.ctx.db.selectFrom('totp_secrets').selectAll().execute() }
  expect(JSON.stringify(rows)).not.toContain(secret)
  const renewal = { current_password: PASSWORD, code: codeAt(secret, on()) }
  const renewed = await gil.post('/user/two_factor/recovery_codes', renewal)
  expect(renewed.body.recovery_codes).toHaveLength(10)
  expect(renewed.body.recovery_codes).not.toEqual(confirmed.body.recovery_codes)
  const off = (current_password: string, code: string) =>
    gil.post('/user/two_factor/disable', { current_password, code })
  const now = on()
  expect((await off('wrong', codeAt(secret, now))).status).toBe(400)
  expect((await off(PASSWORD, '000000')).status).toBe(400)
  expect((await off(PASSWORD, codeAt(secret, now))).status).toBe(204)
  expect((await gil.get('/user')).body.two_factor_enabled).toBe(false)
  expect((await new Browser(world.url).signIn('gil', PASSWORD)).location).toBe('/')
})

test('a new password by the link of a mail leaves it as it is', async () => {
  const { secret } = await somebody('lin')
  const asking = new Browser(world.url)
  const at = '/users/password/new'
  await submitForm(asking, at, at, { email: 'lin@example.com' })
  await world.runTasks()
  const mail = await smtp.wait('lin@example.com', 'Set your password')
  const [, link = ''] = /(\/users\/password\/edit\?\S+)/.exec(mail) ?? []
  const password = 'Another-good-one-7'
  expect((await submitForm(asking, link, '/users/password', { password })).status).toBe(200)
  const now = on()
  const browser = new Browser(world.url)
  expect((await browser.signIn('lin', password)).location).toContain(SECOND)
  expect(await isIn(browser)).toBe(false)
  expect((await give(browser, codeAt(secret, now))).status).toBe(303)
})

test('an administrator takes it off, and finds who has one', async () => {
  const { caller } = await somebody('hal')
  const path = `/users/${caller.id}/disable_two_factor`
  const names = async (two_factor: string) => {
    const { body } = await world.root.get(`/users?two_factor=${two_factor}&per_page=100`)
    return body.map((one: { username: string }) => one.username)
  }
  expect(await names('enabled')).toContain('hal')
  expect(await names('disabled')).not.toContain('hal')
  const other = await world.user('ian')
  expect((await other.patch(path)).status).toBe(403)
  expect((await world.root.patch(path)).status).toBe(204)
  expect((await world.root.patch(path)).status).toBe(400)
  expect(await names('enabled')).not.toContain('hal')
  expect(await eventsOf(caller)).toContain('second_factor_turned_off')
  await world.runTasks()
  await smtp.wait('hal@example.com', 'was turned off')
})

test('an administrator takes it off on the page of the person; others see nothing of it', async () => {
  await somebody('kay')
  const admin = await world.user('boss', { admin: true })
  const [his, hers] = [await signedInBrowser(world, admin), new Browser(world.url)]
  const other = await world.user('lou')
  await givePassword(world, other.id)
  await hers.signIn('lou', PASSWORD)
  const { body } = await world.root.get('/users?username=kay')
  const at = `/users/${body[0].id}/disable_two_factor`
  const page = await hers.get('/users/kay')
  expect(page.text).not.toContain('Take the second factor off')
  const refused = await hers.submit(page, at, {})
  expect(refused.status).not.toBe(200)
  expect((await world.root.get(`/users/${body[0].id}`)).body.two_factor_enabled).toBe(true)
  expect((await submitForm(his, '/users/kay', at)).status).toBe(303)
  expect((await world.root.get(`/users/${body[0].id}`)).body.two_factor_enabled).toBe(false)
})

test('wrong passwords are audited; a planted session is not the one that is signed in', async () => {
  const max = await world.user('max')
  await givePassword(world, max.id)
  const browser = new Browser(world.url)
  const planted = 'a'.repeat(43)
  browser.cookies.set('_svc_session', planted)
  await browser.signIn('max', 'not it at all')
  await browser.signIn('max', PASSWORD)
  expect(await isIn(browser)).toBe(true)
  expect(browser.cookies.get('_svc_session')).not.toBe(planted)
  const thief = new Browser(world.url)
  thief.cookies.set('_svc_session', planted)
  expect(await isIn(thief)).toBe(false)
  expect(await eventsOf(max)).toContain('password_refused')
})

test('the page sets an app up, shows recovery codes once, and signs other browsers out', async () => {
  const jo = await world.user('jo')
  await givePassword(world, jo.id)
  const [browser, other] = [new Browser(world.url), new Browser(world.url)]
  await browser.signIn('jo', PASSWORD)
  await other.signIn('jo', PASSWORD)
  const at = '/-/user_settings/two_factor'
  expect((await submitForm(browser, at, `${at}/app`, { app_password: 'wrong' })).text).toContain(
    'is wrong',
  )
  expect((await submitForm(browser, at, `${at}/app`, { app_password: PASSWORD })).status).toBe(303)
  const shown = await browser.get(at)
  expect(shown.text).toContain('<svg class="qr-code"')
  const secret = (/<code class="breakable">([A-Z2-7 ]+)</.exec(shown.text)?.[1] ?? '').replaceAll(
    ' ',
    '',
  )
  const confirm = (code: string) => submitForm(browser, at, `${at}/app/confirm`, { code })
  expect((await confirm('123')).status).toBe(400)
  const done = await confirm(codeAt(secret, on()))
  const codes = done.text.match(/<li>[a-z2-9-]{23}<\/li>/g) ?? []
  expect([done.status, codes.length]).toEqual([200, 10])
  expect((await browser.get(at)).text).not.toContain(codes[0])
  expect((await browser.get(at)).text).not.toContain(secret)
  expect(await isIn(other)).toBe(false)
  const fresh = { codes_password: PASSWORD, codes_code: codeAt(secret, on()) }
  const made = await submitForm(browser, at, `${at}/recovery_codes`, fresh)
  expect(made.text.match(/<li>[a-z2-9-]{23}<\/li>/g)).toHaveLength(10)
  const off = { off_password: PASSWORD, off_code: codeAt(secret, on()) }
  expect((await submitForm(browser, at, `${at}/disable`, off)).status).toBe(303)
})
