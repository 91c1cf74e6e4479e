import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'r' })
  await addMember(world, project, dev, 30)
  commitFiles(project, {
    files: { '.svc-ci.yml': 'include: more.yml\nx: {script: y}', 'more.yml': 'z: {script: [z]}' },
  })
})

describe('runners', () => {
  test('are listed, read, changed and deleted by those who look after them', async () => {
    const runner = await addRunner(world, ana, project.id, { tag_list: 'a,b', description: 'one' })
    await runner.request()
    const [found] = (await ana.get(`/projects/${project.id}/runners?tag_list=a`)).body
    expect(found).toMatchObject({
      description: 'one',
      online: true,
      status: 'online',
      paused: false,
    })
    expect((await ana.get(`/projects/${project.id}/runners?tag_list=c`)).body).toEqual([])
    expect((await ana.get('/runners?status=online&version_prefix=17.')).body).toHaveLength(1)
    expect((await ana.get('/runners?status=never_contacted')).body).toEqual([])
    expect((await dev.get(`/projects/${project.id}/runners`)).status).toBe(403)
    expect((await ana.get('/runners/all')).status).toBe(403)
    expect((await world.root.get('/runners/all')).body).toHaveLength(1)
    const at = `/runners/${found.id}`
    expect((await ana.get(at)).body).toMatchObject({
      tag_list: ['a', 'b'],
      version: '17.0.0',
      projects: [{ id: project.id }],
    })
    expect((await dev.get(at)).status).toBe(403)
    expect((await ana.get('/runners/999')).status).toBe(404)
    expect((await ana.put(at, { paused: true, tag_list: 'c' })).body).toMatchObject({
      paused: true,
      tag_list: ['c'],
    })
    expect((await ana.put(at, { run_untagged: false, tag_list: '' })).status).toBe(400)
    expect((await ana.get(`${at}/managers`)).body).toMatchObject([{ system_id: 's_1' }])
    const again = await ana.post(`${at}/reset_authentication_token`)
    expect(again.status).toBe(201)
    expect((await runner.ask()).status).toBe(403)
    expect((await ana.delete(at)).status).toBe(204)
    expect((await ana.get(at)).status).toBe(404)
  })

  test('serve further projects of those who look after both, but never lose their first', async () => {
    const other = await addProject(world, ana, 'basic', { path: 'other' })
    const runner = await addRunner(world, ana, project.id, { description: 'shared' })
    const [found] = (await ana.get(`/projects/${project.id}/runners`)).body
    const list = `/projects/${other.id}/runners`
    expect((await ana.post(list, { runner_id: found.id })).status).toBe(201)
    expect((await ana.post(list, { runner_id: found.id })).status).toBe(400)
    expect(
      (await dev.post(`/projects/${project.id}/runners`, { runner_id: found.id })).status,
    ).toBe(403)
    commitFiles(other, { files: { '.svc-ci.yml': 'x: {script: y}' } })
    await ana.post(`/projects/${other.id}/pipeline`, { ref: 'main' })
    const job = await runner.request()
    expect(job?.job_info.project_id).toBe(other.id)
    if (job) await runner.finish(job, 'success')
    const had = await ana.get(`/runners/${found.id}/jobs?status=success&system_id=s_1`)
    expect(had.body).toMatchObject([{ id: job?.id, name: 'x', status: 'success' }])
    expect((await ana.get(`/runners/${found.id}/jobs?system_id=s_2`)).body).toEqual([])
    const own = await ana.delete(`/projects/${project.id}/runners/${found.id}`)
    expect(own.status).toBe(403)
    expect((await ana.delete(`${list}/${found.id}`)).status).toBe(204)
    expect((await ana.delete(`/projects/${project.id}/runners/${found.id}`)).status).toBe(403)
    expect((await ana.delete(`${list}/${found.id}`)).status).toBe(404)
    await ana.delete(`/runners/${found.id}`)
  })

  test('are registered by the tokens that administrators and Maintainers put in place', async () => {
    const ofProject = await ana.post(`/projects/${project.id}/runners/reset_registration_token`)
    const token = ofProject.body.token as string
    const made = await world.nobody.post('/runners', { token })
    expect(made.status).toBe(201)
    expect((await ana.get(`/runners/${made.body.id}`)).body.runner_type).toBe('project_type')
    await ana.post(`/projects/${project.id}/runners/reset_registration_token`)
    expect((await world.nobody.post('/runners', { token })).status).toBe(403)
    expect((await ana.post('/runners/reset_registration_token')).status).toBe(403)
    expect((await world.root.post('/runners/reset_registration_token')).status).toBe(201)
  })
})

describe('lint', () => {
  test('shows a configuration merged with its includes, or what is wrong with it', async () => {
    const at = `/projects/${project.id}/ci/lint`
    const own = await dev.get(`${at}?include_jobs=true`)
    expect(own.body).toMatchObject({
      valid: true,
      errors: [],
      includes: [{ type: 'local', location: 'more.yml' }],
    })
    expect(own.body.merged_yaml).toContain('z:')
    expect(own.body.jobs.map((job: { name: string }) => job.name).sort()).toEqual(['x', 'z'])
    const symbols = await dev.post(at, { content: ':x:\n  :script: ":y"\n  :stage: test\n' })
    expect(symbols.body).toMatchObject({ valid: true, errors: [] })
    const good = await dev.post(at, { content: 'x: {script: y}' })
    expect(good.body).toMatchObject({ valid: true })
    const none = await dev.post(at, { content: 'x: {script: y, only: [tags]}', dry_run: true })
    expect(none.body).toMatchObject({ valid: false })
    const bad = await dev.post(at, { content: 'x: {stage: none, script: y}' })
    expect(bad.body).toMatchObject({ valid: false, merged_yaml: null })
    expect(bad.body.errors[0]).toContain('chosen stage none does not exist')
    const broken = await dev.post(at, { content: 'x: [' })
    expect(broken.body.errors[0]).toContain('Invalid configuration format')
    expect((await world.nobody.post(at, { content: 'x' })).status).toBe(404)
  })

  test('works before the first commit of a project, too', async () => {
    const empty = await createProject(dev, 'not yet begun')
    const at = `/projects/${empty.id}/ci/lint`
    const good = await dev.post(at, { content: 'x: {script: y}', include_jobs: true })
    expect(good.body).toMatchObject({ valid: true, errors: [], jobs: [{ name: 'x' }] })
    const bad = await dev.post(at, { content: 'x: [' })
    expect(bad.body.errors[0]).toContain('Invalid configuration format')
    const local = await dev.post(at, { content: 'include: /other.yml' })
    expect(local.body.errors[0]).toContain('`other.yml` does not exist')
    const dry = await dev.post(at, { content: 'x: {script: y}', dry_run: true })
    expect(dry.body.errors).toEqual(['Reference not found'])
  })

  test('also of a configuration that belongs to no project', async () => {
    const content = 'x: {extends: .y}\n.y: {script: echo}\n'
    const good = await dev.post('/ci/lint', {
      content,
      include_merged_yaml: true,
      include_jobs: true,
    })
    expect(good.status).toBe(200)
    expect(good.body).toMatchObject({ status: 'valid', errors: [], jobs: [{ name: 'x' }] })
    expect(good.body.merged_yaml).toContain('echo')
    const local = await dev.post('/ci/lint', { content: 'include: /other.yml' })
    expect(local.body).toMatchObject({ status: 'invalid' })
    expect(local.body.errors[0]).toContain('`other.yml` does not exist')
    expect((await world.nobody.post('/ci/lint', { content })).status).toBe(401)
  })
})
