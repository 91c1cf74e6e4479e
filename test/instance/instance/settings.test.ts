import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  type SettingDefinition,
  settingDefinitions,
} from '../../../src/access/setting-definitions.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { gitClient } from '../../support/git-client.ts'
import { ed25519, rsa } from '../../support/keys.ts'
import { newTestFolder } from '../../support/test-folder.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let before: Record<string, unknown>
let count = 0
const definitions = Object.entries<SettingDefinition>(settingDefinitions)

beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  before = (await root.get('/application/settings')).body
})
afterEach(async () => {
  expect((await root.put('/application/settings', before)).body).toEqual(before)
})

async function set(settings: Record<string, unknown>): Promise<void> {
  const reply = await root.put('/application/settings', settings)
  expect([reply.status, reply.body]).toMatchObject([200, settings])
}

async function project(more: Record<string, unknown> = {}, owner = ana) {
  count += 1
  const reply = await createProject(owner, `p${count}`, more)
  return reply
}

/** A value that the setting does not have by itself. */
function otherValue(definition: SettingDefinition): unknown {
  switch (definition.kind) {
    case 'flag':
      return !definition.preset
    case 'integer':
      return (definition.preset ?? definition.min) + 7
    case 'regex':
    case 'text':
      return 'another'
    case 'word':
      return definition.words.find((word) => word !== definition.preset)
    case 'list':
      return definition.words ? [definition.words[0]] : ['another']
  }
}

describe('application settings', () => {
  test('are all there with their presets', () => {
    expect(Object.keys(before).sort()).toEqual(definitions.map(([name]) => name).sort())
  })

  test('are each kept, given back, and written down', async () => {
    const throttled = (name: string) => name.startsWith('throttle_')
    const others = Object.fromEntries(
      definitions
        .filter(([name]) => !throttled(name))
        .map(([name, definition]) => [name, otherValue(definition)]),
    )
    await set(others)
    expect((await root.get('/application/settings')).body).toEqual({ ...before, ...others })
    const rows = await world.ctx.db.selectFrom('settings').select('key').execute()
    expect(rows.map((row) => row.key)).toEqual(expect.arrayContaining(Object.keys(others)))
  })

  test.each([
    ['default_projects_limit', 'many', 'default_projects_limit is invalid'],
    ['default_projects_limit', -1, 'default_projects_limit does not have a valid value'],
    ['minimum_password_length', 7, 'minimum_password_length does not have a valid value'],
    ['signup_enabled', 'perhaps', 'signup_enabled is invalid'],
    ['default_group_visibility', 'open', 'default_group_visibility does not have a valid value'],
    [
      'restricted_visibility_levels',
      ['open'],
      'restricted_visibility_levels does not have a valid value',
    ],
    [
      'email_confirmation_setting',
      'firm',
      'email_confirmation_setting does not have a valid value',
    ],
    ['domain_allowlist', { a: 1 }, 'domain_allowlist is invalid'],
  ])('%s is not %j', async (name, value, error) => {
    const reply = await root.put('/application/settings', {
      [name]: value,
      html_emails_enabled: false,
    })
    expect([reply.status, reply.body]).toEqual([400, { error }])
    expect((await root.get('/application/settings')).body).toEqual(before)
  })

  test('that may be unset are cleared by null and by an empty text', async () => {
    await set({ max_ssh_key_lifetime: 5, default_ci_config_path: 'x.yml' })
    await set({ max_ssh_key_lifetime: null })
    const reply = await root.put('/application/settings', { default_ci_config_path: '' })
    expect(reply.body).toMatchObject({ max_ssh_key_lifetime: null, default_ci_config_path: null })
  })
})

describe('what is new follows the application settings:', () => {
  test('the visibility of projects, groups and snippets', async () => {
    await set({
      default_project_visibility: 'internal',
      default_group_visibility: 'public',
      default_snippet_visibility: 'internal',
    })
    expect((await project()).visibility).toBe('internal')
    const group = await createGroup(ana, 'v')
    expect(group.visibility).toBe('public')
    expect((await project({ namespace_id: group.id })).visibility).toBe('internal')
    const snippet = { title: 's', file_name: 'a', content: 'x' }
    expect((await ana.post('/snippets', snippet)).body.visibility).toBe('internal')
  })

  test('levels that are restricted are for administrators alone', async () => {
    await set({ restricted_visibility_levels: ['public'] })
    const open = { name: 'open', path: 'open', visibility: 'public' }
    for (const path of ['/projects', '/groups'])
      expect((await ana.post(path, open)).status).toBe(400)
    const own = await project()
    const raised = await ana.put(`/projects/${own.id}`, { visibility: 'public' })
    expect([raised.status, Object.keys(raised.body.message)]).toEqual([400, ['visibility_level']])
    expect((await root.post('/projects', open)).status).toBe(201)
  })

  test('the default branch and its protection', async () => {
    await set({ default_branch_name: 'trunk', default_branch_protection: 0 })
    const made = await project({ initialize_with_readme: true })
    expect(made.default_branch).toBe('trunk')
    expect((await ana.get(`/projects/${made.id}/protected_branches`)).body).toEqual([])
    await set({ default_branch_protection: 2 })
    const other = await project({ initialize_with_readme: true })
    expect((await ana.get(`/projects/${other.id}/protected_branches`)).body).toMatchObject([
      { name: 'trunk', push_access_levels: [{ access_level: 40 }] },
    ])
  })

  test('people: their profile, their groups and their projects', async () => {
    await set({
      user_defaults_to_private_profile: true,
      can_create_group: false,
      default_projects_limit: 3,
    })
    const body = { name: 'n', username: 'n', email: 'n@example.com', force_random_password: true }
    expect((await root.post('/users', body)).body).toMatchObject({
      private_profile: true,
      can_create_group: false,
      projects_limit: 3,
    })
  })
})

test('passwords have the length and the kinds of characters that are wanted', async () => {
  await set({
    minimum_password_length: 12,
    password_number_required: true,
    password_uppercase_required: true,
    password_lowercase_required: true,
    password_symbol_required: true,
  })
  const faults = async (password: string) =>
    (await root.put(`/users/${ana.id}`, { password })).body.message?.password
  expect(await faults('Short-1')).toEqual(['is too short (minimum is 12 characters)'])
  expect(await faults('correct horse battery')).toEqual([
    'must contain at least one number',
    'must contain at least one uppercase letter',
  ])
  expect(await faults('CORRECTHORSE1')).toEqual([
    'must contain at least one lowercase letter',
    'must contain at least one symbol',
  ])
  expect(await faults('Correct horse 1')).toBeUndefined()
})

test('SSH keys live no longer, and are no shorter, than is wanted', async () => {
  await set({ max_ssh_key_lifetime: 10, rsa_key_restriction: 3072 })
  const add = (key: string, expires_at?: string) =>
    ana.post('/user/keys', { title: 'k', key, ...(expires_at ? { expires_at } : {}) })
  const late = 'has greater than the maximum allowed expiration date (2026-05-14)'
  expect((await add(ed25519())).body).toEqual({ message: { key: [late] } })
  expect((await add(ed25519(), '2026-05-15')).body).toEqual({ message: { key: [late] } })
  expect((await add(ed25519(), '2026-05-14')).status).toBe(201)
  expect((await add(rsa(2048), '2026-05-14')).body).toEqual({
    message: { key: ['must be at least 3072 bits'] },
  })
})

test('tokens begin with the prefix that is wanted', async () => {
  await set({ personal_access_token_prefix: 'museum-' })
  const made = await root.post(`/users/${ana.id}/personal_access_tokens`, {
    name: 'x',
    scopes: ['api'],
  })
  expect(made.body.token).toMatch(/^museum-/)
  expect((await world.as(made.body.token).get('/user')).body.id).toBe(ana.id)
})

test('members are removed no faster than is wanted', async () => {
  const { id } = await project()
  for (const name of ['one', 'two']) {
    const user = await world.user(name)
    await ana.post(`/projects/${id}/members`, { user_id: user.id, access_level: 20 })
  }
  await set({ members_delete_limit: 1 })
  const [, one, two] = (await ana.get(`/projects/${id}/members`)).body
  const remove = (user: { id: number }) => ana.delete(`/projects/${id}/members/${user.id}`)
  expect((await remove(one)).status).toBe(204)
  const late = await remove(two)
  expect([late.status, late.body, late.headers.get('retry-after')]).toEqual([
    429,
    {
      message: {
        error: 'This endpoint has been requested too many times. Try again later.',
      },
    },
    '60',
  ])
})

test('pushes are no larger than is wanted', async () => {
  const made = await project({ initialize_with_readme: true })
  await set({ receive_max_input_size: 1 })
  const folder = newTestFolder()
  mkdirSync(folder, { recursive: true })
  const address = `${world.url.replace('//', `//ana:${ana.token}@`)}/${made.path_with_namespace}.git`
  await gitClient(folder, ['clone', '-q', address, '.'])
  writeFileSync(`${folder}/large.bin`, randomBytes(2 * 1024 * 1024))
  await gitClient(folder, ['add', '.'])
  await gitClient(folder, [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.com',
    'commit',
    '-qm',
    'x',
  ])
  await expect(gitClient(folder, ['push', '-q', 'origin', 'HEAD'])).rejects.toThrow()
  await set({ receive_max_input_size: null })
  await gitClient(folder, ['push', '-q', 'origin', 'HEAD'])
})

test('wiki pages and snippets are no larger than is wanted', async () => {
  const { id } = await project()
  await set({ wiki_page_max_content_bytes: 10, snippet_size_limit: 10 })
  const content = 'x'.repeat(11)
  expect((await ana.post(`/projects/${id}/wikis`, { title: 'a', content })).status).toBe(400)
  expect((await ana.post(`/projects/${id}/wikis`, { title: 'a', content: 'x' })).status).toBe(201)
  const snippet = { title: 's', visibility: 'private', file_name: 'a' }
  expect((await ana.post('/snippets', { ...snippet, content })).status).toBe(400)
  expect((await ana.post('/snippets', { ...snippet, content: 'x' })).status).toBe(201)
})

test('the counts leave out what is being deleted', async () => {
  const numbers = async () => {
    const { body } = await root.get('/application/statistics')
    return Object.fromEntries(
      Object.entries(body).map(([name, text]) => [name, Number(String(text).replaceAll(',', ''))]),
    )
  }
  const first = await numbers()
  const made = await project()
  const group = await createGroup(ana, 'counted')
  await ana.post(`/projects/${made.id}/issues`, { title: 'one' })
  await ana.post(`/projects/${made.id}/milestones`, { title: 'one' })
  const user = await world.user('counted-user')
  await root.post(`/users/${user.id}/block`)
  const more = (by: Record<string, number>) =>
    Object.fromEntries(
      Object.entries(first).map(([name, number]) => [name, number + (by[name] ?? 0)]),
    )
  const users = { users: 1 }
  const rest = { projects: 1, groups: 1, issues: 1, milestones: 1 }
  expect(await numbers()).toEqual(more({ ...users, ...rest }))
  await ana.delete(`/projects/${made.id}`)
  await ana.delete(`/groups/${group.id}`)
  const left = await numbers()
  expect([left.projects, left.groups]).toEqual([first.projects, first.groups])
})
