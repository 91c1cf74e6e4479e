import { beforeAll, describe, expect, test } from 'vitest'
import { effectiveSetting } from '../../../src/notifications/notification-settings/effective.ts'
import { isNotified } from '../../../src/notifications/notification-settings/levels.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

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

test('the caller is asked for before parameters, parameters before the place', async () => {
  const stranger = await world.user('stranger')
  expect(
    (await world.nobody.put(`/groups/${groupId}/notification_settings`, { new_note: 'x' })).status,
  ).toBe(401)
  expect(
    (await stranger.put(`/groups/${groupId}/notification_settings`, { new_note: 'x' })).status,
  ).toBe(400)
  expect((await stranger.get(`/groups/${groupId}/notification_settings`)).status).toBe(404)
})

test('events show at custom only, and change no level', async () => {
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

test('global means: look further up', async () => {
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
  test('custom follows the choice', () => {
    expect(isNotified('custom', { new_note: true }, 'new_note', nothing)).toBe(true)
    expect(isNotified('custom', { failed_pipeline: false }, 'failed_pipeline', nothing)).toBe(false)
  })
})
