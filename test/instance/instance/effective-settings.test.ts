import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { signUpFaults } from '../../../src/identity/users/create/sign-up-rules.ts'
import { Browser } from '../../support/browser.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let before: Record<string, unknown>
const PASSWORD = 'correct horse battery'

beforeAll(async () => {
  before = (await world.root.get('/application/settings')).body
})
afterEach(async () => {
  const names = [...changed]
  changed.clear()
  await set(Object.fromEntries(names.map((name) => [name, before[name]])))
  changed.clear()
})

const changed = new Set<string>()
async function set(settings: Record<string, unknown>): Promise<void> {
  for (const name of Object.keys(settings)) changed.add(name)
  expect((await world.root.put('/application/settings', settings)).status).toBe(200)
}

describe('making an account for oneself', () => {
  const signUp = async (username: string, email = `${username}@example.org`) => {
    const browser = new Browser(world.url)
    const form = await browser.get('/users/sign_up')
    const shown = await browser.submit(form, '/users/sign_up', {
      'user[name]': username,
      'user[username]': username,
      'user[email]': email,
      'user[password]': PASSWORD,
    })
    return { shown, browser }
  }

  test('is possible only where administrators allow it', async () => {
    const away = '/users/sign_in?return_to=%2Fusers%2Fsign_up'
    expect((await new Browser(world.url).get('/users/sign_up')).location).toBe(away)
    const forged = await new Browser(world.url).post('/users/sign_up', {
      'user[name]': 'x',
      'user[username]': 'x',
      'user[email]': 'x@example.org',
      'user[password]': PASSWORD,
    })
    expect(forged.location).toBe('/users/sign_in')
    expect((await world.root.get('/users?username=x')).body).toEqual([])
  })

  test('waits for an administrator unless a setting says otherwise', async () => {
    await set({ signup_enabled: true })
    const { shown, browser } = await signUp('waiting')
    expect(shown.status).toBe(200)
    expect((await browser.signIn('waiting', PASSWORD)).status).toBe(403)
    const [user] = (await world.root.get('/users?username=waiting')).body
    expect(user.state).toBe('blocked_pending_approval')
    await world.root.post(`/users/${user.id}/approve`)
    expect((await browser.signIn('waiting', PASSWORD)).status).toBe(303)
  })

  test('gives no invitation away before the address is confirmed', async () => {
    await set({ signup_enabled: true, require_admin_approval_after_user_signup: false })
    const project = await createProject(ana, 'invited')
    await ana.post(`/projects/${project.id}/invitations`, {
      email: 'thief@example.org',
      access_level: 30,
    })
    const { browser } = await signUp('thief')
    expect((await browser.signIn('thief', PASSWORD)).status).toBe(303)
    const members = await ana.get(`/projects/${project.id}/members/all`)
    expect(members.body.map((one: { username: string }) => one.username)).toEqual(['ana'])
  })

  test('is what an invitation asks for, or an account that an administrator makes', async () => {
    const project = await createProject(ana, 'by-mail')
    const mailTo = async (email: string): Promise<string> => {
      await ana.post(`/projects/${project.id}/invitations`, { email, access_level: 30 })
      await world.runTasks()
      const outbox = join(world.folder, 'outbox')
      const mails = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'))
      const mail = mails.find((text) => text.includes(`To: ${email}`)) ?? ''
      return mail.replaceAll('=\r\n', '').replaceAll('=3D', '=')
    }
    const byAdmin = `ask an administrator of ${world.ctx.config.externalUrl} for an account with the address`
    expect(await mailTo('closed@example.org')).toContain(`${byAdmin} closed@example.org.`)
    await set({ signup_enabled: true, domain_allowlist: ['example.org'] })
    const mail = await mailTo('open@example.org')
    const [link = ''] = /http:\S+\/users\/sign_up/.exec(mail) ?? []
    expect(mail).toContain(`sign up with the address open@example.org at ${link}`)
    expect((await new Browser(world.url).get(new URL(link).pathname)).status).toBe(200)
    expect(await mailTo('other@example.net')).toContain(`${byAdmin} other@example.net.`)
  })

  test('follows the lists of domains, and says what is wrong', async () => {
    await set({ signup_enabled: true, domain_allowlist: ['example.org', '*.example.org'] })
    expect((await signUp('inside')).shown.status).toBe(200)
    expect((await signUp('deeper', 'deeper@a.example.org')).shown.status).toBe(200)
    const outside = (await signUp('outside', 'outside@example.net')).shown
    expect(outside.status).toBe(400)
    expect(outside.text).toContain('email is not from an allowed domain.')
    expect((await signUp('ana', 'ana2@example.org')).shown.status).toBe(409)
  })

  test('is refused by denied domains and patterns', async () => {
    const rules = {
      domain_allowlist: [],
      domain_denylist: ['*.bad.com', 'worse.com'],
      domain_denylist_enabled: true,
      email_restrictions: String.raw`\+`,
      email_restrictions_enabled: true,
    }
    expect(await signUpFaults('a@x.bad.com', rules)).toHaveLength(1)
    expect(await signUpFaults('a@WORSE.com', rules)).toHaveLength(1)
    expect(await signUpFaults('a+b@good.com', rules)).toHaveLength(1)
    expect(await signUpFaults('a@good.com', rules)).toEqual([])
    expect(
      await signUpFaults('a+b@good.com', { ...rules, email_restrictions_enabled: false }),
    ).toEqual([])
    expect(await signUpFaults('a@good.com', { ...rules, email_restrictions: '(' })).toEqual([])
  })
})

test('new people are external unless their address says that they are from here', async () => {
  await set({ user_default_external: true, user_default_internal_regex: '@inside[.]com$' })
  const make = async (name: string, host: string) =>
    (
      await world.root.post('/users', {
        name,
        username: name,
        email: `${name}@${host}`,
        force_random_password: true,
      })
    ).body.external
  expect(await make('guesty', 'example.com')).toBe(true)
  expect(await make('insider', 'inside.com')).toBe(false)
})

test('projects are imported from addresses only while that source is on', async () => {
  await set({ import_sources: ['github'] })
  const body = { name: 'copy', import_url: 'https://example.com/a.git' }
  expect((await ana.post('/projects', body)).status).toBe(403)
})

test('keys are held to the kinds and lengths that administrators want', async () => {
  await set({ ed25519_key_restriction: -1 })
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3ZMPXxGwCw8J7FYkI1DMK2q7Wbkr5yV0Qb4iSpUpZ5 a@b'
  const refused = await ana.post('/user/keys', { title: 'mine', key })
  expect(refused.status).toBe(400)
  expect(refused.body.message.key).toEqual(['type is forbidden. ED25519 keys are not allowed'])
})

test('new groups let create projects whom administrators say', async () => {
  await set({ default_project_creation: 1 })
  const group = await createGroup(ana, 'kept')
  expect(group).toHaveProperty('project_creation_level', 'maintainer')
})

test('new projects take part in the runners of the instance only while administrators want that', async () => {
  await set({ shared_runners_enabled: false })
  const without = await createProject(ana, 'without-runners')
  expect(without).toHaveProperty('shared_runners_enabled', false)
  const wished = { name: 'with-runners', shared_runners_enabled: true }
  expect((await ana.post('/projects', wished)).body.shared_runners_enabled).toBe(true)
})

test('projects are exported only while administrators offer that', async () => {
  const project = await createProject(ana, 'exported')
  await set({ project_export_enabled: false })
  expect((await ana.post(`/projects/${project.id}/export`)).status).toBe(404)
})

test('issues are limited in each project as administrators say', async () => {
  const project = await createProject(ana, 'filed')
  await set({ issues_create_limit: 1 })
  const file = async () => (await ana.post(`/projects/${project.id}/issues`, { title: 'x' })).status
  expect([await file(), await file()]).toEqual([201, 429])
})

test('comments are limited as administrators say', async () => {
  const project = await createProject(ana, 'limited')
  await ana.post(`/projects/${project.id}/issues`, { title: 'One' })
  await set({ notes_create_limit: 2 })
  const note = async () =>
    (await ana.post(`/projects/${project.id}/issues/1/notes`, { body: 'x' })).status
  expect([await note(), await note(), await note()]).toEqual([201, 201, 429])
  const thread = await ana.post(`/projects/${project.id}/issues/1/discussions`, { body: 'x' })
  expect(thread.status).toBe(429)
})

test('the throttle says what administrators want it to say', async () => {
  await set({
    throttle_unauthenticated_api_enabled: true,
    throttle_unauthenticated_api_requests_per_period: 1,
    rate_limiting_response_text: 'Come back later, please',
  })
  await world.nobody.get('/projects')
  const late = await world.nobody.get('/projects')
  expect([late.status, late.body.trim()]).toEqual([429, 'Come back later, please'])
})

test('git over HTTP is refused where only SSH is wanted', async () => {
  const project = await createProject(ana, 'fetched', { visibility: 'public' })
  const fetchRefs = async () =>
    (
      await fetch(
        `${world.url}/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`,
      )
    ).status
  expect(await fetchRefs()).toBe(200)
  await set({ enabled_git_access_protocol: 'ssh' })
  expect(await fetchRefs()).toBe(403)
})

test('attachments are no larger than administrators want', async () => {
  const project = await createProject(ana, 'attached')
  await set({ max_attachment_size: 0 })
  const form = new FormData()
  form.set('file', new Blob(['x']), 'x.txt')
  const reply = await ana.post(`/projects/${project.id}/uploads`, undefined, { raw: form })
  expect(reply.status).toBe(413)
})

test('every mail ends with what administrators have to say', async () => {
  await set({ email_additional_text: 'This server belongs to the museum.' })
  await ana.post('/user/emails', { email: 'more@example.org' })
  await world.runTasks()
  const folder = join(world.folder, 'outbox')
  const mails = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  expect(mails.some((mail) => mail.includes('This server belongs to the museum.'))).toBe(true)
})
