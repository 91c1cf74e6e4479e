import { expect, test } from 'vitest'
import { addCiPlace, jobsByName, startPipeline } from '../../support/ci.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

// biome-ignore lint/suspicious/noTemplateCurlyInString: for the configuration to fill in
const input = '${{ job.inputs.i }}'
const link = JSON.stringify({ name: 'n', url: `https://example.com/${'$A'.repeat(90)}` })

test.each([
  [
    'the texts of its inputs grow',
    `a: {script: ['${input.repeat(3000)}'], inputs: {i: {default: ${'b'.repeat(9000)}}}}`,
  ],
  [
    'its release grows',
    `a: {script: make, variables: {A: ${'b'.repeat(10_000)}}, release: {tag_name: v1, assets: {links: [${`${link}, `.repeat(30)}]}}}`,
  ],
])(
  'a job that cannot be sent to a runner since %s fails, and holds up nobody',
  async (_why, job) => {
    const place = await addCiPlace(world, ana, `${job}\nb: {script: make}`)
    const pipeline = await startPipeline(place)
    const reply = await place.runner.ask()
    expect([reply.status, reply.body.job_info?.name]).toEqual([201, 'b'])
    expect((await jobsByName(place, pipeline)).a).toMatchObject({
      status: 'failed',
      failure_reason: 'data_integrity_failure',
    })
  },
)

test('a job whose commit is gone from the disk fails, and holds up nobody', async () => {
  const place = await addCiPlace(world, ana, 'a: {script: make}')
  const pipeline = await startPipeline(place)
  const sha = 'f'.repeat(40)
  await world.ctx.db.updateTable('pipelines').set({ sha }).where('id', '=', pipeline).execute()
  const next = await startPipeline(place)
  const job = await place.runner.request()
  expect(job?.job_info.pipeline_id).toBe(next)
  const { status } = await ana.get(`${place.path}/pipelines/${pipeline}`)
  expect(status).toBe(200)
})
