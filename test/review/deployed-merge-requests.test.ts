import { beforeAll, expect, test } from 'vitest'
import { type Bench, openBench } from '../support/review.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench
let at: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
})

async function merged(branch: string): Promise<number> {
  bench.commit(branch, { [branch]: 'x\n' })
  const { body } = await bench.open(branch)
  expect((await ana.put(`${bench.api}/${body.iid}/merge`)).status).toBe(200)
  return body.iid
}

async function deploy(environment: string, time: string, status = 'success') {
  world.setNow(time)
  const sha = bench.project.git('rev-parse', 'main')
  const body = { environment, sha, ref: 'main', tag: false, status }
  const made = await ana.post(`${at}/deployments`, body)
  expect(made.status).toBe(201)
  await world.runTasks()
  return made.body
}

async function found(query: string): Promise<number[]> {
  const { status, body } = await ana.get(`${bench.api}?sort=asc&${query}`)
  expect(status).toBe(200)
  return body.map((one: { iid: number }) => one.iid)
}

const firstDeployed = async (iid: number) =>
  (await ana.get(`${bench.api}/${iid}`)).body.first_deployed_to_production_at

test('merge requests are found by where and when they were deployed, and show when they reached production', async () => {
  const one = await merged('one')
  await deploy('staging', '2026-05-05T10:00:00.000Z')
  expect(await firstDeployed(one)).toBeNull()
  const two = await merged('two')
  await deploy('production', '2026-05-06T10:00:00.000Z', 'failed')
  expect(await found('environment=production')).toEqual([])
  const live = await deploy('production', '2026-05-07T10:00:00.000Z', 'running')
  expect(await found('environment=production')).toEqual([])
  await ana.put(`${at}/deployments/${live.id}`, { status: 'success' })
  await world.runTasks()
  const three = await merged('three')
  await deploy('production', '2026-05-08T10:00:00.000Z')

  expect(await found('environment=staging')).toEqual([one])
  expect(await found('environment=production')).toEqual([one, two, three])
  expect(await found('environment=nowhere')).toEqual([])
  expect(await found('deployed_before=2026-05-06T00:00:00Z')).toEqual([one])
  expect(await found('deployed_after=2026-05-07T12:00:00Z')).toEqual([three])
  const between = 'deployed_after=2026-05-07T00:00:00Z&deployed_before=2026-05-07T23:00:00Z'
  expect(await found(`environment=production&${between}`)).toEqual([one, two])
  expect(await found('environment=production&per_page=1&page=2')).toEqual([two])
  const paged = await ana.get(`${bench.api}?environment=production&per_page=1`)
  expect(paged.headers.get('x-total')).toBe('3')
  expect(await firstDeployed(one)).toBe('2026-05-07T10:00:00.000Z')
  expect(await firstDeployed(three)).toBe('2026-05-08T10:00:00.000Z')
})
