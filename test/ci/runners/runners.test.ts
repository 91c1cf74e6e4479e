import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let path: string
let group: { id: number }

const config = `
plain: {script: make}
tagged: {script: make, tags: [linux, big]}
`

beforeAll(async () => {
  group = await createGroup(ana, 'team')
  project = await addProject(world, ana, 'basic', { path: 'served' })
  await ana.put(`/projects/${project.id}/transfer`, { namespace: group.id })
  await addMember(world, project, dev, 30)
  for (const ref of ['refs/heads/main', 'refs/heads/open']) {
    commitFiles(project, { files: { '.svc-ci.yml': config }, ref })
  }
  await ana.post(`/projects/${project.id}/protected_branches`, {
    name: 'main',
    push_access_level: 40,
    merge_access_level: 40,
  })
  path = `/projects/${project.id}`
})

interface Made {
  readonly runner: TestRunner
  readonly at: string
  readonly id: number
}

async function made(settings: object = {}): Promise<Made> {
  const body = { runner_type: 'project_type', project_id: project.id, ...settings }
  const reply = await ana.post('/user/runners', body)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const { id, token } = reply.body
  return { runner: new TestRunner(world.url, token), at: `/runners/${id}`, id }
}

/** The names of the jobs of a new pipeline that a runner is given; the pipeline is canceled then. */
async function givenOf({ runner }: Made, ref = 'open'): Promise<string[]> {
  const { body } = await ana.post(`${path}/pipeline`, { ref })
  const names: string[] = []
  for (let job = await runner.request(); job; job = await runner.request()) {
    names.push(job.job_info.name)
    await runner.finish(job, 'success')
  }
  await ana.post(`${path}/pipelines/${body.id}/cancel`)
  return names.sort()
}

describe('a runner', () => {
  test('keeps what it is made with, and each attribute that is changed', async () => {
    const one = await made({
      description: 'first',
      maintenance_note: 'by the window',
      paused: true,
      locked: true,
      run_untagged: false,
      tag_list: ['a', 'b'],
      access_level: 'ref_protected',
      maximum_timeout: 900,
    })
    const first = (await ana.get(one.at)).body
    expect(first).toMatchObject({
      id: one.id,
      description: 'first',
      maintenance_note: 'by the window',
      active: false,
      paused: true,
      locked: true,
      run_untagged: false,
      tag_list: ['a', 'b'],
      access_level: 'ref_protected',
      maximum_timeout: 900,
      is_shared: false,
      runner_type: 'project_type',
      online: null,
      status: 'never_contacted',
      contacted_at: null,
      created_by: { username: 'ana' },
      projects: [{ id: project.id }],
    })
    const changes: [object, object][] = [
      [{ description: 'second' }, { description: 'second' }],
      [{ maintenance_note: 'moved' }, { maintenance_note: 'moved' }],
      [{ paused: false }, { paused: false, active: true }],
      [{ active: false }, { paused: true, active: false }],
      [{ locked: false }, { locked: false }],
      [{ tag_list: 'c, d' }, { tag_list: ['c', 'd'] }],
      [{ run_untagged: true }, { run_untagged: true }],
      [{ tag_list: [] }, { tag_list: [] }],
      [{ access_level: 'not_protected' }, { access_level: 'not_protected' }],
      [{ maximum_timeout: 1200 }, { maximum_timeout: 1200 }],
    ]
    let expected = first
    for (const [change, effect] of changes) {
      expected = { ...expected, ...effect }
      const changed = await ana.put(one.at, change)
      expect([changed.status, changed.body]).toEqual([200, expected])
    }
    expect((await ana.get(one.at)).body).toEqual(expected)
    await ana.delete(one.at)
  })

  test.each([
    [
      { maximum_timeout: 599 },
      { message: { maximum_timeout: ['needs to be at least 10 minutes'] } },
    ],
    [
      { maintenance_note: 'x'.repeat(1025) },
      { message: { maintenance_note: ['is too long (maximum is 1024 characters)'] } },
    ],
    [
      { run_untagged: false, tag_list: [] },
      {
        message: {
          tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'],
        },
      },
    ],
    [{ access_level: 'all' }, { error: 'access_level does not have a valid value' }],
    [{ paused: true, active: true }, { error: 'paused, active are mutually exclusive' }],
  ])('refuses %j when it is made and when it is changed', async (settings, body) => {
    const place = { runner_type: 'project_type', project_id: project.id }
    if (!('active' in settings)) {
      const refused = await ana.post('/user/runners', { ...place, ...settings })
      expect([refused.status, refused.body]).toEqual([400, body])
    }
    const one = await made()
    const changed = await ana.put(one.at, settings)
    expect([changed.status, changed.body]).toEqual([400, body])
    await ana.delete(one.at)
  })

  test('takes the jobs that its tags, its protection and its pause let it', async () => {
    const one = await made({ tag_list: ['linux', 'big', 'more'] })
    expect(await givenOf(one)).toEqual(['plain', 'tagged'])
    await ana.put(one.at, { run_untagged: false })
    expect(await givenOf(one)).toEqual(['tagged'])
    await ana.put(one.at, { tag_list: ['linux'] })
    expect(await givenOf(one)).toEqual([])
    await ana.put(one.at, { run_untagged: true })
    expect(await givenOf(one)).toEqual(['plain'])
    await ana.put(one.at, { access_level: 'ref_protected' })
    expect(await givenOf(one)).toEqual([])
    expect(await givenOf(one, 'main')).toEqual(['plain'])
    await ana.put(one.at, { paused: true })
    expect(await givenOf(one, 'main')).toEqual([])
    await ana.put(one.at, { paused: false, access_level: 'not_protected' })
    expect(await givenOf(one)).toEqual(['plain'])
    await ana.delete(one.at)
  })

  test('gives a job no more time than it has itself', async () => {
    const one = await made({ maximum_timeout: 700 })
    await ana.post(`${path}/pipeline`, { ref: 'open' })
    const job = await one.runner.request()
    expect(job?.runner_info.timeout).toBe(700)
    if (job) await one.runner.finish(job, 'success')
    await ana.delete(one.at)
  })

  test('that is locked serves no further project', async () => {
    const other = await addProject(world, ana, 'basic', { path: 'further' })
    const one = await made({ locked: true })
    const refused = await ana.post(`/projects/${other.id}/runners`, { runner_id: one.id })
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - Runner is locked' },
    ])
    await ana.put(one.at, { locked: false })
    expect((await ana.post(`/projects/${other.id}/runners`, { runner_id: one.id })).status).toBe(
      201,
    )
    expect((await ana.get(one.at)).body.projects.map((each: { id: number }) => each.id)).toEqual([
      project.id,
      other.id,
    ])
    await ana.delete(one.at)
  })

  test('that is deleted is given nothing more; what it ran stays', async () => {
    const one = await made()
    const { body: pipeline } = await ana.post(`${path}/pipeline`, { ref: 'open' })
    const job = await one.runner.request()
    if (!job) throw new Error('no job')
    expect((await ana.get(one.at)).body.job_execution_status).toBe('active')
    await one.runner.finish(job, 'success', 'what it said\n')
    expect((await ana.get(one.at)).body.job_execution_status).toBe('idle')
    expect((await ana.get(`${path}/jobs/${job.id}`)).body.runner.id).toBe(one.id)
    expect((await dev.delete(one.at)).status).toBe(403)
    expect((await ana.delete(one.at)).status).toBe(204)
    expect((await one.runner.ask()).status).toBe(403)
    const kept = await ana.get(`${path}/jobs/${job.id}`)
    expect(kept.body).toMatchObject({ status: 'success', runner: null })
    expect((await ana.get(`${path}/jobs/${job.id}/trace`)).body).toContain('what it said')
    await ana.post(`${path}/pipelines/${pipeline.id}/cancel`)
  })
})

describe('runners are listed', () => {
  test('by type, tags, pause, state and version, the newest first', async () => {
    const old = await made({ tag_list: ['a', 'b'], description: 'old' })
    const idle = await made({ tag_list: ['a'], paused: true, description: 'idle' })
    await old.runner.ask()
    const ofGroup = await ana.post('/user/runners', {
      runner_type: 'group_type',
      group_id: group.id,
      description: 'group',
    })
    const ofAll = await world.root.post('/user/runners', {
      runner_type: 'instance_type',
      description: 'all',
    })
    expect([ofGroup.status, ofAll.status]).toEqual([201, 201])
    const list = async (query: string, where = `${path}/runners`, by = ana) => {
      const { status, body } = await by.get(`${where}?${query}`)
      expect(status, JSON.stringify(body)).toBe(200)
      return (body as { description: string }[]).map((one) => one.description)
    }
    expect(await list('')).toEqual(['all', 'group', 'idle', 'old'])
    expect(await list('type=project_type')).toEqual(['idle', 'old'])
    expect(await list('type=group_type')).toEqual(['group'])
    expect(await list('tag_list=a')).toEqual(['idle', 'old'])
    expect(await list('tag_list=a,b')).toEqual(['old'])
    expect(await list('paused=true')).toEqual(['idle'])
    expect(await list('paused=false&type=project_type')).toEqual(['old'])
    expect(await list('status=online')).toEqual(['old'])
    expect(await list('status=never_contacted&type=project_type')).toEqual(['idle'])
    expect(await list('version_prefix=17.')).toEqual(['old'])
    expect(await list('version_prefix=16.')).toEqual([])
    expect(await list('per_page=1&page=2')).toEqual(['group'])
    expect(await list('', `/groups/${group.id}/runners`)).toEqual(['all', 'group'])
    expect(await list('type=instance_type', '/runners/all', world.root)).toEqual(['all'])
    expect((await list('', '/runners')).sort()).toEqual(['group', 'idle', 'old'])
    expect(await list('', '/runners', dev)).toEqual([])
    world.setNow('2026-05-04T13:00:00.000Z')
    expect(await list('status=offline')).toEqual(['old'])
    expect(await list('status=stale')).toEqual([])
    world.setNow('2026-05-12T13:00:00.000Z')
    expect(await list('status=stale')).toEqual(['old'])
    world.setNow('2026-05-04T10:00:00.000Z')
    expect((await ana.get(`${path}/runners?type=shared`)).status).toBe(400)
    expect((await dev.get(`/groups/${group.id}/runners`)).status).toBe(403)
    for (const one of [old, idle]) await ana.delete(one.at)
    await ana.delete(`/runners/${ofGroup.body.id}`)
    expect((await ana.delete(`/runners/${ofAll.body.id}`)).status).toBe(403)
    expect((await world.root.delete(`/runners/${ofAll.body.id}`)).status).toBe(204)
  })

  test('the project decides whether those of its group and of the instance serve it', async () => {
    const reply = await ana.post('/user/runners', { runner_type: 'group_type', group_id: group.id })
    const ofGroup = { runner: new TestRunner(world.url, reply.body.token), at: '', id: 0 }
    expect(await givenOf(ofGroup)).toEqual(['plain'])
    await ana.put(path, { group_runners_enabled: false })
    expect(await givenOf(ofGroup)).toEqual([])
    await ana.put(path, { group_runners_enabled: true })
    await ana.delete(`/runners/${reply.body.id}`)
    const shared = await world.root.post('/user/runners', { runner_type: 'instance_type' })
    const ofAll = { runner: new TestRunner(world.url, shared.body.token), at: '', id: 0 }
    expect(await givenOf(ofAll)).toEqual(['plain'])
    await ana.put(path, { shared_runners_enabled: false })
    expect(await givenOf(ofAll)).toEqual([])
    await world.root.delete(`/runners/${shared.body.id}`)
  })

  test('with the jobs that they had, by status', async () => {
    const runner = await addRunner(world, ana, project.id)
    const [{ id }] = (await ana.get(`${path}/runners?type=project_type`)).body
    const ids: number[] = []
    for (const state of ['success', 'failed'] as const) {
      const { body } = await ana.post(`${path}/pipeline`, { ref: 'open' })
      const job = await runner.request()
      if (!job) throw new Error('no job')
      await runner.finish(job, state)
      ids.push(job.id)
      await ana.post(`${path}/pipelines/${body.id}/cancel`)
    }
    const had = async (query: string) =>
      ((await ana.get(`/runners/${id}/jobs?${query}`)).body as { id: number }[]).map(
        (job) => job.id,
      )
    expect(await had('order_by=id&sort=asc')).toEqual(ids)
    expect(await had('order_by=id&sort=desc')).toEqual([...ids].reverse())
    expect(await had('status=failed')).toEqual([ids[1]])
    expect(await had('per_page=1&page=2&order_by=id&sort=asc')).toEqual([ids[1]])
    expect((await dev.get(`/runners/${id}/jobs`)).status).toBe(403)
    await ana.delete(`/runners/${id}`)
  })
})

test('a runner gets no jobs of a project in an archived group, until it is none any more', async () => {
  const one = await made()
  const { body } = await ana.post(`${path}/pipeline`, { ref: 'open' })
  const archived = await ana.post(`/groups/${group.id}/archive`)
  expect(archived.status).toBeLessThan(300)
  expect(await one.runner.request()).toBeUndefined()
  await ana.post(`/groups/${group.id}/unarchive`)
  expect((await one.runner.request())?.job_info.name).toBe('plain')
  await ana.post(`${path}/pipelines/${body.id}/cancel`)
})
