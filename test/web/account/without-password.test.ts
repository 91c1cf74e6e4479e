import { beforeAll, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { codeAt } from '../../support/codes.ts'
import { signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const BASE = '/-/user_settings'
const PAGE = `${BASE}/two_factor`
const TOKENS = `${BASE}/personal_access_tokens`
const START = '2026-05-04T10:00:00.000Z'
const world = useWorld()
const ana = useCaller(world, 'ana')
let browser: Browser

beforeAll(async () => {
  browser = await signedInBrowser(world, ana)
  // As somebody whom a provider has let in.
  const { db } = world.ctx
  await db.updateTable('users').set({ password_hash: null }).where('id', '=', ana.id).execute()
})

const later = (minutes: number) =>
  world.setNow(new Date(Date.parse(START) + minutes * 60_000).toISOString())

test('who signs in elsewhere sets an app up within a quarter of an hour, and not by a token', async () => {
  const page = await browser.get(PAGE)
  expect(page.text).not.toContain('type="password"')
  expect((await ana.post('/user/two_factor/app', {})).status).toBe(400)
  expect((await ana.post('/user/two_factor/app', { current_password: '' })).status).toBe(400)
  later(20)
  const late = await submitForm(browser, PAGE, `${PAGE}/app`)
  expect([late.status, late.text.includes('sign in again')]).toEqual([400, true])
  later(10)
  expect((await submitForm(browser, PAGE, `${PAGE}/app`)).status).toBe(303)
  const { text } = await browser.get(PAGE)
  const secret = (/breakable">([A-Z2-7 ]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '')
  const code = codeAt(secret, world.ctx.now())
  expect((await submitForm(browser, PAGE, `${PAGE}/app/confirm`, { code })).status).toBe(200)

  later(60)
  const fields = { name: 'x', 'scopes[]': 'read_user' }
  const asked = await submitForm(browser, TOKENS, TOKENS, fields)
  expect(asked.status).toBe(403)
  expect(asked.text).not.toContain('type="password"')
  expect(asked.text).toContain('Sign in again')
  expect((await browser.submit(asked, TOKENS, { proof_password: '' })).status).toBe(403)
  const proof_code = codeAt(secret, world.ctx.now())
  expect((await browser.submit(asked, TOKENS, { proof_code })).status).toBe(200)
  expect((await submitForm(browser, PAGE, `${PAGE}/disable`, { off_code: 'x' })).status).toBe(400)
})

test('nobody takes an empty password for theirs', async () => {
  later(200)
  for (const proof_password of ['', ' ', 'null']) {
    const sent = await submitForm(browser, TOKENS, TOKENS, { name: 'y', proof_password })
    expect([400, 403]).toContain(sent.status)
  }
  const email = { first_email: 'thief@example.org' }
  expect(
    (await submitForm(browser, `${BASE}/emails`, `${BASE}/emails/primary`, email)).status,
  ).toBe(400)
})
