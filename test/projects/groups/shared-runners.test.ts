import { expect, test } from 'vitest'
import { addCiPlace, startPipeline } from '../../support/ci.ts'
import { TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

async function group(more: Record<string, unknown> = {}) {
  count += 1
  const reply = await ana.post('/groups', { name: `G${count}`, path: `g${count}`, ...more })
  return { ...reply.body, status: reply.status, at: `/groups/${reply.body.id}` }
}

async function project(namespace_id: number, more: Record<string, unknown> = {}) {
  count += 1
  const reply = await ana.post('/projects', { name: `p${count}`, namespace_id, ...more })
  return { ...reply.body, status: reply.status, at: `/projects/${reply.body.id}` }
}

const change = (at: string, shared_runners_setting: string) =>
  ana.put(at, { shared_runners_setting })
const settingOf = async (at: string) => (await ana.get(at)).body.shared_runners_setting
const usesThem = async (at: string) => (await ana.get(at)).body.shared_runners_enabled

test('switched off for good, all below is switched off, and stays', async () => {
  const top = await group()
  const sub = await group({ parent_id: top.id })
  const [one, deep] = [await project(top.id), await project(sub.id)]
  expect(one.shared_runners_enabled).toBe(true)
  expect((await change(top.at, 'disabled_and_unoverridable')).status).toBe(200)
  expect(await settingOf(sub.at)).toBe('disabled_and_unoverridable')
  expect([await usesThem(one.at), await usesThem(deep.at)]).toEqual([false, false])

  const text = 'cannot be enabled because parent group does not allow it'
  const refused = await ana.put(deep.at, { shared_runners_enabled: true, name: 'other' })
  expect([refused.status, refused.body]).toEqual([
    400,
    { message: { shared_runners_enabled: [text] } },
  ])
  expect((await ana.put(deep.at, { shared_runners_enabled: false })).status).toBe(200)
  expect((await project(sub.id, { shared_runners_enabled: true })).status).toBe(400)
  for (const setting of ['enabled', 'disabled_and_overridable']) {
    expect((await change(sub.at, setting)).status).toBe(400)
    expect((await group({ parent_id: sub.id, shared_runners_setting: setting })).status).toBe(400)
  }
  const below = await group({ parent_id: sub.id })
  expect(below.shared_runners_setting).toBe('disabled_and_unoverridable')
  expect((await project(below.id)).shared_runners_enabled).toBe(false)

  await change(top.at, 'enabled')
  expect(await settingOf(sub.at)).toBe('disabled_and_unoverridable')
  expect(await usesThem(one.at)).toBe(false)
  expect((await ana.put(one.at, { shared_runners_enabled: true })).status).toBe(200)
})

test.each(['disabled_and_overridable', 'disabled_with_override'])(
  '%s: off until a group or project below says otherwise',
  async (setting) => {
    const top = await group()
    const sub = await group({ parent_id: top.id })
    const strict = await group({
      parent_id: top.id,
      shared_runners_setting: 'disabled_and_unoverridable',
    })
    const one = await project(sub.id)
    const reply = await change(top.at, setting)
    expect(reply.body.shared_runners_setting).toBe('disabled_and_overridable')
    expect(await settingOf(sub.at)).toBe('disabled_and_overridable')
    expect(await settingOf(strict.at)).toBe('disabled_and_unoverridable')
    expect(await usesThem(one.at)).toBe(false)
    expect((await project(sub.id)).shared_runners_enabled).toBe(false)
    expect((await project(sub.id, { shared_runners_enabled: true })).shared_runners_enabled).toBe(
      true,
    )
    expect((await ana.put(one.at, { shared_runners_enabled: true })).status).toBe(200)
    expect((await change(sub.at, 'enabled')).status).toBe(200)
    expect((await project(sub.id)).shared_runners_enabled).toBe(true)
    expect(await usesThem(one.at)).toBe(true)
  },
)

test('what moves into such a group follows it', async () => {
  const strict = await group({ shared_runners_setting: 'disabled_and_unoverridable' })
  const loose = await group({ shared_runners_setting: 'disabled_and_overridable' })
  const [moved, mild] = [await group(), await group()]
  const [inside, lone] = [await project(moved.id), await project(mild.id)]
  await ana.post(`${moved.at}/transfer`, { group_id: strict.id })
  expect(await settingOf(moved.at)).toBe('disabled_and_unoverridable')
  expect(await usesThem(inside.at)).toBe(false)
  await ana.put(`${lone.at}/transfer`, { namespace: strict.id })
  expect(await usesThem(lone.at)).toBe(false)
  await ana.post(`${mild.at}/transfer`, { group_id: loose.id })
  expect(await settingOf(mild.at)).toBe('disabled_and_overridable')
})

test('a runner of the instance takes no jobs from there', async () => {
  const place = await addCiPlace(world, ana, 'x: {script: make}')
  await startPipeline(place)
  const { body } = await world.root.post('/user/runners', { runner_type: 'instance_type' })
  const runner = new TestRunner(world.url, body.token)
  const team = await group()
  await ana.put(`${place.path}/transfer`, { namespace: team.id })
  await change(team.at, 'disabled_and_overridable')
  expect(await runner.request()).toBeUndefined()
  await ana.put(place.path, { shared_runners_enabled: true })
  expect(await runner.request()).toBeDefined()
})
