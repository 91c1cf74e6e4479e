import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { followConfirmation } from '../../../src/identity/users/addresses/confirm-address.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let owner: Caller
let maintainer: Caller
let stranger: Caller
let groupId: number
let projectId: number

beforeAll(async () => {
  root = world.root
  owner = await world.user('owner')
  maintainer = await world.user('maintainer')
  stranger = await world.user('stranger')
  groupId = (await createGroup(owner, 'g')).id
  projectId = (await createProject(owner, 'p', { namespace_id: groupId })).id
  await owner.post(`/groups/${groupId}/members`, { user_id: maintainer.id, access_level: 40 })
})

describe('of the instance', () => {
  test('are made with generated names, and listed newest first', async () => {
    const one = await root.post('/service_accounts')
    expect(one.status).toBe(201)
    expect(one.body).toEqual({
      id: one.body.id,
      username: expect.stringMatching(/^service_account_[0-9a-f]{32}$/),
      name: 'Service account user',
      email: `${one.body.username}@noreply.127.0.0.1`,
    })
    const two = await root.post('/service_accounts', { name: 'Robot', username: 'robot-1' })
    const { email: _, ...brief } = two.body
    expect((await root.get('/service_accounts')).body[0]).toEqual(brief)
    expect((await root.get('/service_accounts?order_by=username&sort=asc')).body).toHaveLength(2)
    expect((await owner.post('/service_accounts')).status).toBe(403)
    expect((await world.nobody.get('/service_accounts')).status).toBe(401)
    const user = (await root.get(`/users/${two.body.id}`)).body
    expect(user).toMatchObject({ bot: true, external: true })
  })
  test('refuse taken names in their own words', async () => {
    const name = await root.post('/service_accounts', { username: 'owner' })
    expect([name.status, name.body]).toEqual([
      400,
      { message: '400 Bad request - Username has already been taken' },
    ])
    const mail = await root.post('/service_accounts', { email: 'owner@example.com' })
    expect(mail.body.message).toBe('400 Bad request - Email has already been taken')
    const made = (await root.post('/service_accounts')).body
    const patch = await root.patch(`/service_accounts/${made.id}`, { username: 'owner' })
    expect(patch.body.message).toBe('400 Bad request - Username has already been taken')
    expect((await root.patch(`/service_accounts/${made.id}`, { name: 'New' })).body.name).toBe(
      'New',
    )
    expect((await root.patch('/service_accounts/99999', {})).body).toEqual({
      message: '404 Not found',
    })
    const human = await root.patch(`/service_accounts/${owner.id}`, { name: 'x' })
    expect(human.body.message).toBe('400 Bad request - User is not a service account')
  })
})

describe.each(['groups', 'projects'] as const)('of %s', (kind) => {
  const base = () => `/${kind}/${kind === 'groups' ? groupId : projectId}/service_accounts`
  test('are made, changed and deleted by whoever may', async () => {
    const made = await owner.post(base(), { name: 'Robot' })
    expect(made.status).toBe(201)
    const sourceId = kind === 'groups' ? groupId : projectId
    const prefix = `service_account_${kind.slice(0, -1)}_${sourceId}_`
    expect(made.body.username).toMatch(new RegExp(`^${prefix}[0-9a-f]{32}$`))
    expect((await owner.get(base())).body).toEqual([made.body])
    const one = `${base()}/${made.body.id}`
    expect((await owner.patch(one, { username: `renamed-${kind}` })).body.username).toBe(
      `renamed-${kind}`,
    )
    const taken = await owner.patch(one, { username: 'owner' })
    expect([taken.status, taken.body]).toEqual([
      400,
      { message: 'Username has already been taken' },
    ])
    expect((await owner.patch(`${base()}/${owner.id}`, { name: 'x' })).body).toEqual({
      message: '404 User Not Found',
    })
    expect((await stranger.get(base())).status).toBe(404)
    expect((await world.nobody.get(base())).status).toBe(401)
    expect((await maintainer.get(base())).status).toBe(kind === 'groups' ? 403 : 200)
    const old = { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' }
    expect((await owner.delete(one, undefined, { headers: old })).status).toBe(412)
    expect((await owner.delete(one)).status).toBe(204)
    expect((await owner.get(base())).body).toEqual([])
  })
  test('have tokens', async () => {
    const account = (await owner.post(base())).body
    const path = `${base()}/${account.id}/personal_access_tokens`
    const made = await owner.post(path, { name: 't', scopes: ['api'] })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ user_id: account.id, expires_at: '2027-05-04', active: true })
    expect((await world.as(made.body.token).get('/user')).body.id).toBe(account.id)
    const late = await owner.post(path, { name: 't', scopes: ['api'], expires_at: '2028-01-01' })
    expect([late.status, late.body]).toEqual([
      422,
      { message: 'Expires at must be before 2027-05-04' },
    ])
    expect((await owner.get(`${path}?state=nope`)).body.error).toBe(
      'state does not have a valid value',
    )
    const rotated = await owner.post(`${path}/${made.body.id}/rotate`)
    expect([rotated.status, rotated.body.name]).toEqual([200, 't'])
    expect((await owner.get(`${path}?revoked=true`)).body).toMatchObject([{ id: made.body.id }])
    expect((await owner.get(`${path}?state=active`)).body).toMatchObject([{ id: rotated.body.id }])
    expect((await owner.delete(`${path}/${rotated.body.id}`)).status).toBe(204)
    expect((await owner.delete(`${path}/${rotated.body.id}`)).status).toBe(400)
    expect((await owner.delete(`${path}/99999`)).body.message).toBe(
      '404 Personal Access Token Not Found',
    )
    expect((await owner.post(`${path}/99999/rotate`)).body.message).toBe(
      kind === 'groups' ? '404 Not Found' : '404 Personal Access Token Not Found',
    )
  })
})

test('accounts and bots go with their group, its projects and subgroups, and with them their tokens', async () => {
  const group = await createGroup(owner, 'gone')
  const below = await createGroup(owner, 'below', { parent_id: group.id })
  const project = await createProject(owner, 'p', { namespace_id: below.id })
  const made: { readonly userId: number; readonly token: string }[] = []
  for (const at of [`/groups/${group.id}`, `/groups/${below.id}`, `/projects/${project.id}`]) {
    const accounts = `${at}/service_accounts`
    const { body: account } = await owner.post(accounts)
    const tokens = `${accounts}/${account.id}/personal_access_tokens`
    const { body: own } = await owner.post(tokens, { name: 't', scopes: ['api'] })
    made.push({ userId: account.id, token: own.token })
    const input = { name: 'bot', scopes: ['api'], expires_at: '2026-06-01' }
    const { body: bot } = await owner.post(`${at}/access_tokens`, input)
    made.push({ userId: bot.user_id, token: bot.token })
  }
  const statuses = () =>
    Promise.all(made.map(async ({ token }) => (await world.as(token).get('/user')).status))
  expect(await statuses()).toEqual(made.map(() => 200))
  const others = (await owner.get(`/groups/${groupId}/service_accounts`)).body
  expect((await owner.delete(`/groups/${group.id}`)).status).toBe(202)
  await world.runTasks()
  expect(await statuses()).toEqual(made.map(() => 401))
  for (const { userId } of made) expect((await root.get(`/users/${userId}`)).status).toBe(404)
  expect(others).not.toEqual([])
  expect((await owner.get(`/groups/${groupId}/service_accounts`)).body).toEqual(others)
})

test('a custom address waits until its owner has followed the link', async () => {
  await world.ctx.settings.change(world.ctx.db, { email_confirmation_setting: 'hard' })
  const made = await owner.post(`/groups/${groupId}/service_accounts`, { email: 'bot@example.org' })
  expect(made.body).toMatchObject({
    email: expect.stringContaining('@noreply.'),
    unconfirmed_email: 'bot@example.org',
  })
  const outbox = join(world.folder, 'outbox')
  const mail = await expect
    .poll(() =>
      readdirSync(outbox)
        .map((name) => readFileSync(join(outbox, name), 'utf8'))
        .join(''),
    )
    .toContain('To: bot@example.org')
    .then(() =>
      readdirSync(outbox)
        .map((name) => readFileSync(join(outbox, name), 'utf8'))
        .join(''),
    )
  const text = mail.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const secret = /confirmation_token=([\w-]+)/.exec(text)?.[1] ?? ''
  await followConfirmation(world.ctx, secret)
  const list = (await owner.get(`/groups/${groupId}/service_accounts`)).body
  const account = list.find((one: { id: number }) => one.id === made.body.id)
  expect(account).toMatchObject({ email: 'bot@example.org' })
  expect(account).not.toHaveProperty('unconfirmed_email')
  await expect(followConfirmation(world.ctx, secret)).rejects.toMatchObject({ status: 400 })
  await world.ctx.settings.change(world.ctx.db, { email_confirmation_setting: 'off' })
})
