import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let count = 0
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

async function user(more: Record<string, unknown> = {}) {
  count += 1
  const reply = await root.post('/users', {
    email: `u${count}@example.com`,
    name: `U ${count}`,
    username: `u${count}`,
    force_random_password: true,
    skip_confirmation: true,
    ...more,
  })
  expect([reply.status, reply.body.message]).toEqual([201, undefined])
  return reply.body
}

const attributes: readonly (readonly [name: string, preset: unknown, other: unknown])[] = [
  ['external', false, true],
  ['projects_limit', 100_000, 3],
  ['can_create_group', true, false],
  ['private_profile', false, true],
  ['bio', '', 'Writes code'],
  ['location', '', 'Here'],
  ['website_url', '', 'https://example.com'],
  ['organization', '', 'Us'],
  ['job_title', '', 'Smith'],
  ['pronouns', null, 'they'],
  ['note', null, 'Be kind'],
  ['linkedin', '', 'in'],
  ['twitter', '', 'tw'],
  ['discord', '', '1234'],
  ['github', '', 'gh'],
  ['theme_id', 1, 3],
  ['color_scheme_id', 1, 2],
]
const presets = Object.fromEntries(attributes.map(([name, preset]) => [name, preset]))
const others = Object.fromEntries(attributes.map(([name, , other]) => [name, other]))

describe('attributes of a user', () => {
  test('are kept at creation and at a change, and shown to administrators', async () => {
    const plain = await user()
    expect(plain).toMatchObject(presets)
    const changed = await root.put(`/users/${plain.id}`, others)
    expect([changed.status, changed.body]).toMatchObject([200, others])
    expect((await root.get(`/users/${plain.id}`)).body).toMatchObject(others)
    expect(await user(others)).toMatchObject(others)
    const form = new URLSearchParams()
    for (const [name, , other] of attributes) form.set(name, String(other))
    const byForm = await root.put(`/users/${(await user()).id}`, undefined, { raw: form })
    expect(byForm.body).toMatchObject(others)
  })

  test('show only the profile to others, and work as one line', async () => {
    const { id } = await user({ ...others, private_profile: false })
    const { body } = await ana.get(`/users/${id}`)
    expect(body).toMatchObject({
      bio: 'Writes code',
      job_title: 'Smith',
      organization: 'Us',
      work_information: 'Smith at Us',
      twitter: 'tw',
      followers: 0,
      following: 0,
      is_followed: false,
    })
    for (const hidden of ['email', 'note', 'is_admin', 'external', 'projects_limit', 'identities'])
      expect(body[hidden]).toBeUndefined()
  })

  test.each([
    [{ theme_id: 99 }, { error: 'theme_id does not have a valid value' }],
    [{ projects_limit: -1 }, { error: 'projects_limit does not have a valid value' }],
    [{ projects_limit: 'many' }, { error: 'projects_limit is invalid' }],
    [{ admin: 'perhaps' }, { error: 'admin is invalid' }],
    [{ name: '' }, { error: 'name is empty' }],
    [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [{ email: 'nowhere' }, { message: { email: ['is invalid'] } }],
    [{ username: '-x' }, undefined],
    [{ username: 'api' }, undefined],
    [{ password: 'short' }, { message: { password: ['is too short (minimum is 8 characters)'] } }],
    [{ provider: 'saml' }, { error: 'extern_uid is missing' }],
  ])('are not %j', async (body, answer) => {
    const made = await user()
    const reply = await root.put(`/users/${made.id}`, { bio: 'lost', ...body })
    expect(reply.status).toBe(400)
    if (answer) expect(reply.body).toEqual(answer)
    expect((await root.get(`/users/${made.id}`)).body.bio).toBe('')
  })

  test('that others have are a conflict', async () => {
    const made = await user()
    const email = await root.put(`/users/${made.id}`, { email: 'ANA@example.com' })
    expect([email.status, email.body]).toEqual([409, { message: 'Email has already been taken' }])
    await ana.post('/groups', { name: 'Taken', path: 'taken-path' })
    for (const username of ['ana', 'Taken-Path']) {
      const reply = await root.put(`/users/${made.id}`, { username })
      expect([reply.status, reply.body]).toEqual([
        409,
        { message: 'Username has already been taken' },
      ])
    }
    const again = await root.put(`/users/${made.id}`, { username: made.username })
    expect(again.status).toBe(200)
  })

  test('limit what the user may do', async () => {
    const made = await user({ projects_limit: 1, can_create_group: false })
    const caller = world.as(await world.token(made.id, ['api']))
    expect((await caller.post('/projects', { name: 'one' })).status).toBe(201)
    const second = await caller.post('/projects', { name: 'two' })
    expect([second.status, second.body.message]).toEqual([
      403,
      "403 Forbidden - You've reached your limit of 1 projects created.",
    ])
    expect((await caller.post('/groups', { name: 'g', path: 'g' })).status).toBe(403)
    expect((await caller.get('/user')).body).toMatchObject({ can_create_group: false })
    await root.put(`/users/${made.id}`, { projects_limit: 2, can_create_group: true })
    expect((await caller.post('/projects', { name: 'two' })).status).toBe(201)
    expect((await caller.post('/groups', { name: 'g', path: 'g' })).status).toBe(201)
    await root.put(`/users/${made.id}`, { external: true })
    expect((await caller.post('/groups', { name: 'h', path: 'h' })).status).toBe(403)
    expect((await caller.get('/user')).body).toMatchObject({
      can_create_group: false,
      can_create_project: false,
    })
  })

  test('of the instance limit them, too', async () => {
    await root.put('/application/settings', { can_create_group: false })
    expect((await ana.post('/groups', { name: 'no', path: 'no' })).status).toBe(403)
    expect((await ana.get('/user')).body.can_create_group).toBe(false)
    expect((await root.post('/groups', { name: 'yes', path: 'yes' })).status).toBe(201)
    expect((await root.get('/user')).body.can_create_group).toBe(true)
    await root.put('/application/settings', { can_create_group: true })
    expect((await ana.get('/user')).body.can_create_group).toBe(true)
  })

  test('make an administrator, and no longer', async () => {
    const made = await user({ admin: true })
    const caller = world.as(await world.token(made.id, ['api']))
    expect((await caller.get('/application/settings')).status).toBe(200)
    await root.put(`/users/${made.id}`, { admin: false })
    expect((await caller.get('/application/settings')).status).toBe(403)
  })

  test('hold who the user is elsewhere, once for each provider', async () => {
    const made = await user({ provider: 'saml', extern_uid: 'one' })
    expect(made.identities).toEqual([{ provider: 'saml', extern_uid: 'one' }])
    await root.put(`/users/${made.id}`, { provider: 'saml', extern_uid: 'two' })
    const { body } = await root.put(`/users/${made.id}`, { provider: 'ldap', extern_uid: 'x' })
    expect(new Set(body.identities)).toEqual(
      new Set([
        { provider: 'saml', extern_uid: 'two' },
        { provider: 'ldap', extern_uid: 'x' },
      ]),
    )
    const found = await root.get('/users?extern_uid=two&provider=saml')
    expect(found.body).toMatchObject([{ id: made.id }])
    const half = await root.get('/users?extern_uid=two')
    expect([half.status, half.body]).toEqual([
      400,
      { error: 'extern_uid, provider provide all or none of parameters' },
    ])
    expect((await root.delete(`/users/${made.id}/identities/saml`)).status).toBe(204)
    expect((await root.delete(`/users/${made.id}/identities/saml`)).status).toBe(404)
  })

  test('are shown with custom ones to administrators who ask', async () => {
    const { id } = await user()
    await root.put(`/users/${id}/custom_attributes/room`, { value: '7' })
    const asked = `/users/${id}?with_custom_attributes=true`
    expect((await root.get(asked)).body.custom_attributes).toEqual([{ key: 'room', value: '7' }])
    expect((await root.get(`/users/${id}`)).body.custom_attributes).toBeUndefined()
    expect((await ana.get(asked)).body.custom_attributes).toBeUndefined()
    expect((await root.get('/users?custom_attributes[room]=7')).body).toMatchObject([{ id }])
    expect((await root.get('/users?custom_attributes[room]=8')).body).toEqual([])
  })
})

describe('addresses of a user', () => {
  test('are shown to others, and found by them, once they are public', async () => {
    const made = await user()
    const extra = { email: `extra${made.id}@example.com`, skip_confirmation: true }
    expect((await root.post(`/users/${made.id}/emails`, extra)).status).toBe(201)
    const both = { public_email: extra.email, commit_email: extra.email }
    const changed = await root.put(`/users/${made.id}`, both)
    expect([changed.status, changed.body]).toMatchObject([200, both])
    expect((await ana.get(`/users?public_email=${extra.email}`)).body).toMatchObject([
      { id: made.id, public_email: extra.email },
    ])
    const none = await root.put(`/users/${made.id}`, { public_email: '' })
    expect(none.body.public_email).toBe('')
  })

  test('come and go, beside the first one', async () => {
    const caller = await world.user('mailed')
    const made = await caller.post('/user/emails', { email: 'second@example.com' })
    expect([made.status, made.body]).toEqual([
      201,
      { id: made.body.id, email: 'second@example.com', confirmed_at: null },
    ])
    const one = `/user/emails/${made.body.id}`
    expect((await caller.get(one)).body).toEqual(made.body)
    expect((await ana.get(one)).body).toEqual({ message: '404 Email Not Found' })
    for (const email of ['second@example.com', 'ana@example.com', 'SECOND@example.com']) {
      const twice = await caller.post('/user/emails', { email })
      expect([twice.status, twice.body]).toEqual([
        400,
        { message: { email: ['has already been taken'] } },
      ])
    }
    expect((await caller.post('/user/emails', { email: 'x' })).status).toBe(400)
    expect((await caller.post('/user/emails', {})).body).toEqual({ error: 'email is missing' })
    const byRoot = `/users/${caller.id}/emails`
    expect((await root.get(byRoot)).body.map((row: { email: string }) => row.email)).toContain(
      'second@example.com',
    )
    expect((await ana.get(byRoot)).status).toBe(403)
    expect((await caller.delete(one)).status).toBe(204)
    expect((await caller.delete(one)).status).toBe(404)
    expect((await ana.post('/user/emails', { email: 'second@example.com' })).status).toBe(201)
  })

  test('that are changed wait for their owner where addresses are confirmed', async () => {
    await root.put('/application/settings', { email_confirmation_setting: 'hard' })
    const made = await user()
    const later = await root.put(`/users/${made.id}`, { email: 'new-one@example.com' })
    expect(later.body.email).toBe(made.email)
    const now = await root.put(`/users/${made.id}`, {
      email: 'newer-one@example.com',
      skip_reconfirmation: true,
    })
    expect(now.body.email).toBe('newer-one@example.com')
    await root.put('/application/settings', { email_confirmation_setting: 'off' })
    const off = await root.put(`/users/${made.id}`, { email: 'newest@example.com' })
    expect(off.body.email).toBe('newest@example.com')
  })
})
