import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { createProject } from '../../support/create.ts'
import { newFolder } from '../../support/database.ts'
import { runGitClient } from '../../support/git-client.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { Caller, openWorld, useCaller, useWorld } from '../../support/world.ts'

const NOW = '2026-05-04T10:00:00.000Z'
const world = useWorld({ trustedProxies: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')
let before: Record<string, unknown>
const changed = new Set<string>()

beforeAll(async () => {
  await givePassword(world, ana.id)
  await createProject(ana, 'demo', { initialize_with_readme: true })
  before = (await world.root.get('/application/settings')).body
})
afterEach(async () => {
  world.setNow(NOW)
  // What shuts people out goes first.
  await world.root.put('/application/settings', { enforce_terms: false })
  await set(Object.fromEntries([...changed].map((name) => [name, before[name]])))
  changed.clear()
})

async function set(settings: Record<string, unknown>): Promise<void> {
  for (const name of Object.keys(settings)) changed.add(name)
  const { status, body } = await world.root.put('/application/settings', settings)
  expect([status, body.message]).toEqual([200, undefined])
}

describe('a session', () => {
  const isSignedIn = async (browser: Browser) =>
    (await browser.get('/-/user_settings/password')).status === 200

  test('is over when administrators say', async () => {
    await set({ session_expire_delay: 30 })
    const browser = new Browser(world.url)
    const done = await browser.signIn('ana', PASSWORD)
    expect(done.headers.getSetCookie()[0]).not.toContain('Max-Age')
    world.setNow('2026-05-04T10:29:00.000Z')
    expect(await isSignedIn(browser)).toBe(true)
    world.setNow('2026-05-04T10:30:00.000Z')
    expect(await isSignedIn(browser)).toBe(false)
    const wrong = await world.root.put('/application/settings', { session_expire_delay: 0 })
    expect(wrong.status).toBe(400)
  })

  test('is remembered for two weeks only where it is asked for and offered', async () => {
    await set({ session_expire_delay: 30 })
    const sign = async () => {
      const browser = new Browser(world.url)
      const form = await browser.get('/users/sign_in')
      const done = await browser.submit(form, '/users/sign_in', {
        'user[login]': 'ana',
        'user[password]': PASSWORD,
        'user[remember_me]': '1',
      })
      return { browser, form, cookie: done.headers.getSetCookie()[0] }
    }
    const asked = await sign()
    expect(asked.form.text).toContain('Remember me')
    expect(asked.cookie).toContain(`Max-Age=${14 * 24 * 3600}`)
    world.setNow('2026-05-17T10:00:00.000Z')
    expect(await isSignedIn(asked.browser)).toBe(true)
    world.setNow('2026-05-18T10:00:00.000Z')
    expect(await isSignedIn(asked.browser)).toBe(false)
    world.setNow(NOW)
    await set({ remember_me_enabled: false })
    const refused = await sign()
    expect(refused.form.text).not.toContain('Remember me')
    expect(refused.cookie).not.toContain('Max-Age')
    world.setNow('2026-05-04T10:30:00.000Z')
    expect(await isSignedIn(refused.browser)).toBe(false)
  })
})

describe('people who come from many addresses', () => {
  const from = (ip: string, path = '/user', token = ana.token ?? '') =>
    fetch(`${world.url}/api/v4${path}`, {
      headers: { 'PRIVATE-TOKEN': token, 'X-Forwarded-For': ip },
    })
  const limits = (per_user: number) =>
    set({
      unique_ips_limit_enabled: true,
      unique_ips_limit_per_user: per_user,
      unique_ips_limit_time_window: 600,
    })

  test('are refused at one too many, and go on where they were', async () => {
    await limits(2)
    expect((await from('192.0.2.1')).status).toBe(200)
    expect((await from('192.0.2.2')).status).toBe(200)
    const refused = await from('192.0.2.3')
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { message: '403 Forbidden - Too many logins from different IPs. Try again in 600 seconds.' },
    ])
    // Whoever came later shuts nobody out.
    expect((await from('192.0.2.1')).status).toBe(200)
    world.setNow('2026-05-04T10:09:00.000Z')
    expect((await from('192.0.2.1')).status).toBe(200)
    world.setNow('2026-05-04T10:10:00.000Z')
    expect((await from('192.0.2.3')).status).toBe(200)
    expect((await from('192.0.2.2')).status).toBe(403)
  })

  test('are counted in git, in the browser and at sign-in alike, and bots are not', async () => {
    const kim = await world.user('kim')
    await givePassword(world, kim.id)
    await limits(1)
    expect((await from('198.51.100.1', '/user', kim.token ?? '')).status).toBe(200)
    const url = `${world.url}/ana/demo.git`.replace('://', `://kim:${kim.token}@`)
    const words = ['-c', 'http.extraHeader=X-Forwarded-For: 198.51.100.2', 'ls-remote', url]
    const git = await runGitClient(newFolder(), words)
    expect(git.stderr).toContain('Too many logins from different IPs')
    // This browser comes from a third address.
    const shown = await new Browser(world.url).signIn('kim', PASSWORD)
    expect(shown.status).toBe(403)
    expect(shown.text).toContain('Too many logins from different IPs')
    const { body } = await world.root.post('/service_accounts', { name: 'bot' })
    const made = await world.root.post(`/users/${body.id}/personal_access_tokens`, {
      name: 'x',
      scopes: ['api'],
      expires_at: '2026-06-01',
    })
    for (const ip of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) {
      expect((await from(ip, '/user', made.body.token)).status).toBe(200)
    }
    const sudo = await fetch(`${world.url}/api/v4/user?sudo=kim`, {
      headers: { 'PRIVATE-TOKEN': world.root.token ?? '' },
    })
    expect(sudo.status).toBe(200)
  })

  test('are let in from anywhere without the limit', async () => {
    await set({ unique_ips_limit_enabled: false, unique_ips_limit_per_user: 1 })
    for (const ip of ['203.0.113.1', '203.0.113.2']) expect((await from(ip)).status).toBe(200)
    const none = await world.root.put('/application/settings', { unique_ips_limit_per_user: 0 })
    expect(none.status).toBe(400)
  })
})

describe('the terms of service', () => {
  const TERMS = '# Be kind\n\nNo *shouting*.'
  const refusal = (name: string) =>
    `403 Forbidden - You (@${name}) must accept the Terms of Service in order to perform this action. To accept these terms, please access Gitstead from a web browser at ${world.ctx.config.externalUrl}.`
  const enforce = (terms = TERMS) => set({ enforce_terms: true, terms })

  test('are asked for before a person goes on, at every door', async () => {
    await enforce()
    const api = await ana.get('/user')
    expect([api.status, api.body]).toEqual([403, { message: refusal('ana') }])
    const url = `${world.url}/ana/demo.git`.replace('://', `://ana:${ana.token}@`)
    const git = await runGitClient(newFolder(), ['ls-remote', url])
    expect(git.stderr).toContain('You (@ana) must accept the Terms of Service')

    const browser = new Browser(world.url)
    expect((await browser.signIn('ana', PASSWORD)).location).toBe('/')
    const away = await browser.get('/ana/demo?x=1')
    expect([away.status, away.location]).toEqual([
      302,
      '/-/users/terms?return_to=%2Fana%2Fdemo%3Fx%3D1',
    ])
    const file = await browser.get('/ana/demo/-/raw/main/README.md')
    expect(file.status).toBe(403)
    const terms = await browser.get(away.location ?? '')
    expect(terms.status).toBe(200)
    expect(terms.text).toContain('No <em>shouting</em>.')
    const early = await browser.submit(terms, '/projects/new', { name: 'early' })
    expect([early.status, early.location]).toEqual([303, '/-/users/terms'])
    const done = await browser.submit(terms, '/-/users/terms', {
      return_to: '/ana/demo?x=1',
    })
    expect([done.status, done.location]).toEqual([303, '/ana/demo?x=1'])
    expect((await browser.get('/ana/demo?x=1')).status).toBe(200)
    expect((await ana.get('/user')).status).toBe(200)
    expect((await runGitClient(newFolder(), ['ls-remote', url])).code).toBe(0)
    const { body } = await world.root.get('/audit_events?entity_type=User')
    expect(body[0]).toMatchObject({ event_name: 'terms_accepted', author_id: ana.id })

    await enforce(`${TERMS}\n\nAnd no whispering.`)
    expect((await ana.get('/user')).status).toBe(403)
    await enforce(TERMS)
    expect((await ana.get('/user')).status).toBe(200)
  })

  test('are asked of no stranger, bot or job, and are declined by leaving', async () => {
    await createProject(world.root, 'open', { visibility: 'public' })
    const ben = await world.user('ben')
    await givePassword(world, ben.id)
    await createProject(ben, 'botted')
    const bot = await ben.post('/projects/ben%2Fbotted/access_tokens', {
      name: 'bot',
      scopes: ['api'],
      expires_at: '2026-06-01',
    })
    await enforce()
    expect((await world.nobody.get('/projects/root%2Fopen')).status).toBe(200)
    const caller = new Caller(world.url, bot.body.token, 0, '')
    expect((await caller.get('/projects/ben%2Fbotted')).status).toBe(200)
    const browser = new Browser(world.url)
    await browser.signIn('ben', PASSWORD)
    const shown = await browser.get('/-/users/terms')
    expect((await browser.submit(shown, '/users/sign_out', {})).location).toBe('/users/sign_in')
    expect((await browser.get('/-/users/terms')).location).toContain('/users/sign_in')
    expect((await ben.get('/user')).status).toBe(403)
  })

  test('shut out nobody who writes them, and are something', async () => {
    for (const terms of [null, '', '  ']) {
      const empty = await world.root.put('/application/settings', { enforce_terms: true, terms })
      expect([empty.status, empty.body]).toEqual([400, { message: { terms: ["can't be blank"] } }])
    }
    expect((await ana.get('/user')).status).toBe(200)
    await enforce()
    expect((await world.root.get('/user')).status).toBe(200)
    // Another administrator is asked like everybody.
    const eve = await world.user('eve')
    await world.root.put(`/users/${eve.id}`, { admin: true })
    expect((await eve.get('/users')).body).toEqual({ message: refusal('eve') })
    expect((await eve.put('/application/settings', { enforce_terms: false })).status).toBe(403)
  })

  test('are shown on a page that says so when there are none', async () => {
    const browser = new Browser(world.url)
    await browser.signIn('ana', PASSWORD)
    expect((await browser.get('/-/users/terms')).text).toContain('There are none to accept.')
    expect((await new Browser(world.url).get('/-/users/terms')).location).toContain(
      '/users/sign_in',
    )
  })
})

test('without pages nobody could accept terms, so none are enforced', async () => {
  const other = await openWorld({ pages: 'off' })
  try {
    const wanted = { enforce_terms: true, terms: 'Be kind' }
    const refused = await other.root.put('/application/settings', wanted)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { enforce_terms: ['needs pages, which GITSTEAD_PAGES switches off'] } },
    ])
  } finally {
    await other.close()
  }
})

test('what people make has the visibility that administrators want, unless they say another', async () => {
  await set({
    default_project_visibility: 'internal',
    default_group_visibility: 'public',
    default_snippet_visibility: 'internal',
  })
  const made = async (path: string, body: object) => (await ana.post(path, body)).body.visibility
  const files = [{ file_path: 'a', content: 'x' }]
  expect(await made('/projects', { name: 'preset' })).toBe('internal')
  expect(await made('/projects', { name: 'own', visibility: 'private' })).toBe('private')
  expect(await made('/groups', { name: 'Preset', path: 'preset-group' })).toBe('public')
  expect(await made('/groups', { name: 'Own', path: 'own-group', visibility: 'private' })).toBe(
    'private',
  )
  expect(await made('/snippets', { title: 'x', files })).toBe('internal')
  expect(await made('/snippets', { title: 'x', files, visibility: 'private' })).toBe('private')
})
