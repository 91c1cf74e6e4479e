import { beforeAll, expect, test } from 'vitest'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mel = useCaller(world, 'mel')
let bench: Bench
let fork: { id: number }
let at: string

const config = "x: {script: make, rules: [{if: '$CI_MERGE_REQUEST_IID'}]}\n"

beforeAll(async () => {
  bench = await openBench(world, ana, {})
  await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
  fork = (await mel.post(`/projects/${bench.project.id}/fork`)).body
  await world.runTasks()
  await push('topic', { 'a.txt': 'a' }, { start_branch: 'main' })
  const body = { source_branch: 'topic', target_branch: 'main', title: 'Take it' }
  const opened = await mel.post(`/projects/${fork.id}/merge_requests`, {
    ...body,
    target_project_id: bench.project.id,
  })
  expect(opened.status).toBe(201)
  at = `${bench.api}/${opened.body.iid}`
  await world.runTasks()
})

async function push(branch: string, files: Readonly<Record<string, string>>, more = {}) {
  const made = await mel.post(`/projects/${fork.id}/repository/commits`, {
    branch,
    commit_message: 'Change',
    actions: Object.entries(files).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    })),
    ...more,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  await world.runTasks()
}

async function runBy(project: number) {
  const { body } = await ana.get(`/projects/${project}/pipelines?source=merge_request_event`)
  const users = (body as { id: number }[]).map(async ({ id }) => {
    return (await ana.get(`/projects/${project}/pipelines/${id}`)).body.user.username
  })
  return await Promise.all(users)
}

test('what a stranger pushed does not run as whoever turns a merge request to another branch', async () => {
  await mel.put(`/projects/${fork.id}`, { builds_access_level: 'disabled' })
  await push('topic', { '.svc-ci.yml': config })
  bench.commit('b', { 'z.txt': 'z' })
  expect((await ana.put(at, { target_branch: 'b' })).body.target_branch).toBe('b')
  await world.runTasks()
  expect(await runBy(bench.project.id)).toEqual([])
  // Who asks for it knows what they do.
  expect((await ana.post(`${at}/pipelines`)).status).toBe(200)
  expect(await runBy(bench.project.id)).toEqual(['ana'])
})

test('what a stranger lends does not run as whoever rebases it or adds to it', async () => {
  await mel.put(`/projects/${fork.id}`, { builds_access_level: 'enabled' })
  await push('lent', { '.svc-ci.yml': config }, { start_branch: 'main' })
  const opened = await mel.post(`/projects/${fork.id}/merge_requests`, {
    ...{ source_branch: 'lent', target_branch: 'main', title: 'Lent' },
    ...{ target_project_id: bench.project.id, allow_collaboration: true },
  })
  const lent = `${bench.api}/${opened.body.iid}`
  await world.runTasks()
  const before = [await runBy(bench.project.id), await runBy(fork.id)]
  const head = async () => (await ana.get(lent)).body.sha
  const pushed = await head()
  bench.commit('main', { 'more.txt': 'more' })
  expect((await ana.put(`${lent}/rebase`)).status).toBe(202)
  await world.runTasks()
  const rebased = await head()
  expect(rebased).not.toBe(pushed)
  const file = { branch: 'lent', commit_message: 'Fix', content: 'x' }
  expect((await ana.post(`/projects/${fork.id}/repository/files/fix`, file)).status).toBe(201)
  await world.runTasks()
  expect(await head()).not.toBe(rebased)
  expect([await runBy(bench.project.id), await runBy(fork.id)]).toEqual(before)
  expect((await ana.post(`${lent}/pipelines`)).status).toBe(200)
  expect((await runBy(bench.project.id)).length).toBe((before[0]?.length ?? 0) + 1)
})
