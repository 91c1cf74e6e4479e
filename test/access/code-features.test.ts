import { beforeAll, expect, test } from 'vitest'
import { addProject, type TestProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { visibility: 'public' })
  await ana.post(`${project.api}/commits`, {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Add a secret',
    actions: [{ action: 'create', file_path: 'secret.txt', content: 'members only' }],
  })
  const opened = await ana.post(`/projects/${project.id}/merge_requests`, {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'Add a secret',
  })
  expect(opened.status).toBe(201)
})

const setCode = (level: string) =>
  ana.put(`/projects/${project.id}`, { repository_access_level: level })

test('whoever may not read the code of a public project cannot fork it', async () => {
  await setCode('private')
  expect((await stranger.get(`${project.api}/tree`)).status).toBe(403)
  expect((await stranger.post(`/projects/${project.id}/fork`, {})).status).toBe(403)
  await setCode('enabled')
  expect((await stranger.post(`/projects/${project.id}/fork`, { path: 'mine' })).status).toBe(201)
})

test('merge requests and pipelines are no more open than the code that they show', async () => {
  const requests = `/projects/${project.id}/merge_requests`
  const reads = [
    `${requests}/1`,
    `${requests}/1/diffs`,
    `${requests}/1/raw_diffs`,
    `${requests}/1/commits`,
    requests,
    `/projects/${project.id}/pipelines`,
  ]
  const everywhere = async (caller: Caller) =>
    (await caller.get('/merge_requests?scope=all')).body.map((one: { iid: number }) => one.iid)
  expect(await everywhere(stranger)).toEqual([1])
  await setCode('private')
  for (const path of reads) {
    expect((await stranger.get(path)).status, path).toBe(403)
    expect((await world.nobody.get(path)).status, path).toBe(401)
    expect((await ana.get(path)).status, path).toBe(200)
  }
  expect(await everywhere(stranger)).toEqual([])
  expect(await everywhere(ana)).toEqual([1])
  const events = await stranger.get(`/projects/${project.id}/events`)
  expect(events.body.map((one: { target_type: string }) => one.target_type)).not.toContain(
    'MergeRequest',
  )
  await setCode('disabled')
  for (const path of reads) expect((await ana.get(path)).status, path).toBe(403)
  await setCode('enabled')
  expect((await stranger.get(`${requests}/1/diffs`)).status).toBe(200)
})
