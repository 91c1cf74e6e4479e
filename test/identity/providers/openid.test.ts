import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { createGroup } from '../../support/create.ts'
import { freePort } from '../../support/free-port.ts'
import { CLIENT, openProvider, type TestProvider } from '../../support/oidc-provider.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { openWorld, type World } from '../../support/world.ts'

let provider: TestProvider
let world: World

const common = { label: 'Corp', trust_email: false, scopes: ['openid', 'profile', 'email'] }
const claims = { username_claim: 'preferred_username', groups_claim: 'groups' }
const method = { token_auth_method: 'client_secret_basic' as const }

beforeAll(async () => {
  const port = await freePort()
  const at = (name: string) => `http://127.0.0.1:${port}/users/auth/${name}/callback`
  provider = await openProvider(['corp', 'strict', 'asked'].map(at))
  const openid = { ...common, ...claims, ...method, ...CLIENT, issuer: provider.issuer }
  const none = { allowed_groups: [], groups: {} }
  world = await openWorld({
    port,
    outboundAllow: ['127.0.0.1'],
    signInProviders: {
      ldap: [],
      openid: [
        {
          ...openid,
          ...none,
          name: 'corp',
          sign_up: 'allowed',
          administrators: ['admins'],
          groups: {
            devs: [{ group: 'team', role: 'developer' }],
            leads: [
              { group: 'team', role: 'maintainer' },
              { group: 'nowhere', role: 'owner' },
            ],
          },
        },
        { ...openid, ...none, name: 'strict', sign_up: 'off', allowed_groups: ['devs'] },
        { ...openid, ...none, name: 'asked', sign_up: 'approval' },
      ],
    },
  })
  await createGroup(world.root, 'team')
})
afterAll(async () => {
  await world.close()
  await provider.close()
})

let number = 0
let id = ''
beforeEach(() => {
  id = `sub-${++number}`
})

function account(more: Record<string, unknown> = {}) {
  provider.accounts.set(id, {
    preferred_username: `person${number}`,
    name: 'A Person',
    email: `person${number}@example.com`,
    email_verified: true,
    ...more,
  })
  provider.signInAs(id)
}

/** Goes to the provider and comes back with what it says; nothing is followed after that. */
async function comeBack(browser: Browser, name = 'corp', query = '') {
  const begun = await browser.get(`/users/auth/${name}${query}`)
  expect(begun.status).toBe(302)
  return await provider.walk(begun.location ?? '')
}

async function signIn(browser: Browser, name = 'corp') {
  const url = await comeBack(browser, name)
  return await browser.get(url)
}

const isSignedIn = async (browser: Browser) =>
  (await browser.get('/users/sign_in')).text.includes('You are signed in')

const found = async (username: string) =>
  (await world.root.get(`/users?username=${username}`)).body[0]

async function lastRefusal() {
  const { body } = await world.root.get('/audit_events?per_page=1')
  expect(body[0].event_name).toBe('sign_in_refused')
  return body[0].details.reason
}

test('the page offers each provider, and the first sign-in makes the account', async () => {
  account()
  const browser = new Browser(world.url)
  const page = await browser.get('/users/sign_in?return_to=/explore')
  expect(page.text).toContain('Sign in with Corp')
  expect(page.text).toContain('href="/users/auth/corp?return_to=%2Fexplore"')
  const begun = await browser.get('/users/auth/corp?return_to=%2Fexplore')
  const asked = new URL(begun.location ?? '')
  expect(asked.searchParams.get('code_challenge_method')).toBe('S256')
  expect(asked.searchParams.get('nonce')).toMatch(/^[\w-]{40,}$/)
  const done = await browser.get(await provider.walk(asked.href))
  expect([done.status, done.location]).toEqual([302, '/explore'])
  expect(await isSignedIn(browser)).toBe(true)
  const user = await found(`person${number}`)
  expect(user).toMatchObject({
    name: 'A Person',
    email: `person${number}@example.com`,
    confirmed_at: '2026-05-04T10:00:00.000Z',
    identities: [{ provider: 'corp', extern_uid: id }],
  })
  const { body: byIdentity } = await world.root.get(`/users?provider=corp&extern_uid=${id}`)
  expect(byIdentity.map((one: { id: number }) => one.id)).toEqual([user.id])
})

test('who comes again is the same, whatever their name and address are by now', async () => {
  account()
  await signIn(new Browser(world.url))
  const before = await found(`person${number}`)
  account({ preferred_username: 'root', email: 'admin@127.0.0.1' })
  const browser = new Browser(world.url)
  expect((await signIn(browser)).status).toBe(302)
  expect((await browser.get('/-/user_settings/profile')).text).toContain(`person${number}`)
  expect((await found(`person${number}`)).id).toBe(before.id)
})

test('a taken name gets a number, and a taken address is nobody else’s to take', async () => {
  await world.user('taken')
  account({ preferred_username: 'taken', email: 'other@example.com' })
  expect((await signIn(new Browser(world.url))).status).toBe(302)
  expect((await found('taken1')).email).toBe('other@example.com')
  id = 'sub-thief'
  provider.accounts.set(id, { preferred_username: 'x', email: 'Taken@example.com' })
  provider.signInAs(id)
  const browser = new Browser(world.url)
  const refused = await signIn(browser)
  expect([refused.status, await isSignedIn(browser)]).toEqual([409, false])
  expect(refused.text).toContain('An account has this e-mail address.')
  expect(await lastRefusal()).toContain('An account has this e-mail address.')
})

test('two windows of one newcomer make one account', async () => {
  account()
  const browsers = [new Browser(world.url), new Browser(world.url)]
  const urls = await Promise.all(browsers.map((one) => comeBack(one)))
  const done = await Promise.all(browsers.map((one, at) => one.get(urls[at] ?? '')))
  expect(done.map(({ status }) => status)).toEqual([302, 302])
  const { body } = await world.root.get(`/users?search=person${number}%40example.com`)
  expect(body).toHaveLength(1)
})

test('an address that the provider has not proven is asked for', async () => {
  account({ email_verified: false })
  await signIn(new Browser(world.url))
  expect((await found(`person${number}`)).confirmed_at).toBeNull()
})

test('groups are roles and administrators, and what is lost there is lost here', async () => {
  account({ groups: ['devs', 'admins'] })
  await signIn(new Browser(world.url))
  const user = await found(`person${number}`)
  const role = async () => {
    const member = await world.root.get(`/groups/team/members/${user.id}`)
    return member.status === 200 ? member.body.access_level : undefined
  }
  expect([user.is_admin, await role()]).toEqual([true, 30])
  account({ groups: ['leads', 'devs'] })
  await signIn(new Browser(world.url))
  expect([(await found(user.username)).is_admin, await role()]).toEqual([false, 40])
  account({ groups: 'devs' })
  await signIn(new Browser(world.url))
  expect(await role()).toBe(30)
  account()
  await signIn(new Browser(world.url))
  expect(await role()).toBeUndefined()
  await world.root.post('/groups/team/members', { user_id: user.id, access_level: 20 })
  await signIn(new Browser(world.url))
  expect(await role()).toBe(20)
})

test('who is blocked, deactivated, waiting or in no group', async () => {
  account()
  await signIn(new Browser(world.url))
  const user = await found(`person${number}`)
  await world.root.post(`/users/${user.id}/block`)
  const browser = new Browser(world.url)
  expect([(await signIn(browser)).status, await isSignedIn(browser)]).toEqual([403, false])
  expect(await lastRefusal()).toContain('blocked')
  const trail = await world.root.get(`/audit_events?entity_type=User&entity_id=${user.id}`)
  const refusals = trail.body.filter(
    (one: { event_name: string }) => one.event_name === 'sign_in_refused',
  )
  expect(refusals).toHaveLength(1)
  await world.root.post(`/users/${user.id}/unblock`)
  await world.root.post(`/users/${user.id}/deactivate`)
  expect((await signIn(browser)).status).toBe(302)
  expect((await found(user.username)).state).toBe('active')

  id = `sub-waiting`
  account({ preferred_username: 'waiting', email: 'waiting@example.com' })
  const waiting = await signIn(new Browser(world.url), 'asked')
  expect([waiting.status, waiting.text]).toEqual([403, expect.stringContaining('looks at your')])
  expect((await found('waiting')).state).toBe('blocked_pending_approval')
  await world.root.post(`/users/${(await found('waiting')).id}/approve`)
  expect((await signIn(new Browser(world.url), 'asked')).status).toBe(302)

  const ungrouped = await signIn(new Browser(world.url), 'strict')
  expect(ungrouped.text).toContain('none of the groups')
  account({ groups: ['devs'] })
  const unknown = await signIn(new Browser(world.url), 'strict')
  expect(unknown.text).toContain('Nobody here has this identity')
})

test('a sign-in that was begun elsewhere, changed, too old, for another provider, or is repeated', async () => {
  account()
  const url = await comeBack(new Browser(world.url))
  const victim = new Browser(world.url)
  await victim.get('/users/sign_in')
  expect((await victim.get(url)).status).toBe(403)
  expect(await lastRefusal()).toContain('not begun in this browser')

  const mine = await comeBack(victim)
  const changed = new URL(mine)
  changed.searchParams.set('state', 'A'.repeat(200))
  expect((await victim.get(changed.href)).status).toBe(403)
  expect((await victim.get(mine.replace('/corp/', '/asked/'))).status).toBe(403)
  const foreign = new URL(mine)
  foreign.searchParams.set('iss', 'https://evil.example')
  expect((await victim.get(foreign.href)).status).toBe(403)
  world.setNow('2026-05-04T10:11:00.000Z')
  expect((await victim.get(mine)).status).toBe(403)
  world.setNow('2026-05-04T10:00:00.000Z')
  expect(await isSignedIn(victim)).toBe(false)

  const good = await comeBack(victim)
  expect((await victim.get(good)).status).toBe(302)
  expect((await victim.get(good)).status).toBe(403)
  expect(await lastRefusal()).toBe('invalid_grant')
})

test('who is refused there is refused here', async () => {
  provider.signInAs('')
  const refused = await signIn(new Browser(world.url))
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('did not let you')])
  expect(await lastRefusal()).toBe('access_denied')
})

test('a signed-in person links and unlinks an identity, nobody else for them', async () => {
  const ana = await world.user('ana')
  const browser = await signedInBrowser(world, ana)
  account()
  const page = '/-/user_settings/identities'
  const begin = async (by: Browser) => {
    const { text } = await submitForm(by, page, `${page}/corp/link`)
    const href = /href="(http[^"]+)"/.exec(text)?.[1] ?? ''
    return await provider.walk(href.replaceAll('&amp;', '&'))
  }
  const url = await begin(browser)
  const eve = await signedInBrowser(world, await world.user('eve'))
  expect((await eve.get(url)).status).toBe(403)
  const done = await browser.get(url)
  expect([done.status, done.location]).toEqual([302, page])
  expect((await found('ana')).identities).toEqual([{ provider: 'corp', extern_uid: id }])
  const byCorp = new Browser(world.url)
  await signIn(byCorp)
  expect((await byCorp.get('/-/user_settings/profile')).text).toContain('ana')
  // The identity is taken now, and a second one of the provider is none too many.
  expect((await eve.get(await begin(eve))).status).toBe(409)
  const own = async () =>
    (await ana.get('/user/identities')).body.find(
      (one: { provider: string }) => one.provider === 'corp',
    )
  expect(await own()).toMatchObject({ kind: 'openid', may: 'unlink' })
  const unlinked = await submitForm(browser, page, `${page}/corp/unlink`)
  expect(unlinked.status).toBe(303)
  expect((await found('ana')).identities).toEqual([])
  expect(await own()).toMatchObject({ linked_at: null, may: 'link' })
  expect((await ana.delete('/user/identities/corp')).status).toBe(404)
  await browser.get(await begin(browser))
  expect((await ana.delete('/user/identities/corp')).status).toBe(204)
  const { body } = await world.root.get(`/audit_events?entity_type=User&entity_id=${ana.id}`)
  const names = body.map((one: { event_name: string }) => one.event_name)
  expect(names).toEqual(expect.arrayContaining(['identity_linked', 'identity_unlinked']))
})

test('the last way in is not unlinked, and only a signed-in person links', async () => {
  account()
  const browser = new Browser(world.url)
  await signIn(browser)
  const page = '/-/user_settings/identities'
  await submitForm(browser, page, `${page}/corp/unlink`)
  expect((await browser.get(page)).text).toContain('set a password first')
  expect((await found(`person${number}`)).identities).toHaveLength(1)
  const stranger = new Browser(world.url)
  expect((await stranger.get(page)).location).toContain('/users/sign_in')
  expect((await stranger.get('/users/auth/unknown')).status).toBeGreaterThanOrEqual(302)
})

test('with passwords switched off, administrators alone use them', async () => {
  const ben = await world.user('ben')
  await world.root.put(`/users/${ben.id}`, { password: PASSWORD })
  await world.root.put(`/users/${world.root.id}`, { password: PASSWORD })
  await world.root.put('/application/settings', { password_authentication_enabled_for_web: false })
  expect((await new Browser(world.url).signIn('ben', PASSWORD)).status).toBe(403)
  expect((await new Browser(world.url).signIn('root', PASSWORD)).status).toBe(303)
  const page = await new Browser(world.url).get('/users/sign_in')
  expect(page.text).toContain('Only administrators sign in with a password.')
  await world.root.put('/application/settings', { password_authentication_enabled_for_web: true })
})
