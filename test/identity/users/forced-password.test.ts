import { expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useWorld } from '../../support/world.ts'

const PAGE = '/-/user_settings/password'
const world = useWorld()

const git = (name: string, password: string) =>
  world.nobody.get(`/${name}/none.git/info/refs?service=git-upload-pack`, {
    host: true,
    headers: { Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` },
  })

test('an administrator has somebody set another password before anything else', async () => {
  const ana = await world.user('ana')
  const browser = await signedInBrowser(world, ana)
  const password_expires_at = world.ctx.now()
  expect((await world.root.put(`/users/${ana.id}`, { password_expires_at })).status).toBe(200)
  const away = await browser.get('/dashboard/projects')
  expect(away.status).toBe(302)
  expect((await browser.get(String(away.location))).location).toBe(PAGE)
  const other = new Browser(world.url)
  expect((await other.signIn('ana', PASSWORD)).location).toBe(PAGE)
  expect((await other.get('/-/user_settings/emails')).status).toBe(302)
  const refused = await git('ana', PASSWORD)
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    403,
    expect.stringContaining('must be changed'),
  ])
  const change = (password: string, current_password = PASSWORD) =>
    submitForm(browser, PAGE, PAGE, { current_password, password, password_again: password })
  expect((await change(PASSWORD)).text).toContain('must be another')
  expect((await change('Another-good-one-7', 'wrong')).status).toBe(400)
  expect((await change('Another-good-one-7')).status).toBe(303)
  expect((await browser.get('/dashboard/projects')).status).toBe(200)
  expect((await git('ana', 'Another-good-one-7')).status).toBe(404)
})

test('a password may be set that must be changed, now or later', async () => {
  const bob = await world.user('bob')
  const password_expires_at = '2026-05-05T10:00:00Z'
  await world.root.put(`/users/${bob.id}`, { password: PASSWORD, password_expires_at })
  const browser = new Browser(world.url)
  expect((await browser.signIn('bob', PASSWORD)).location).toBe('/')
  world.setNow('2026-05-05T10:00:00.000Z')
  expect((await browser.get('/dashboard/projects')).status).toBe(302)
  // A password that an administrator sets otherwise just serves.
  await world.root.put(`/users/${bob.id}`, { password: `${PASSWORD}!` })
  expect((await browser.signIn('bob', `${PASSWORD}!`)).location).toBe('/')
  const made = await world.root.post('/users', {
    username: 'cleo',
    name: 'Cleo',
    email: 'cleo@example.com',
    password: PASSWORD,
    skip_confirmation: true,
    password_expires_at: '2026-01-01',
  })
  expect(made.status).toBe(201)
  expect((await new Browser(world.url).signIn('cleo', PASSWORD)).location).toBe(PAGE)
  for (const wrong of ['soon', 7, []]) {
    const reply = await world.root.put(`/users/${bob.id}`, { password_expires_at: wrong })
    expect(reply.status).toBe(400)
  }
})

test.each(['qwertyuiop', 'Football', '1qaz2wsx', 'TRUSTNO1'])(
  'the common password %s is refused wherever one is set',
  async (password) => {
    const { id } = await world.user('dan')
    expect((await world.root.put(`/users/${id}`, { password })).status).toBe(400)
    const input = { username: 'weak', name: 'Weak', email: 'weak@example.com', password }
    expect((await world.root.post('/users', input)).status).toBe(400)
  },
)
