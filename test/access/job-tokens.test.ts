import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let from: TestProject
let open: TestProject
let token: string
let job: Caller

beforeAll(async () => {
  from = await addProject(world, ana, 'basic', { path: 'from' })
  open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
  commitFiles(from, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  await ana.post(`/projects/${from.id}/pipeline`, { ref: 'main' })
  const runner = await addRunner(world, ana, from.id)
  const given = await runner.request()
  if (!given) throw new Error('no job')
  token = given.token
  job = world.withHeader('JOB-TOKEN', token)
})

const basic = () => `Basic ${Buffer.from(`svc-ci-token:${token}`).toString('base64')}`

/** The first status that git gets when it fetches or pushes with the token of the job. */
async function asks(path: string, service: 'git-upload-pack' | 'git-receive-pack') {
  const url = `${world.url}/${path}.git/info/refs?service=${service}`
  return (await fetch(url, { headers: { Authorization: basic() } })).status
}

test('a job lists what its user alone may see only in projects that let it in', async () => {
  const issues = `/projects/${open.id}/issues`
  await ana.post(issues, { title: 'For all' })
  await ana.post(issues, { title: 'For few', confidential: true })
  const titles = async () =>
    (await job.get(issues)).body.map((one: { title: string }) => one.title).sort()
  expect(await titles()).toEqual(['For all'])
  expect((await job.get(`${issues}/2`)).status).toBe(404)
  const allowlist = `/projects/${open.id}/job_token_scope/allowlist`
  await ana.post(allowlist, { target_project_id: from.id })
  expect(await titles()).toEqual(['For all', 'For few'])
  expect((await job.get(`${issues}/2`)).status).toBe(200)
  await ana.delete(`${allowlist}/${from.id}`)
  expect(await titles()).toEqual(['For all'])
})

test('a job counts as its user in the groups above its project alone', async () => {
  const group = await createGroup(ana, 'team')
  const project = await createProject(ana, 'inside', { namespace_id: group.id })
  expect(project.visibility).toBe('private')
  await ana.post(`/groups/${group.id}/wikis`, { title: 'Plans', content: 'secret' })
  const packages = `/groups/${group.id}/-/packages/pypi/simple`
  expect((await ana.get(packages)).status).toBe(200)
  expect((await job.get(packages)).status).toBe(404)
  expect(await asks('team.wiki', 'git-upload-pack')).toBe(404)
  expect(await asks('team.wiki', 'git-receive-pack')).toBe(404)
  const before = (await ana.get(`/projects/${from.id}`)).body.namespace.id
  await ana.put(`/projects/${from.id}/transfer`, { namespace: group.id })
  expect((await job.get(packages)).status).toBe(200)
  expect(await asks('team.wiki', 'git-upload-pack')).toBe(200)
  expect(await asks('team.wiki', 'git-receive-pack')).toBe(403)
  await ana.put(`/projects/${from.id}/transfer`, { namespace: before })
})

test('a job neither reads nor writes what its user keeps for themselves', async () => {
  const files = [{ file_path: 'a.txt', content: 'mine' }]
  const { body: own } = await ana.post('/snippets', { title: 'Own', visibility: 'private', files })
  const { body: shown } = await ana.post('/snippets', {
    title: 'Open',
    visibility: 'public',
    files,
  })
  expect(await asks(`snippets/${own.id}`, 'git-upload-pack')).toBe(404)
  expect(await asks(`snippets/${own.id}`, 'git-receive-pack')).toBe(404)
  expect(await asks(`snippets/${shown.id}`, 'git-upload-pack')).toBe(200)
  expect(await asks(`snippets/${shown.id}`, 'git-receive-pack')).toBe(403)
})

test('a job stores and locks large files only where it may push', async () => {
  const content = 'large'
  const oid = createHash('sha256').update(content).digest('hex')
  const store = async (path: string) => {
    const url = `${world.url}/${path}.git/svc-lfs/objects/${oid}/${content.length}`
    const headers = { Authorization: basic(), 'Content-Type': 'application/octet-stream' }
    return (await fetch(url, { method: 'PUT', headers, body: content })).status
  }
  const lock = async (path: string) => {
    const url = `${world.url}/${path}.git/info/lfs/locks`
    const headers = { Authorization: basic(), 'Content-Type': 'application/vnd.git-lfs+json' }
    const body = JSON.stringify({ path: 'README.md' })
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  await ana.post(`/projects/${open.id}/job_token_scope/allowlist`, { target_project_id: from.id })
  expect(await store(open.fullPath)).toBe(403)
  expect(await lock(open.fullPath)).toBe(403)
  expect(await store(from.fullPath)).toBe(403)
  await ana.put(`/projects/${from.id}`, { ci_push_repository_for_job_token_allowed: true })
  expect(await store(from.fullPath)).toBe(200)
  expect(await lock(from.fullPath)).toBe(201)
})

test('a job acts as nobody but its user, whom it is not taken for when it asks to be another', async () => {
  for (const sudo of ['root', 'ana', String(ana.id), '']) {
    const refused = await job.get(`/projects/${from.id}/issues`, { headers: { Sudo: sudo } })
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - Must be admin to use sudo' },
    ])
  }
  expect((await job.get(`/projects/${from.id}/issues`)).status).toBe(200)
  const wrong = world.withHeader('JOB-TOKEN', 'wrong')
  const asked = { headers: { Sudo: 'ana' } }
  expect((await wrong.get(`/projects/${from.id}/issues`, asked)).status).toBe(401)
})
