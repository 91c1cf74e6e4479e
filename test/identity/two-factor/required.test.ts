import { expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { codeAt } from '../../support/codes.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const PAGE = '/-/user_settings/two_factor'
const START = '2026-05-04T10:00:00.000Z'
const world = useWorld()

const after = (hours: number) =>
  world.setNow(new Date(Date.parse(START) + hours * 3_600_000).toISOString())
const set = (settings: object) => world.root.put('/application/settings', settings)
const notice = 'Set a second factor up'

async function makeGroup(by: Caller, path: string, more: object = {}) {
  return (await createGroup(by, path, { visibility: 'private', ...more })).id
}

test('the instance asks for one: a notice at first, then nothing else is open', async () => {
  after(0)
  const ana = await world.user('ana')
  const browser = await signedInBrowser(world, ana)
  expect((await browser.get('/')).text).not.toContain(notice)
  await set({ require_two_factor_authentication: true, two_factor_grace_period: 5 })
  expect((await browser.get('/')).text).toContain(notice)
  after(4)
  expect((await browser.get('/dashboard/projects')).status).toBe(200)
  after(5)
  const away = await browser.get('/dashboard/projects')
  expect([away.status, away.location]).toEqual([302, expect.stringContaining('/users/sign_in?')])
  const on = await browser.get(String(away.location))
  expect([on.status, on.location]).toEqual([302, PAGE])
  expect((await browser.post('/projects', { path: 'x' })).status).not.toBe(303)
  const keys = await browser.get('/-/user_settings/personal_access_tokens')
  expect(keys.status).toBe(302)
  expect((await browser.get('/dashboard/projects.atom')).status).not.toBe(200)
  // Whoever signs in now is sent there at once.
  const other = new Browser(world.url)
  expect((await other.signIn('ana', PASSWORD)).location).toBe(PAGE)
  // Programs go on by their tokens.
  expect((await ana.get('/user')).status).toBe(200)
  const page = await browser.get(PAGE)
  expect(page.text).toContain('must be set up before anything else')
  await submitForm(browser, PAGE, `${PAGE}/app`, { app_password: PASSWORD })
  const { text } = await browser.get(PAGE)
  const secret = (/breakable">([A-Z2-7 ]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '')
  const code = codeAt(secret, world.ctx.now())
  expect((await submitForm(browser, PAGE, `${PAGE}/app/confirm`, { code })).status).toBe(200)
  expect((await browser.get('/dashboard/projects')).status).toBe(200)
  await set({ require_two_factor_authentication: false })
})

test('files that pages show are as closed as the pages', async () => {
  after(0)
  const pam = await world.user('pam')
  const browser = await signedInBrowser(world, pam)
  const project = await createProject(pam, 'p', { initialize_with_readme: true })
  const raw = `/${project.path_with_namespace}/-/raw/main/README.md`
  await world.runTasks()
  await expect.poll(async () => (await browser.get(raw)).status).toBe(200)
  await set({ require_two_factor_authentication: true, two_factor_grace_period: 0 })
  expect((await browser.get(raw)).status).not.toBe(200)
  expect((await browser.get(`/${project.path_with_namespace}`)).status).toBe(302)
  await set({ require_two_factor_authentication: false })
  expect((await browser.get(raw)).status).toBe(200)
})

test('a group asks its members, those above it and those below it, and nobody else', async () => {
  after(0)
  const owner = await world.user('olga')
  const top = await makeGroup(owner, 'top')
  const middle = await makeGroup(owner, 'middle', { parent_id: top })
  const low = await makeGroup(owner, 'low', { parent_id: middle })
  const beside = await makeGroup(owner, 'beside', { parent_id: top })
  const people = new Map<string, Browser>()
  for (const [name, group] of [
    ['inside', middle],
    ['above', top],
    ['below', low],
    ['aside', beside],
  ] as const) {
    const one = await world.user(name)
    await owner.post(`/groups/${group}/members`, { user_id: one.id, access_level: 30 })
    people.set(name, await signedInBrowser(world, one))
  }
  const settings = { require_two_factor_authentication: true, two_factor_grace_period: 0 }
  expect((await owner.put(`/groups/${middle}`, settings)).status).toBe(200)
  const open = async () => {
    const found: string[] = []
    for (const [name, browser] of people)
      if ((await browser.get('/dashboard/projects')).status === 200) found.push(name)
    return found
  }
  expect(await open()).toEqual(['aside'])
  await owner.put(`/groups/${middle}`, { two_factor_grace_period: 48 })
  expect(await open()).toEqual(['inside', 'above', 'below', 'aside'])
  await owner.put(`/groups/${middle}`, { require_two_factor_authentication: false })
  after(100)
  expect(await open()).toEqual(['inside', 'above', 'below', 'aside'])
})
