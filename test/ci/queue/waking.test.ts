import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { addCiPlace, type CiPlace, startJob, startPipeline } from '../../support/ci.ts'
import { TestRunner } from '../../support/runner.ts'
import { type Caller, openWorld, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

/** A project of its own with a job that waits, and a runner that cannot have it yet. */
async function stuck(given: { config?: string; runner: object; by?: Caller; instance?: boolean }) {
  const place = await addCiPlace(world, ana, given.config ?? 'x: {script: make, tags: [big]}')
  const kind = given.instance
    ? { runner_type: 'instance_type' }
    : { runner_type: 'project_type', project_id: place.project.id }
  const reply = await (given.by ?? ana).post('/user/runners', { ...kind, ...given.runner })
  expect(reply.status).toBe(201)
  const runner = new TestRunner(world.url, reply.body.token)
  return { place, id: reply.body.id as number, runner }
}

type Stuck = Awaited<ReturnType<typeof stuck>>
type Change = readonly [string, Parameters<typeof stuck>[0], (one: Stuck) => Promise<unknown>]

const untagged = 'x: {script: make}'
const changes: readonly Change[] = [
  ['is resumed', { runner: { tag_list: 'big', paused: true } }, edited({ paused: false })],
  ['gets the tag', { runner: { tag_list: 'other' } }, edited({ tag_list: 'big' })],
  [
    'takes jobs without tags',
    { config: untagged, runner: { tag_list: 'other', run_untagged: false } },
    edited({ run_untagged: true }),
  ],
  [
    'serves other refs than protected ones',
    {
      config: 'x: {script: make, tags: [big]}',
      runner: { tag_list: 'big', access_level: 'ref_protected' },
    },
    edited({ access_level: 'not_protected' }),
  ],
]

function edited(body: object) {
  return ({ id }: Stuck) => ana.put(`/runners/${id}`, body)
}

/** The runner got the answer that there is nothing, and asks again. */
async function waits(runner: TestRunner) {
  expect((await runner.ask()).status).toBe(204)
  const waiting = runner.ask({ last_update: runner.lastUpdate })
  let isOver = false
  void waiting.then(() => {
    isOver = true
  })
  // Until it has come, and was not answered.
  await sleep(300)
  return { waiting, isOver: () => isOver }
}

async function unprotect(place: CiPlace) {
  await ana.delete(`${place.path}/protected_branches/main`)
}

describe('a runner that waits', () => {
  test.each(changes)(
    'and %s has the job that waits for it at once',
    async (_what, given, change) => {
      const one = await stuck(given)
      await unprotect(one.place)
      await startPipeline(one.place)
      const { waiting, isOver } = await waits(one.runner)
      // One that is paused is not held.
      const isHeld = !('paused' in given.runner)
      if (isHeld) expect(isOver()).toBe(false)
      else expect((await waiting).status).toBe(204)
      await change(one)
      const answer = isHeld ? waiting : one.runner.ask({ last_update: one.runner.lastUpdate })
      expect((await answer).status).toBe(201)
    },
    20_000,
  )

  test('and is lent to the project has its job at once', async () => {
    const one = await stuck({ runner: { tag_list: 'big' } })
    const other = await addCiPlace(world, ana, 'x: {script: make, tags: [big]}')
    await startPipeline(other)
    const { waiting } = await waits(one.runner)
    await ana.post(`${other.path}/runners`, { runner_id: one.id })
    expect((await waiting).status).toBe(201)
  }, 20_000)

  test('has the job at once when the project lets runners of the instance in, or is unarchived', async () => {
    const one = await stuck({ runner: { tag_list: 'big' }, by: world.root, instance: true })
    await ana.put(one.place.path, { shared_runners_enabled: false })
    await startPipeline(one.place)
    const first = await waits(one.runner)
    await ana.put(one.place.path, { shared_runners_enabled: true })
    expect((await first.waiting).status).toBe(201)
    await startPipeline(one.place)
    await ana.post(`${one.place.path}/archive`)
    const second = await waits(one.runner)
    await ana.post(`${one.place.path}/unarchive`)
    expect((await second.waiting).status).toBe(201)
  }, 30_000)

  test('is not answered while no job waits, whatever else changes', async () => {
    const one = await stuck({ runner: { tag_list: 'never' } })
    // What the tests before left.
    await world.ctx.db.deleteFrom('ci_pending_jobs').execute()
    const { isOver } = await waits(one.runner)
    await ana.put(one.place.path, { description: 'anew' })
    // Longer than several such changes wait for one another.
    await sleep(1200)
    expect(isOver()).toBe(false)
  }, 20_000)
})

test('a stop waits neither for runners without a job nor for those who follow logs', async () => {
  const stopping = await openWorld({ drainTime: 20_000 })
  const bob = await stopping.user('bob')
  const place = await addCiPlace(stopping, bob, 'x: {script: make}')
  const { job } = await startJob(place)
  const log = await fetch(`${stopping.url}/api/v4${place.path}/jobs/${job.id}/trace/events`, {
    headers: { 'PRIVATE-TOKEN': bob.token ?? '' },
  })
  expect(log.status).toBe(200)
  const followed = log.text()
  expect((await place.runner.ask()).status).toBe(204)
  const polls = Array.from({ length: 5 }, () =>
    place.runner.ask({ last_update: place.runner.lastUpdate }),
  )
  await sleep(300)
  const begun = performance.now()
  await stopping.close()
  expect(performance.now() - begun).toBeLessThan(3000)
  for (const { status } of await Promise.all(polls)) expect(status).toBe(204)
  expect(await followed).not.toContain('event: end')
}, 60_000)
