import { expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

test('labels count the issues and merge requests that the caller sees', async () => {
  const ana = await world.user('ana')
  const project = await createProject(ana, 'demo', { visibility: 'public' })
  const issues = `/projects/${project.id}/issues`
  await ana.post(issues, { title: 'one', labels: 'bug' })
  await ana.post(issues, { title: 'two', labels: 'bug', confidential: true })
  await ana.post(issues, { title: 'three', labels: 'bug' })
  await ana.put(`${issues}/3`, { state_event: 'close' })
  const labels = `/projects/${project.id}/labels`
  const counts = { closed_issues_count: 1, open_merge_requests_count: 0 }
  expect((await ana.get(`${labels}?with_counts=true`)).body).toMatchObject([
    { name: 'bug', open_issues_count: 2, ...counts },
  ])
  expect((await world.nobody.get(`${labels}?with_counts=true`)).body).toMatchObject([
    { name: 'bug', open_issues_count: 1, ...counts },
  ])
  expect((await ana.get(labels)).body[0]).not.toHaveProperty('open_issues_count')
})
