import { beforeEach, expect, test } from 'vitest'
import { Authenticator } from '../../support/authenticator.ts'
import type { Browser } from '../../support/browser.ts'
import { codeAt, withApp } from '../../support/codes.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const TOKENS = '/-/user_settings/personal_access_tokens'
const KEYS = '/-/user_settings/two_factor/keys'
const START = '2026-05-04T10:00:00.000Z'
const world = useWorld({ externalUrl: 'https://git.example.com' })
const ana = useCaller(world, 'ana')
let browser: Browser

beforeEach(async () => {
  world.setNow(START)
  browser = await signedInBrowser(world, ana)
})

const later = (minutes: number) =>
  world.setNow(new Date(Date.parse(START) + minutes * 60_000).toISOString())
const make = (name: string) =>
  submitForm(browser, TOKENS, TOKENS, { name, 'scopes[]': 'read_user' })
const namesOf = async () => (await browser.get(TOKENS)).text

test('a form goes through for a quarter of an hour after the sign-in, and is asked about then', async () => {
  later(14)
  expect((await make('early')).status).toBe(200)
  later(15)
  const asked = await make('late "one"')
  expect([asked.status, asked.headers.get('cache-control')]).toEqual([403, 'no-store'])
  expect(asked.text).toContain('Confirm that it is you')
  expect(await namesOf()).not.toContain('late')
  const wrong = await browser.submit(asked, TOKENS, { proof_password: 'wrong' })
  expect([wrong.status, wrong.text.includes('is wrong')]).toEqual([400, true])
  expect(wrong.text).not.toContain('value="wrong"')
  expect(await namesOf()).not.toContain('late')
  // What was typed before has come along.
  const done = await browser.submit(wrong, TOKENS, { proof_password: PASSWORD })
  expect([done.status, done.text.includes('it is shown once')]).toEqual([200, true])
  expect(done.text).toContain('late &quot;one&quot;')
  later(29)
  expect((await make('again')).status).toBe(200)
  later(31)
  expect((await make('too late')).status).toBe(403)
})

test('another browser of the same person is asked all the same', async () => {
  later(10)
  const other = browser
  browser = await signedInBrowser(world, await world.user('bob'))
  later(20)
  const asked = await submitForm(other, TOKENS, TOKENS, { name: 'x', 'scopes[]': 'api' })
  expect([302, 403]).toContain(asked.status)
  expect((await make('bob')).status).toBe(200)
})

test('an address, a key, and a second factor are asked about', async () => {
  later(60)
  const at = '/-/user_settings'
  const forms: [string, string, Record<string, string>][] = [
    ['emails', 'emails', { email: 'thief@example.org' }],
    ['ssh_keys', 'ssh_keys', { title: 'x', key: 'ssh-ed25519 AAAA' }],
    ['gpg_keys', 'gpg_keys', { key: 'x' }],
    ['two_factor', 'two_factor/keys', { name: 'x', key: 'x' }],
  ]
  for (const [page, action, fields] of forms) {
    const asked = await submitForm(browser, `${at}/${page}`, `${at}/${action}`, fields)
    expect([action, asked.status]).toEqual([action, 403])
  }
  expect((await ana.get('/user/emails')).body).toEqual([])
})

test('another way to sign in is asked about, and a password that was typed does not come back', async () => {
  later(60)
  const page = await browser.get(TOKENS)
  const at = '/-/user_settings/identities/corp'
  const link = await browser.submit(page, `${at}/link`, {})
  expect([link.status, link.text.includes('Confirm that it is you')]).toEqual([403, true])
  const typed = { 'corp[login]': 'thief', 'corp[password]': 'typed there' }
  const prove = await browser.submit(page, `${at}/prove`, typed)
  expect([prove.status, prove.text.includes('value="thief"')]).toEqual([403, true])
  expect(prove.text).not.toContain('typed there')
})

test('a form that is not ours is refused before anything is asked', async () => {
  later(60)
  const sent = await browser.post(TOKENS, { name: 'x', proof_password: PASSWORD })
  expect(sent.status).toBe(422)
})

test('passwords cannot be tried out there', async () => {
  later(120)
  let asked = await make('guessed')
  for (let tries = 0; tries < 10; tries++)
    asked = await browser.submit(asked, TOKENS, { proof_password: `guess ${tries}` })
  const refused = await browser.submit(asked, TOKENS, { proof_password: PASSWORD })
  expect(refused.status).toBe(429)
})

test('a code or a key shows it too, each once', async () => {
  const eve = await world.user('eve')
  browser = await signedInBrowser(world, eve)
  const key = new Authenticator('https://git.example.com')
  const page = await browser.get('/-/user_settings/two_factor')
  const optionsIn = (text: string) => {
    const [, options = '{}'] = /data-options="([^"]+)"/.exec(text) ?? []
    return JSON.parse(options.replaceAll('&quot;', '"'))
  }
  await browser.submit(page, KEYS, { name: 'phone', key: key.create(optionsIn(page.text)) })
  later(200)
  const asked = await make('by key')
  const proof_key = key.get(optionsIn(asked.text))
  const foreign = new Authenticator('https://git.example.com').get(optionsIn(asked.text))
  expect((await browser.submit(asked, TOKENS, { proof_key: foreign })).status).toBe(400)
  expect((await browser.submit(asked, TOKENS, { proof_key })).status).toBe(400)
  const again = await make('by key')
  const good = key.get(optionsIn(again.text))
  expect((await browser.submit(again, TOKENS, { proof_key: good })).status).toBe(200)
  later(400)
  const { secret } = await withApp(world, eve, world.ctx.now())
  browser = await signedInAgain(eve, secret)
  later(500)
  const byCode = await make('by code')
  const code = codeAt(secret, world.ctx.now())
  expect((await browser.submit(byCode, TOKENS, { proof_code: '000000' })).status).toBe(400)
  expect((await browser.submit(byCode, TOKENS, { proof_code: code })).status).toBe(200)
})

async function signedInAgain({ username }: Caller, secret: string): Promise<Browser> {
  await browser.signIn(username, PASSWORD)
  later(402)
  const at = '/users/sign_in/second_factor'
  const done = await submitForm(browser, at, at, { code: codeAt(secret, world.ctx.now()) })
  expect(done.status).toBe(303)
  return browser
}
