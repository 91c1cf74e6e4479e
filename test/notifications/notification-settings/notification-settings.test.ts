import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { effectiveSetting } from '../../../src/notifications/notification-settings/effective.ts'
import { isNotified } from '../../../src/notifications/notification-settings/levels.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let groupId: number
let subgroupId: number
let projectId: number
beforeAll(async () => {
  groupId = (await createGroup(ana, 'g')).id
  subgroupId = (await createGroup(ana, 's', { parent_id: groupId })).id
  projectId = (await createProject(ana, 'p', { namespace_id: subgroupId })).id
})
let count = 0

const events = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'approver',
]
const defaults = Object.fromEntries(
  events.map((event) => [event, /^(failed|fixed)_pipeline$/.test(event) ? true : null]),
)

test('defaults are participating, and global below', async () => {
  expect((await ana.get('/notification_settings')).body).toEqual({
    level: 'participating',
    notification_email: 'ana@example.com',
  })
  expect((await ana.get(`/groups/${groupId}/notification_settings`)).body).toEqual({
    level: 'global',
  })
  expect((await ana.get(`/projects/${projectId}/notification_settings`)).body).toEqual({
    level: 'global',
  })
})

test('no sign-in is 401 before wrong parameters are 400, and those before 404', async () => {
  const stranger = await world.user('stranger')
  expect(
    (await world.nobody.put(`/groups/${groupId}/notification_settings`, { new_note: 'x' })).status,
  ).toBe(401)
  expect(
    (await stranger.put(`/groups/${groupId}/notification_settings`, { new_note: 'x' })).status,
  ).toBe(400)
  expect((await stranger.get(`/groups/${groupId}/notification_settings`)).status).toBe(404)
})

test('events show at the level custom only, and change no level', async () => {
  const path = `/projects/${projectId}/notification_settings`
  expect((await ana.put(path, { new_note: true })).body).toEqual({ level: 'global' })
  const custom = (await ana.put(path, { level: 'custom', new_issue: false })).body
  expect(custom.level).toBe('custom')
  expect(custom.events).toMatchObject({
    new_note: true,
    new_issue: false,
    new_release: null,
    failed_pipeline: true,
    fixed_pipeline: true,
    success_pipeline: null,
  })
  expect(custom.events).not.toHaveProperty('new_epic')
  const ofGroup = await ana.put(`/groups/${groupId}/notification_settings`, { level: 'custom' })
  expect(ofGroup.body.events).toHaveProperty('new_epic', null)
  const bad = await ana.put(path, { level: 'loud' })
  expect([bad.status, bad.body]).toEqual([400, { message: "'loud' is not a valid level" }])
})

test('mail goes only to an address that was confirmed', async () => {
  const other = { notification_email: 'other@example.org' }
  expect((await ana.put('/notification_settings', other)).status).toBe(400)
  await world.root.post(`/users/${ana.id}/emails`, {
    email: other.notification_email,
    skip_confirmation: true,
  })
  expect((await ana.put('/notification_settings', other)).body).toMatchObject(other)
})

test('the level global means the level of the place above', async () => {
  const ben = await world.user('ben')
  const at = async () => {
    const place = { projectId, namespaceId: subgroupId }
    return (await effectiveSetting(world.ctx.db, ben.id, place)).level
  }
  const { db } = world.ctx
  const put = (
    source_type: 'instance' | 'group' | 'project',
    source_id: number,
    level: 'watch' | 'mention' | 'disabled' | 'global',
  ) =>
    db
      .insertInto('notification_settings')
      .values({ user_id: ben.id, source_type, source_id, level, updated_at: world.ctx.now() })
      .execute()
  expect(await at()).toBe('participating')
  await put('instance', 0, 'mention')
  expect(await at()).toBe('mention')
  await put('group', groupId, 'watch')
  expect(await at()).toBe('watch')
  await put('group', subgroupId, 'global')
  expect(await at()).toBe('watch')
  await put('project', projectId, 'disabled')
  expect(await at()).toBe('disabled')
})

describe('who gets mail', () => {
  const nothing = { mentioned: false, participating: false }
  test.each([
    ['disabled', 'new_note', { mentioned: true, participating: true }, false],
    ['mention', 'new_note', { mentioned: false, participating: true }, false],
    ['mention', 'new_note', { mentioned: true, participating: false }, true],
    ['participating', 'new_note', nothing, false],
    ['participating', 'new_note', { mentioned: false, participating: true }, true],
    ['watch', 'new_note', nothing, true],
    ['watch', 'push_to_merge_request', nothing, false],
    ['watch', 'issue_due', nothing, false],
    ['watch', 'success_pipeline', nothing, false],
    ['watch', 'approver', nothing, false],
    ['custom', 'failed_pipeline', nothing, true],
    ['custom', 'new_note', nothing, false],
  ] as const)('%s, %s', (level, event, how, expected) => {
    expect(isNotified(level, {}, event, how)).toBe(expected)
  })
  test('the level custom follows the choice of each event', () => {
    expect(isNotified('custom', { new_note: true }, 'new_note', nothing)).toBe(true)
    expect(isNotified('custom', { failed_pipeline: false }, 'failed_pipeline', nothing)).toBe(false)
  })
})

describe.each(['', 'groups', 'projects'] as const)('notification settings of %j', (kind) => {
  let by: Caller
  let at: string
  const names = kind === 'groups' ? [...events, 'new_epic'] : events
  const whole = kind === 'groups' ? { ...defaults, new_epic: null } : defaults
  const unset = kind === '' ? 'participating' : 'global'

  beforeEach(async () => {
    count += 1
    if (kind === '') {
      by = await world.user(`by${count}`)
      at = '/notification_settings'
      return
    }
    by = ana
    const { body } = await by.post(`/${kind}`, { name: `n${count}`, path: `n${count}` })
    at = `/${kind}/${body.id}/notification_settings`
  })

  test('have every event, each switched on and off alone', async () => {
    expect((await by.get(at)).body.level).toBe(unset)
    const custom = (await by.put(at, { level: 'custom' })).body
    expect([custom.level, custom.events]).toEqual(['custom', whole])
    for (const event of names) {
      expect((await by.put(at, { [event]: true })).body.events).toMatchObject({ [event]: true })
      const { body } = await by.put(at, { [event]: false })
      expect([event, body.level, body.events[event]]).toEqual([event, 'custom', false])
    }
    const { body } = await by.get(at)
    expect(body.events).toEqual(Object.fromEntries(names.map((event) => [event, false])))
  })

  test('take every level, and keep the events, which show at the level custom only', async () => {
    await by.put(at, { level: 'custom', new_note: true, close_issue: false })
    for (const level of ['disabled', 'participating', 'watch', 'global', 'mention']) {
      const reply = await by.put(at, { level })
      expect([reply.status, reply.body.level, reply.body.events]).toEqual([200, level, undefined])
      expect((await by.get(at)).body).toEqual(reply.body)
    }
    const { body } = await by.put(at, { level: 'custom' })
    expect(body.events).toEqual({ ...whole, new_note: true, close_issue: false })
  })

  test('stay as they were when a part of the change is wrong', async () => {
    for (const body of [
      { level: 'loud', new_note: true },
      { level: 'Watch' },
      { level: 'watch', new_note: 'perhaps' },
    ]) {
      expect([body, (await by.put(at, body)).status]).toEqual([body, 400])
    }
    expect((await by.get(at)).body.level).toBe(unset)
  })

  test('take flags as forms send them', async () => {
    await by.call('PUT', at, undefined, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      raw: 'level=custom&new_note=1&new_issue=no&issue_due=true',
    })
    expect((await by.get(at)).body.events).toMatchObject({
      new_note: true,
      new_issue: false,
      issue_due: true,
    })
  })

  test('are reset by null', async () => {
    for (const chosen of [true, false]) {
      const choices = Object.fromEntries(names.map((event) => [event, chosen]))
      await by.put(at, { level: 'custom', ...choices })
      const reset = Object.fromEntries(names.map((event) => [event, null]))
      const { body } = await by.put(at, reset)
      expect([body.level, body.events]).toEqual(['custom', whole])
    }
  })

  test('are those of the caller only', async () => {
    await by.put(at, { level: 'watch' })
    if (kind !== '') {
      const path = at.replace('/notification_settings', '')
      await by.put(path, { visibility: 'public' })
    }
    const other = await world.user(`other${count}`)
    expect((await other.get(at)).body.level).toBe(unset)
    await other.put(at, { level: 'disabled' })
    expect((await by.get(at)).body.level).toBe('watch')
  })
})

test('everybody who may read a project has notification settings for it', async () => {
  const { id } = await createProject(ana, 'open', { visibility: 'public' })
  const at = `/projects/${id}/notification_settings`
  const passer = await world.user('passer')
  expect((await passer.put(at, { level: 'watch' })).body).toEqual({ level: 'watch' })
  expect((await world.nobody.get(at)).status).toBe(401)
  await ana.put(`/projects/${id}`, { visibility: 'private' })
  expect((await passer.get(at)).status).toBe(404)
  expect((await passer.put(at, { level: 'disabled' })).status).toBe(404)
})

test('the address is reset to the first one by an empty one', async () => {
  const bob = await world.user('bob')
  const second = 'bob@second.example'
  await world.root.post(`/users/${bob.id}/emails`, { email: second, skip_confirmation: true })
  const set = (notification_email: unknown) =>
    bob.put('/notification_settings', { notification_email })
  expect((await set(second)).body).toEqual({
    level: 'participating',
    notification_email: second,
  })
  const foreign = await set('ana@example.com')
  expect([foreign.status, foreign.body]).toEqual([
    400,
    { message: { notification_email: ['must be an email you have verified'] } },
  ])
  expect((await bob.get('/notification_settings')).body.notification_email).toBe(second)
  expect((await set('')).body.notification_email).toBe('bob@example.com')
})
