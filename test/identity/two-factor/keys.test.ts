import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authenticator, type Deviation } from '../../support/authenticator.ts'
import { Browser, type Shown } from '../../support/browser.ts'
import { withApp } from '../../support/codes.ts'
import { givePassword, PASSWORD, submitForm } from '../../support/submit-form.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const ORIGIN = 'https://git.example.com'
const PAGE = '/-/user_settings/two_factor'
const SIGN_IN = '/users/sign_in'
const SECOND = '/users/sign_in/second_factor'
let world: World

beforeAll(async () => {
  // Below a path: browsers know none of it.
  world = await openWorld({ externalUrl: `${ORIGIN}/code` })
})
afterAll(() => world.close())

/** What the form that goes to an address gives the browser for a key. */
function asked(shown: Shown, action: string) {
  const form = shown.text
    .match(/<form[\s\S]*?>/g)
    ?.find((one) => one.includes(`action="/code${action}"`) && one.includes('data-key='))
  const [, text = '{}'] = /data-options="([^"]+)"/.exec(form ?? '') ?? []
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

async function somebody(name: string) {
  const caller = await world.user(name)
  await givePassword(world, caller.id)
  const browser = new Browser(world.url)
  await browser.signIn(name, PASSWORD)
  return { caller, browser, key: new Authenticator(ORIGIN) }
}

async function add(browser: Browser, key: Authenticator, change: Deviation = {}, name = 'phone') {
  const page = await browser.get(PAGE)
  const answer = key.create(asked(page, `${PAGE}/keys`), change)
  return await browser.submit(page, `${PAGE}/keys`, { name, key: answer })
}

async function withKey(name: string) {
  const given = await somebody(name)
  expect((await add(given.browser, given.key)).status).toBe(200)
  return given
}

const isIn = async (browser: Browser) => (await browser.get(PAGE)).status === 200
const eventsOf = async ({ id }: Caller) => {
  const { body } = await world.root.get(`/audit_events?entity_type=User&entity_id=${id}`)
  return body.map((one: { event_name: string }) => one.event_name) as string[]
}

test('a key is added with its name, brings recovery codes, and signs in after the password', async () => {
  const { caller, browser, key } = await somebody('ana')
  const done = await add(browser, key, {}, 'my <phone>')
  expect(done.text.match(/<li>[a-z2-9-]{23}<\/li>/g)).toHaveLength(10)
  expect(done.text).toContain('my &lt;phone>')
  expect((await caller.get('/user')).body.two_factor_enabled).toBe(true)
  const other = new Browser(world.url)
  const first = await other.signIn('ana', PASSWORD)
  expect(first.location).toBe(`/code${SECOND}?return_to=%2F`)
  const page = await other.get(SECOND)
  const options = asked(page, SECOND)
  expect(options).toMatchObject({ rpId: 'git.example.com', userVerification: 'preferred' })
  const answer = key.get(options, { withoutPin: true })
  expect((await other.submit(page, SECOND, { key: answer })).location).toBe('/code/')
  expect(await isIn(other)).toBe(true)
  const [shown] = (await caller.get('/user/two_factor/keys')).body
  expect(shown).toMatchObject({ name: 'my <phone>', passkey: true, last_used_at: world.ctx.now() })
  const path = `/user/two_factor/keys/${shown.id}`
  expect((await caller.put(path, { name: 'old phone' })).body.name).toBe('old phone')
  expect((await world.root.put(path, { name: 'x' })).status).toBe(404)
})

test('a passkey signs in alone, since it asks for a PIN or a finger', async () => {
  const { key, browser } = await withKey('bob')
  const other = new Browser(world.url)
  const page = await other.get(SIGN_IN)
  const options = asked(page, '/users/sign_in/key')
  expect(options).toMatchObject({ allowCredentials: [], userVerification: 'required' })
  const fields = { key: key.get(options) }
  const done = await other.submit(page, '/users/sign_in/key', fields)
  expect([done.status, done.location]).toEqual([303, '/code/'])
  expect(await isIn(other)).toBe(true)
  expect(await isIn(browser)).toBe(true)
})

describe('an answer that is not the one asked for signs nobody in', () => {
  const deviations: readonly (readonly [string, (key: Authenticator) => Deviation])[] = [
    ['from another origin', () => ({ origin: 'https://git.example.org' })],
    ['from a subdomain', () => ({ origin: 'https://evil.git.example.com' })],
    ['from the same name without TLS', () => ({ origin: 'http://git.example.com' })],
    ['for another party', () => ({ rpId: 'example.com' })],
    ['to a challenge of its own', () => ({ challenge: 'AAAAAAAAAAAAAAAAAAAAAAAA' })],
    ['signed by another key', () => ({ signedBy: new Authenticator(ORIGIN) })],
    ['with a counter that stands still', () => ({ count: 1 })],
    ['with a counter of nothing', () => ({ count: 0 })],
    ['that makes a key', () => ({ type: 'webauthn.create' })],
    ['without a PIN', () => ({ withoutPin: true })],
    ['that names another owner', () => ({ userHandle: Buffer.from('1').toString('base64url') })],
    ['that names no owner', () => ({ userHandle: '' })],
  ]
  test('as first step', async () => {
    const { key, caller } = await withKey('cleo')
    for (const [name, change] of deviations) {
      const other = new Browser(world.url)
      const page = await other.get(SIGN_IN)
      const answer = key.get(asked(page, '/users/sign_in/key'), change(key))
      const refused = await other.submit(page, '/users/sign_in/key', { key: answer })
      expect([name, refused.status, await isIn(other)]).toEqual([name, 400, false])
    }
    const refusals = (await eventsOf(caller)).filter((one) => one === 'security_key_refused')
    expect(refusals).toHaveLength(deviations.length)
  })

  test('as second step', async () => {
    const { key } = await withKey('dan')
    const second = deviations.filter(([name]) => !/PIN|no owner/.test(name))
    for (const [name, change] of second) {
      const other = new Browser(world.url)
      await other.signIn('dan', PASSWORD)
      const page = await other.get(SECOND)
      const answer = key.get(asked(page, SECOND), change(key))
      const refused = await other.submit(page, SECOND, { key: answer })
      expect([name, refused.status, await isIn(other)]).toEqual([name, 400, false])
    }
  })

  test('nor when a key is added', async () => {
    const { key, browser, caller } = await somebody('eve')
    for (const change of [
      { origin: 'https://git.example.org' },
      { rpId: 'example.com' },
      { challenge: 'AAAA' },
      { type: 'webauthn.get' },
    ]) {
      expect((await add(browser, key, change)).status).toBe(400)
    }
    for (const answer of ['', '{}', 'x', '[]', '{"id":1}', `"${'x'.repeat(60_000)}"`]) {
      const page = await browser.get(PAGE)
      expect((await browser.submit(page, `${PAGE}/keys`, { name: 'x', key: answer })).status).toBe(
        400,
      )
    }
    expect((await caller.get('/user')).body.two_factor_enabled).toBe(false)
  })
})

test('an answer counts once, in its browser, for its purpose, and for five minutes', async () => {
  const { key, browser } = await withKey('fay')
  const at = '/users/sign_in/key'
  const one = new Browser(world.url)
  const page = await one.get(SIGN_IN)
  // No counter: many passkeys have none.
  const answer = key.get(asked(page, at), { count: 2 })
  expect((await one.submit(page, at, { key: answer })).status).toBe(303)
  for (const cookies of [one.cookies, new Map([...one.cookies].filter(([n]) => /form/.test(n)))]) {
    const again = new Browser(world.url)
    for (const [name, value] of cookies) again.cookies.set(name, value)
    expect((await again.submit(page, at, { key: answer })).status).not.toBe(303)
  }
  const [two, three] = [new Browser(world.url), new Browser(world.url)]
  const ofTwo = await two.get(SIGN_IN)
  const stolen = key.get(asked(ofTwo, at))
  expect((await three.submit(await three.get(SIGN_IN), at, { key: stolen })).status).toBe(400)
  // What was signed for adding is none for signing in, nor the other way round.
  const added = asked(await browser.get(PAGE), `${PAGE}/keys`)
  expect((await two.submit(ofTwo, at, { key: key.get(added) })).status).toBe(400)
  const late = await two.get(SIGN_IN)
  const tooLate = key.get(asked(late, at))
  world.setNow('2026-05-04T10:05:00.000Z')
  expect((await two.submit(late, at, { key: tooLate })).status).toBe(400)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('of many that send the same answer at once one is let in', async () => {
  const { key } = await withKey('gil')
  const at = '/users/sign_in/key'
  const one = new Browser(world.url)
  const page = await one.get(SIGN_IN)
  const answer = key.get(asked(page, at))
  const sent = await Promise.all(
    [1, 2, 3, 4].map(() => {
      const same = new Browser(world.url)
      for (const [name, value] of one.cookies) same.cookies.set(name, value)
      return same.submit(page, at, { key: answer })
    }),
  )
  expect(sent.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400])
})

test('the key of somebody else is nobody’s second factor', async () => {
  const { key } = await withKey('hal')
  await withKey('ida')
  const other = new Browser(world.url)
  await other.signIn('ida', PASSWORD)
  const page = await other.get(SECOND)
  const answer = key.get(asked(page, SECOND))
  expect((await other.submit(page, SECOND, { key: answer })).status).toBe(400)
  const owner = await somebody('jan')
  expect((await add(owner.browser, key)).text).toContain('already been taken')
})

test('who is blocked is refused with a key too, and it is audited', async () => {
  const { key, caller } = await withKey('kim')
  await world.root.post(`/users/${caller.id}/block`)
  const other = new Browser(world.url)
  const page = await other.get(SIGN_IN)
  const answer = key.get(asked(page, '/users/sign_in/key'))
  expect((await other.submit(page, '/users/sign_in/key', { key: answer })).status).toBe(403)
  expect(await eventsOf(caller)).toContain('sign_in_refused')
})

test('a key is removed with the password, and the codes with the last second factor', async () => {
  const { browser, caller, key } = await withKey('lea')
  await withApp(world, caller, '2026-05-04T11:00:00.000Z')
  await browser.signIn('lea', PASSWORD)
  const signedIn = new Browser(world.url)
  const page = await signedIn.get(SIGN_IN)
  const answer = key.get(asked(page, '/users/sign_in/key'))
  await signedIn.submit(page, '/users/sign_in/key', { key: answer })
  const [{ id }] = (await caller.get('/user/two_factor/keys')).body
  const remove = (password: string) => {
    const fields = { [`key_${id}_password`]: password }
    return submitForm(signedIn, PAGE, `${PAGE}/keys/${id}/remove`, fields)
  }
  expect((await remove('wrong')).text).toContain('is wrong')
  expect((await remove(PASSWORD)).status).toBe(303)
  const { body } = await caller.get('/user/two_factor')
  expect(body).toEqual({ enabled: true, app: true, recovery_codes_left: 10 })
  const alone = await withKey('mia')
  const [{ id: last }] = (await alone.caller.get('/user/two_factor/keys')).body
  const path = `/user/two_factor/keys/${last}`
  expect((await alone.caller.call('DELETE', path, { current_password: 'x' })).status).toBe(400)
  expect((await alone.caller.call('DELETE', path, { current_password: PASSWORD })).status).toBe(204)
  const left = { enabled: false, app: false, recovery_codes_left: 0 }
  expect((await alone.caller.get('/user/two_factor')).body).toEqual(left)
})
