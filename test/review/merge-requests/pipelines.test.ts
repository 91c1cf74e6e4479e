import { expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')

const config = `
check:
  script: [echo]
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
`

test('a merge request runs a pipeline of the jobs that want one', async () => {
  const bench = await openBench(world, ana)
  await addMember(world, bench.project.id, guest.id, 20)
  const [file = ''] = world.ctx.config.vendor.ciFiles
  bench.commit('topic', { [file]: config })
  const { body: request } = await bench.open('topic')
  const at = `${bench.api}/1/pipelines`
  expect((await guest.post(at)).status).toBe(405)
  const made = await ana.post(at)
  expect([made.status, made.body.source, made.body.sha]).toEqual([
    200,
    'merge_request_event',
    request.sha,
  ])
  expect((await ana.post(at, { async: true })).status).toBe(202)
  expect((await ana.get(at)).body.map((one: { id: number }) => one.id)).toContain(made.body.id)
})

test('without such jobs there is nothing to run', async () => {
  const bench = await openBench(world, ana)
  bench.commit('topic', { a: 'a' })
  await bench.open('topic')
  const made = await ana.post(`${bench.api}/1/pipelines`)
  expect([made.status, Object.keys(made.body.message)]).toEqual([400, ['base']])
  await ana.put(`${bench.api}/1`, { state_event: 'close' })
  expect((await ana.post(`${bench.api}/1/pipelines`)).status).toBe(405)
})

test('between protected branches it has what they have for those alone who may run on both', async () => {
  const bench = await openBench(world, ana)
  const dan = await world.user('dan')
  await addMember(world, bench.project.id, dan.id, 30)
  const [file = ''] = world.ctx.config.vendor.ciFiles
  bench.commit('release', { [file]: `${config}  when: manual\n` })
  const path = `/projects/${bench.project.id}`
  for (const name of ['main', 'release']) {
    expect((await ana.post(`${path}/protected_branches`, { name })).status).toBe(201)
  }
  await bench.open('release', {}, dan)
  const isProtected = async (caller: Caller) => {
    const made = await caller.post(`${bench.api}/1/pipelines`)
    expect(made.status).toBe(200)
    const { db } = world.ctx
    const query = db.selectFrom('pipelines').select('protected').where('id', '=', made.body.id)
    return { id: made.body.id, flag: (await query.executeTakeFirstOrThrow()).protected }
  }
  expect((await isProtected(dan)).flag).toBe(0)
  const { id, flag } = await isProtected(ana)
  expect(flag).toBe(1)
  const [job] = (await ana.get(`${path}/pipelines/${id}/jobs`)).body
  expect((await dan.post(`${path}/jobs/${job.id}/play`)).status).toBe(403)
  expect((await dan.post(`${path}/pipelines/${id}/cancel`)).status).toBe(403)
  expect((await ana.post(`${path}/jobs/${job.id}/play`)).status).toBe(200)
})

test('a rebase with skip_ci starts no pipeline of its branch, one without does', async () => {
  const bench = await openBench(world, ana)
  const [file = ''] = world.ctx.config.vendor.ciFiles
  bench.commit('main', { [file]: 'check: {script: [echo]}\n' })
  bench.commit('topic', { a: 'a' })
  await bench.open('topic')
  const pipelines = `/projects/${bench.project.id}/pipelines?ref=topic`
  const states = async () =>
    (await ana.get(pipelines)).body.map((one: { status: string }) => one.status)
  for (const [body, found] of [
    [{ skip_ci: true }, ['skipped']],
    [{}, ['pending', 'skipped']],
  ] as const) {
    bench.commit('main', { [`${found.length}.txt`]: 'more' })
    expect((await ana.put(`${bench.api}/1/rebase`, body)).status).toBe(202)
    expect((await bench.read(1)).body.merge_error).toBeNull()
    expect(await states()).toEqual(found)
  }
})
