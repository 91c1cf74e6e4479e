import { expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addProject } from '../../support/project.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ jobLogRetention: 86_400_000 })
const ana = useCaller(world, 'ana')

test('old logs are removed, but not those of the newest success of a ref, nor of what still runs', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'logs' })
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  const runner = await addRunner(world, ana, project.id)
  const jobs: number[] = []
  for (const state of ['success', 'success', 'failed', 'running'] as const) {
    await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
    const job = await runner.request()
    if (!job) throw new Error('no job')
    if (state === 'running') await runner.append(job, 0, 'running\n')
    else await runner.finish(job, state, `${state}\n`)
    jobs.push(job.id)
  }
  await world.runTasks()
  const logs = async () =>
    await Promise.all(
      jobs.map(async (id) => (await ana.get(`/projects/${project.id}/jobs/${id}/trace`)).body),
    )
  expect(await logs()).toEqual(['success\n', 'success\n', 'failed\n', 'running\n'])
  world.setNow('2026-05-06T09:00:00.000Z')
  await world.runTasks()
  expect(await logs()).toEqual(['', 'success\n', '', 'running\n'])
  const [, , failed] = jobs
  expect((await ana.get(`/projects/${project.id}/jobs/${failed}`)).body.status).toBe('failed')
})
