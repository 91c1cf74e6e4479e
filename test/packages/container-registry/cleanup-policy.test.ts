import { beforeEach, expect, test } from 'vitest'
import { postponeRun } from '../../../src/packages/image-cleanup/queries.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, pushImage } from './push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const DAY_MS = 86_400_000
/** Schedules go by the clock, so that it only moves on here. */
let start = Date.parse('2026-05-04T10:00:00.000Z')

beforeEach(() => {
  start += 100 * DAY_MS
  world.setNow(new Date(start).toISOString())
})

/** The moment so many days after the test began. */
const after = (days: number) => new Date(start + days * DAY_MS).toISOString()
async function runAt(days: number) {
  world.setNow(after(days))
  await world.runTasks()
}

const set = (id: number, values: object) =>
  ana.put(`/projects/${id}`, { container_expiration_policy_attributes: values })
const policyOf = async (id: number) =>
  (await ana.get(`/projects/${id}`)).body.container_expiration_policy

async function newProject(path: string): Promise<number> {
  return (await ana.post('/projects', { name: path })).body.id
}

test.each([
  ['1d', 1],
  ['7d', 7],
  ['14d', 14],
  ['1month', 30],
  ['3month', 90],
])(
  'a policy that is turned on with the cadence %s runs first %d days later',
  async (cadence, days) => {
    const id = await newProject(`every-${cadence}`)
    const { body } = await set(id, { enabled: true, cadence })
    expect(body.container_expiration_policy.next_run_at).toBe(after(days))
    const off = await set(id, { enabled: false })
    expect(off.body.container_expiration_policy.next_run_at).toBeNull()
  },
)

test('a policy that a project is made with has its date at once', async () => {
  const policy = { enabled: true, cadence: '7d' }
  const { body } = await ana.post('/projects', {
    name: 'tidied-early',
    container_expiration_policy_attributes: policy,
  })
  expect(body.container_expiration_policy).toMatchObject({ ...policy, next_run_at: after(7) })
})

test('a policy runs as soon as its cadence says by now, and at no date while it is off', async () => {
  const id = await newProject('hurried')
  await set(id, { enabled: true, cadence: '3month' })
  await world.runTasks()
  expect((await policyOf(id)).next_run_at).toBe(after(90))
  await set(id, { cadence: '7d' })
  await runAt(1)
  expect((await policyOf(id)).next_run_at).toBe(after(7))
  await set(id, { keep_n: 5 })
  await runAt(3)
  expect((await policyOf(id)).next_run_at).toBe(after(7))
  await set(id, { cadence: '14d' })
  await runAt(4)
  expect((await policyOf(id)).next_run_at).toBe(after(7))
  await set(id, { enabled: false })
  await runAt(5)
  expect((await policyOf(id)).next_run_at).toBeNull()
})

test('a policy that is turned off while it runs has no date again', async () => {
  const id = await newProject('stopped')
  await set(id, { enabled: true, cadence: '1d' })
  await set(id, { enabled: false })
  await postponeRun(world.ctx.db, id, { due: after(1), next: after(2) })
  await set(id, { enabled: true, cadence: '7d' })
  await postponeRun(world.ctx.db, id, { due: after(1), next: after(2) })
  expect((await policyOf(id)).next_run_at).toBe(after(7))
})

test('a policy leaves tags that a rule protects, and those of other projects', async () => {
  const id = await newProject('tidy')
  await ana.post(`/projects/${id}/registry/protection/tag/rules`, {
    tag_name_pattern: '^v',
    minimum_access_level_for_push: 'owner',
    minimum_access_level_for_delete: 'owner',
  })
  await newProject('untidy')
  for (const tag of ['v1', 'dev1', 'dev2', 'latest']) {
    await pushImage(world, ana, 'ana/tidy', tag)
    await pushImage(world, ana, 'ana/untidy', tag)
  }
  await set(id, { enabled: true, cadence: '1d', keep_n: null, older_than: null, name_regex: '.*' })
  await world.runTasks()
  await runAt(1)
  const tags = async (name: string) =>
    (await askRegistry(world, ana, 'GET', `ana/${name}/tags/list`)).body.tags
  expect(await tags('tidy')).toEqual(['latest', 'v1'])
  expect(await tags('untidy')).toEqual(['dev1', 'dev2', 'latest', 'v1'])
  expect((await policyOf(id)).next_run_at).toBe(after(2))
})

test.each([
  ['a cadence', { cadence: '2d' }],
  ['a number to keep', { keep_n: 3 }],
  ['an age', { older_than: '1d' }],
  ['a pattern', { name_regex: '(' }],
  ['a pattern to keep', { name_regex_keep: '[' }],
  ['a pattern of 256', { name_regex: 'a'.repeat(256) }],
])('a policy refuses %s that is none, and stays as it was', async (what, values) => {
  const id = await newProject(`refusing ${what}`.replaceAll(' ', '-'))
  const before = await policyOf(id)
  expect((await set(id, values)).status).toBe(400)
  expect(await policyOf(id)).toEqual(before)
})
