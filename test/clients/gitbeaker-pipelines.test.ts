import { Gitlab } from '@gitbeaker/rest'
import { expect, test } from 'vitest'
import { commitFiles } from '../support/fast-import.ts'
import { addProject } from '../support/project.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

test('@gitbeaker/rest, unchanged, runs, reads, cancels and retries pipelines', async () => {
  const ana = await world.user('ana')
  const api = new Gitlab({ host: world.url, token: ana.token ?? '' })
  const project = await addProject(world, ana, 'basic', { path: 'beaten' })
  const { id } = project
  const config = 'one: {script: a}\ntwo: {script: b, when: manual}\n'
  commitFiles(project, { files: { '.gitlab-ci.yml': config } })

  const variables = [{ key: 'A', value: 'b' }]
  const made = await api.Pipelines.create(id, 'main', { variables })
  expect(made).toMatchObject({ ref: 'main', source: 'api', status: 'pending' })
  expect((await api.Pipelines.all(id)).map((one) => one.id)).toEqual([made.id])
  expect(await api.Pipelines.allVariables(id, made.id)).toMatchObject([{ key: 'A', value: 'b' }])
  const jobs = await api.Jobs.all(id, { pipelineId: made.id })
  expect(jobs.map((job) => job.name)).toEqual(['two', 'one'])
  expect(await api.Jobs.play(id, jobs[0]?.id ?? 0)).toMatchObject({ status: 'pending' })
  expect(await api.Pipelines.cancel(id, made.id)).toMatchObject({ status: 'canceled' })
  expect(await api.Pipelines.retry(id, made.id)).toMatchObject({ status: 'pending' })

  const trigger = await api.PipelineTriggerTokens.create(id, 'from outside')
  expect((await api.PipelineTriggerTokens.all(id)).map((one) => one.id)).toEqual([trigger.id])
  const schedule = await api.PipelineSchedules.create(id, 'nightly', 'main', '0 3 * * *')
  expect(await api.PipelineSchedules.show(id, schedule.id)).toMatchObject({ cron: '0 3 * * *' })
  await api.PipelineSchedules.remove(id, schedule.id)
  await api.ProjectVariables.create(id, 'KEY', 'value')
  expect(await api.ProjectVariables.show(id, 'KEY')).toMatchObject({ value: 'value' })
  const secret = { content: new Blob(['secret']), filename: 'key.txt' }
  const file = await api.SecureFiles.create(id, 'key.txt', secret)
  expect(await api.SecureFiles.show(id, String(file.id))).toMatchObject({ name: 'key.txt' })
  await api.SecureFiles.remove(id, file.id)
  await api.Pipelines.remove(id, made.id)
  expect(await api.Pipelines.all(id)).toEqual([])
})
