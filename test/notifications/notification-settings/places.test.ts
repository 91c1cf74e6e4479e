import { beforeEach, describe, expect, test } from 'vitest'
import { effectiveSetting } from '../../../src/notifications/notification-settings/effective.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let ben: Caller
let count = 0
let top: number
let sub: number
let projectId: number
beforeEach(async () => {
  count += 1
  ben = await world.user(`ben${count}`)
  const path = `g${count}`
  top = (await createGroup(ana, path)).id
  sub = (await createGroup(ana, 's', { parent_id: top })).id
  projectId = (await createProject(ana, 'p', { namespace_id: sub })).id
})

const GLOBAL = '/notification_settings'
const ofGroup = (id: number) => `/groups/${id}/notification_settings`
const ofProject = (id: number) => `/projects/${id}/notification_settings`

describe('what counts in a project', () => {
  /** The level in force for ben, as mails follow it. */
  const level = async () =>
    (await effectiveSetting(world.ctx.db, ben.id, { projectId, namespaceId: sub })).level
  const put = async (path: string, to: string) => {
    const reply = await ben.put(path, { level: to })
    expect([reply.status, reply.body.level]).toEqual([200, to])
  }
  beforeEach(() => ana.post(`/groups/${top}/members`, { user_id: ben.id, access_level: 30 }))

  test.each(['disabled', 'mention', 'participating', 'watch', 'custom'])(
    'is %s of the nearest place that says more than global',
    async (wanted) => {
      const others = wanted === 'watch' ? 'disabled' : 'watch'
      await put(GLOBAL, wanted)
      expect(await level()).toBe(wanted)
      await put(GLOBAL, others)
      await put(ofGroup(top), wanted)
      expect(await level()).toBe(wanted)
      await put(ofGroup(top), others)
      await put(ofGroup(sub), wanted)
      expect(await level()).toBe(wanted)
      await put(ofGroup(sub), others)
      await put(ofProject(projectId), wanted)
      expect(await level()).toBe(wanted)
      await put(ofProject(projectId), 'global')
      expect(await level()).toBe(others)
    },
  )

  test('follows the project to another group', async () => {
    const other = (await createGroup(ana, `other${count}`)).id
    await ana.post(`/groups/${other}/members`, { user_id: ben.id, access_level: 30 })
    await put(ofGroup(sub), 'watch')
    await put(ofGroup(other), 'mention')
    const moved = await ana.put(`/projects/${projectId}/transfer`, { namespace: other })
    expect(moved.status).toBe(200)
    const at = { projectId, namespaceId: other }
    expect((await effectiveSetting(world.ctx.db, ben.id, at)).level).toBe('mention')
  })

  test('takes the events of the place whose level it takes', async () => {
    await ben.put(ofGroup(top), { level: 'custom', new_issue: true })
    await ben.put(ofProject(projectId), { new_release: true })
    const inForce = await effectiveSetting(world.ctx.db, ben.id, { projectId, namespaceId: sub })
    expect([inForce.level, inForce.events]).toEqual(['custom', { new_issue: true }])
  })

  test('is the same after others have chosen', async () => {
    await ana.put(ofProject(projectId), { level: 'disabled' })
    await ana.put(GLOBAL, { level: 'watch' })
    expect(await level()).toBe('participating')
  })
})

describe('who may read and set them', () => {
  const answers = async (by: Caller, path: string) => [
    (await by.get(path)).status,
    (await by.put(path, { level: 'watch' })).status,
  ]

  test.each([10, 15, 20, 30, 40, 50])('members of the level %i', async (level) => {
    await addMember(world, projectId, ben.id, level)
    expect(await answers(ben, ofProject(projectId))).toEqual([200, 200])
    await ana.post(`/groups/${top}/members`, { user_id: ben.id, access_level: level })
    expect(await answers(ben, ofGroup(sub))).toEqual([200, 200])
  })

  test('strangers where the place is open to them, and nobody never', async () => {
    const paths = [ofGroup(sub), ofProject(projectId)]
    for (const path of paths) {
      expect(await answers(ben, path)).toEqual([404, 404])
      expect(await answers(world.nobody, path)).toEqual([401, 401])
    }
    for (const path of [`/groups/${top}`, `/groups/${sub}`, `/projects/${projectId}`])
      expect((await ana.put(path, { visibility: 'public' })).status).toBe(200)
    for (const path of paths) {
      expect(await answers(ben, path)).toEqual([200, 200])
      expect(await answers(world.nobody, path)).toEqual([401, 401])
    }
    expect(await answers(world.nobody, GLOBAL)).toEqual([401, 401])
  })

  test('a token that only reads sets nothing', async () => {
    const reader = world.as(await world.token(ana.id, ['read_api']))
    for (const path of [GLOBAL, ofGroup(top), ofProject(projectId)])
      expect(await answers(reader, path)).toEqual([200, 403])
  })

  test('members of an archived project can still change their notification settings', async () => {
    await ana.post(`/projects/${projectId}/archive`)
    expect(await answers(ana, ofProject(projectId))).toEqual([200, 200])
  })

  test('by path as by number, and not in what is no such place', async () => {
    await ana.put(ofProject(projectId), { level: 'mention' })
    const path = encodeURIComponent(`g${count}/s/p`)
    expect((await ana.get(`/projects/${path}/notification_settings`)).body.level).toBe('mention')
    await ana.put(ofGroup(sub), { level: 'watch' })
    const group = encodeURIComponent(`g${count}/s`)
    expect((await ana.get(`/groups/${group}/notification_settings`)).body.level).toBe('watch')
    expect((await ana.get(`/groups/${path}/notification_settings`)).body).toEqual({
      message: '404 Group Not Found',
    })
    expect((await ana.get('/projects/99999/notification_settings')).body).toEqual({
      message: '404 Project Not Found',
    })
  })
})

describe('changes', () => {
  test('that say nothing change nothing', async () => {
    await ana.put(ofProject(projectId), { level: 'custom', new_note: true })
    const before = (await ana.get(ofProject(projectId))).body
    expect((await ana.put(ofProject(projectId), {})).body).toEqual(before)
    expect((await ana.put(ofProject(projectId), { unknown: true })).body).toEqual(before)
  })

  test('asked for at the same time are all kept', async () => {
    const path = ofGroup(top)
    await ana.put(path, { level: 'custom' })
    const flags = ['new_note', 'new_issue', 'close_issue', 'issue_due', 'moved_project']
    await Promise.all(flags.map((flag) => ana.put(path, { [flag]: true })))
    const { events } = (await ana.get(path)).body
    expect(flags.map((flag) => events[flag])).toEqual(flags.map(() => true))
  })

  test('of epics are of groups alone', async () => {
    await ana.put(ofProject(projectId), { level: 'custom', new_epic: true })
    const ofIt = (await ana.get(ofProject(projectId))).body
    expect(Object.keys(ofIt.events)).not.toContain('new_epic')
    await ana.put(ofGroup(top), { level: 'custom', new_epic: true })
    expect((await ana.get(ofGroup(top))).body.events.new_epic).toBe(true)
  })

  test('of pipelines that fail or are fixed are on until they are refused', async () => {
    const path = ofProject(projectId)
    const chosen = async (changes: object) => {
      const { events } = (await ana.put(path, { level: 'custom', ...changes })).body
      return [events.failed_pipeline, events.fixed_pipeline, events.success_pipeline]
    }
    expect(await chosen({})).toEqual([true, true, null])
    expect(await chosen({ failed_pipeline: false })).toEqual([false, true, null])
    expect(await chosen({ success_pipeline: true })).toEqual([false, true, true])
    expect(await chosen({ failed_pipeline: true })).toEqual([true, true, true])
  })
})
