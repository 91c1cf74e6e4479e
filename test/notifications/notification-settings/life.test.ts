import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let ana: Caller
let count = 0

beforeAll(async () => {
  ana = await world.user('ana')
})

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
const untold = Object.fromEntries(
  events.map((event) => [event, /^(failed|fixed)_pipeline$/.test(event) ? true : null]),
)

describe.each(['', 'groups', 'projects'] as const)('notification settings of %j', (kind) => {
  let at: string
  const names = kind === 'groups' ? [...events, 'new_epic'] : events
  const whole = kind === 'groups' ? { ...untold, new_epic: null } : untold
  const unset = kind === '' ? 'participating' : 'global'

  beforeEach(async () => {
    count += 1
    if (kind === '') {
      ana = await world.user(`ana${count}`)
      at = '/notification_settings'
      return
    }
    const { body } = await ana.post(`/${kind}`, { name: `n${count}`, path: `n${count}` })
    at = `/${kind}/${body.id}/notification_settings`
  })

  test('know every event, each chosen and refused alone', async () => {
    expect((await ana.get(at)).body.level).toBe(unset)
    const custom = (await ana.put(at, { level: 'custom' })).body
    expect([custom.level, custom.events]).toEqual(['custom', whole])
    for (const event of names) {
      expect((await ana.put(at, { [event]: true })).body.events).toMatchObject({ [event]: true })
      const { body } = await ana.put(at, { [event]: false })
      expect([event, body.level, body.events[event]]).toEqual([event, 'custom', false])
    }
    const { body } = await ana.get(at)
    expect(body.events).toEqual(Object.fromEntries(names.map((event) => [event, false])))
  })

  test('take every level, tell events at custom alone, and keep them meanwhile', async () => {
    await ana.put(at, { level: 'custom', new_note: true, close_issue: false })
    for (const level of ['disabled', 'participating', 'watch', 'global', 'mention']) {
      const reply = await ana.put(at, { level })
      expect([reply.status, reply.body.level, reply.body.events]).toEqual([200, level, undefined])
      expect((await ana.get(at)).body).toEqual(reply.body)
    }
    const { body } = await ana.put(at, { level: 'custom' })
    expect(body.events).toEqual({ ...whole, new_note: true, close_issue: false })
  })

  test('are refused whole when a part of them is wrong', async () => {
    for (const body of [
      { level: 'loud', new_note: true },
      { level: 'Watch' },
      { level: 'watch', new_note: 'perhaps' },
    ]) {
      expect([body, (await ana.put(at, body)).status]).toEqual([body, 400])
    }
    expect((await ana.get(at)).body.level).toBe(unset)
  })

  test('take flags in words, as forms send them', async () => {
    await ana.call('PUT', at, undefined, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      raw: 'level=custom&new_note=1&new_issue=no&issue_due=true',
    })
    expect((await ana.get(at)).body.events).toMatchObject({
      new_note: true,
      new_issue: false,
      issue_due: true,
    })
  })

  test('are what they were before anything was said, by null', async () => {
    for (const chosen of [true, false]) {
      const said = Object.fromEntries(names.map((event) => [event, chosen]))
      await ana.put(at, { level: 'custom', ...said })
      const unsaid = Object.fromEntries(names.map((event) => [event, null]))
      const { body } = await ana.put(at, unsaid)
      expect([body.level, body.events]).toEqual(['custom', whole])
    }
  })

  test('are of each one alone', async () => {
    await ana.put(at, { level: 'watch' })
    if (kind !== '') {
      const path = at.replace('/notification_settings', '')
      await ana.put(path, { visibility: 'public' })
    }
    const other = await world.user(`other${count}`)
    expect((await other.get(at)).body.level).toBe(unset)
    await other.put(at, { level: 'disabled' })
    expect((await ana.get(at)).body.level).toBe('watch')
  })
})

test('whoever may read a place may set what they hear of it, member or not', async () => {
  const { id } = await createProject(ana, 'open', { visibility: 'public' })
  const at = `/projects/${id}/notification_settings`
  const passer = await world.user('passer')
  expect((await passer.put(at, { level: 'watch' })).body).toEqual({ level: 'watch' })
  expect((await world.nobody.get(at)).status).toBe(401)
  await ana.put(`/projects/${id}`, { visibility: 'private' })
  expect((await passer.get(at)).status).toBe(404)
  expect((await passer.put(at, { level: 'disabled' })).status).toBe(404)
})

test('the address is told, and goes back to the first by an empty one', async () => {
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
