import { beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { ed25519 } from '../../support/keys.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const BASE = '/-/user_settings'
const hostile = '"><img src=x onerror=alert(1)>'
const world = useWorld()
const ana = useCaller(world, 'ana')
let browser: Browser

beforeAll(async () => {
  browser = await signedInBrowser(world, ana)
})

const pages = [
  'profile',
  'emails',
  'password',
  'ssh_keys',
  'gpg_keys',
  'personal_access_tokens',
  'active_sessions',
  'notifications',
]

test.each(pages)('%s is for who is signed in', async (name) => {
  const page = await browser.get(`${BASE}/${name}`)
  expect([page.status, page.text.includes('aria-current="page"')]).toEqual([200, true])
  const away = await new Browser(world.url).get(`${BASE}/${name}`)
  expect([away.status, away.location?.startsWith('/users/sign_in?')]).toEqual([302, true])
})

test.each([
  'profile',
  'profile/avatar',
  'emails',
  'emails/primary',
  'emails/1/remove',
  'password',
  'ssh_keys',
  'ssh_keys/1/remove',
  'gpg_keys',
  'gpg_keys/1/remove',
  'active_sessions/1/revoke',
  'active_sessions/revoke_others',
  'notifications',
])('the form of %s is refused without its token, and with a foreign one', async (name) => {
  const foreign = await new Browser(world.url).get('/users/sign_in')
  const [, token = ''] = /name="authenticity_token" value="([^"]+)"/.exec(foreign.text) ?? []
  for (const fields of [{}, { authenticity_token: token }]) {
    expect((await browser.post(`${BASE}/${name}`, fields)).status).toBe(422)
  }
})

describe('the profile', () => {
  const save = (fields: Record<string, string>) =>
    submitForm(browser, `${BASE}/profile`, `${BASE}/profile`, { name: 'Ana', ...fields })

  test('is what people say of themselves, and what others read', async () => {
    const done = await save({ bio: hostile, location: 'Porto', website_url: 'javascript:alert(1)' })
    expect(done.status).toBe(303)
    const { body } = await ana.get('/user')
    expect(body).toMatchObject({ name: 'Ana', bio: hostile, location: 'Porto' })
    const shown = await new Browser(world.url).get('/ana')
    expect(shown.text).not.toContain('<img src=x')
    expect(shown.text).not.toContain('href="javascript')
  })

  test('shows an e-mail address only where it is confirmed, and keeps what was typed', async () => {
    const refused = await save({ public_email: 'other@example.org', bio: 'typed' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('must be an address that you have confirmed')
    expect(refused.text).toContain('typed</textarea>')
  })

  test('makes nobody an administrator', async () => {
    expect((await save({ admin: 'true', projects_limit: '1000' })).status).toBe(303)
    expect((await world.root.get(`/users/${ana.id}`)).body.is_admin).toBe(false)
  })
})

test('an address is added and removed, and waits for its confirmation', async () => {
  const at = `${BASE}/emails`
  expect((await submitForm(browser, at, at, { email: 'more@example.org' })).status).toBe(303)
  const [made] = (await ana.get('/user/emails')).body
  expect((await browser.get(at)).text).toContain('waits for confirmation')
  const taken = await submitForm(browser, at, at, { email: 'more@example.org' })
  expect([taken.status, taken.text.includes('already been taken')]).toEqual([400, true])
  expect((await submitForm(browser, at, `${at}/${made.id}/remove`)).status).toBe(303)
  expect((await ana.get('/user/emails')).body).toEqual([])
})

test('the first address changes by the password alone', async () => {
  const at = `${BASE}/emails`
  const change = (current_password: string) =>
    submitForm(browser, at, `${at}/primary`, { first_email: 'new@example.org', current_password })
  const refused = await change('wrong')
  expect([refused.status, refused.text.includes('is wrong')]).toEqual([400, true])
  expect((await change(PASSWORD)).status).toBe(303)
})

test('keys are added with their fingerprints, and removed', async () => {
  const at = `${BASE}/ssh_keys`
  const refused = await submitForm(browser, at, at, { title: hostile, key: 'ssh-ed25519 x' })
  expect(refused.status).toBe(400)
  expect(refused.text).not.toContain('<img src=x')
  const key = ed25519()
  const added = await submitForm(browser, at, at, { title: hostile, key })
  expect(added.status).toBe(303)
  const page = await browser.get(at)
  expect(page.text).toMatch(/SHA256:[\w+/]{43}/)
  expect(page.text).not.toContain('<img src=x')
  const [{ id }] = (await ana.get('/user/keys')).body
  expect((await submitForm(browser, at, `${at}/${id}/remove`)).status).toBe(303)
  expect((await ana.get('/user/keys')).body).toEqual([])
})

test('mails follow the level and the events that were chosen', async () => {
  const at = `${BASE}/notifications`
  const chosen = { level: 'custom', new_issue: 'true' }
  expect((await submitForm(browser, at, at, chosen)).status).toBe(303)
  const { body } = await ana.get('/notification_settings')
  expect(body).toMatchObject({ level: 'custom', events: { new_issue: true, new_note: false } })
})

describe('the levels of single projects and groups', () => {
  const at = `${BASE}/notifications`
  const list = async () => (await ana.get('/notification_settings/sources')).body

  test('are listed, changed and given up', async () => {
    const { id } = await createProject(ana, 'Loud')
    await createGroup(ana, 'quiet')
    expect(await list()).toEqual([])
    const set = (fields: Record<string, string>) => submitForm(browser, at, `${at}/source`, fields)
    expect((await set({ path: 'ana/loud', level: 'watch' })).location).toBe(at)
    await set({ path: 'quiet', level: 'disabled' })
    expect(await list()).toMatchObject([
      { source_type: 'project', source_id: id, source_path: 'ana/loud', level: 'watch' },
      { source_type: 'group', source_path: 'quiet', level: 'disabled' },
    ])
    const page = await browser.get(at)
    expect(page.text).toContain('aria-label="Mails about ana/loud"')
    await set({ type: 'group', path: 'quiet', level: 'mention' })
    expect((await ana.get('/groups/quiet/notification_settings')).body.level).toBe('mention')
    await set({ type: 'group', path: 'quiet', level: 'global' })
    expect(await list()).toHaveLength(1)
    const absent = await set({ path: 'nobody/nothing', level: 'watch' })
    expect(absent.status).toBe(303)
    expect((await browser.get(at)).text).toContain('role="alert"')
  })

  test('are one’s own, and of what one still sees', async () => {
    const ben = await world.user('benno')
    const { id } = await createProject(ana, 'Shut')
    await ana.post(`/projects/${id}/members`, { user_id: ben.id, access_level: 20 })
    await ben.put(`/projects/${id}/notification_settings`, { level: 'watch' })
    expect((await ben.get('/notification_settings/sources')).body).toHaveLength(1)
    await ana.delete(`/projects/${id}/members/${ben.id}`)
    expect((await ben.get('/notification_settings/sources')).body).toEqual([])
    expect((await world.nobody.get('/notification_settings/sources')).status).toBe(401)
  })
})

describe('sessions', () => {
  const at = `${BASE}/active_sessions`
  const works = async (one: Browser) => (await one.get(at)).status === 200

  test('are listed, and ended one by one or all but this', async () => {
    const [second, third, fourth] = await Promise.all([1, 2, 3].map(() => signedInAgain()))
    if (!second || !third || !fourth) throw new Error('no browsers')
    const page = await browser.get(at)
    const [, action = ''] = /action="([^"]+\/revoke)"/.exec(page.text) ?? []
    expect((await submitForm(browser, at, action)).status).toBe(303)
    const alive = await Promise.all([second, third, fourth].map(works))
    expect(alive.filter((one) => !one)).toHaveLength(1)
    expect((await submitForm(browser, at, `${at}/revoke_others`)).status).toBe(303)
    expect(await Promise.all([second, third, fourth].map(works))).toEqual([false, false, false])
    expect(await works(browser)).toBe(true)
  })

  test('are listed and ended by a token too, of which none is theirs', async () => {
    const gil = await world.user('gil')
    const his = await signedInBrowser(world, gil)
    const { body } = await gil.get('/user/sessions')
    expect(body).toMatchObject([{ ip: '127.0.0.1', current: false }])
    expect((await ana.delete(`/user/sessions/${body[0].id}`)).status).toBe(404)
    expect((await gil.delete(`/user/sessions/${body[0].id}`)).status).toBe(204)
    expect(await works(his)).toBe(false)
    const again = await signedInBrowser(world, gil)
    expect((await gil.delete('/user/sessions')).status).toBe(204)
    expect(await works(again)).toBe(false)
  })

  test('of others are nobody’s to end', async () => {
    const eve = await world.user('eve')
    const hers = await signedInBrowser(world, eve)
    const row = await world.ctx.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', eve.id)
      .executeTakeFirstOrThrow()
    const form = await browser.get(at)
    expect((await browser.submit(form, `${at}/${row.id}/revoke`, {})).status).toBe(303)
    expect(await works(hers)).toBe(true)
  })

  async function signedInAgain(): Promise<Browser> {
    const one = new Browser(world.url)
    await one.signIn('ana', PASSWORD)
    return one
  }
})

test('a new password needs the old one, and ends all other sessions', async () => {
  const at = `${BASE}/password`
  const other = new Browser(world.url)
  await other.signIn('ana', PASSWORD)
  const change = (current_password: string, password: string, password_again = password) =>
    submitForm(browser, at, at, { current_password, password, password_again })
  expect((await change('wrong', 'Another-good-one-7')).text).toContain('is wrong')
  expect((await change(PASSWORD, 'short')).text).toContain('is too short')
  const different = await change(PASSWORD, 'Another-good-one-7', 'Another-good-one-8')
  expect(different.status).toBe(400)
  expect(different.text).not.toContain('Another-good-one')
  expect((await change(PASSWORD, 'Another-good-one-7')).status).toBe(303)
  expect((await browser.get(at)).status).toBe(200)
  expect((await other.get(at)).status).toBe(302)
})
