import { beforeAll, describe, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let token: string
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'triggered' })
  await addMember(world, project, dev, 40)
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  path = `/projects/${project.id}`
  const made = await ana.post(`${path}/triggers`, { description: 'from outside' })
  token = made.body.token
})

describe('a trigger token', () => {
  test('is shown in full to its owner alone, and lies sealed in the database', async () => {
    const { body } = await dev.get(`${path}/triggers`)
    expect(body[0]).toMatchObject({ description: 'from outside', owner: { username: 'ana' } })
    expect(body[0].token).toHaveLength(4)
    expect((await ana.get(`${path}/triggers/${body[0].id}`)).body.token).toBe(token)
    const stored = await world.ctx.db.selectFrom('ci_triggers').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(token)
  })

  test('starts a pipeline as its owner, without other credentials', async () => {
    const body = { token, ref: 'main', variables: { GREETING: 'hello' } }
    const made = await world.nobody.post(`${path}/trigger/pipeline`, body)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ source: 'trigger', ref: 'main', user: { username: 'ana' } })
    const listed = await ana.get(`${path}/pipelines/${made.body.id}/variables`)
    expect(listed.body).toMatchObject([{ key: 'GREETING', value: 'hello' }])
    expect((await ana.get(`${path}/triggers`)).body[0].last_used).not.toBeNull()
  })

  test('starts one from a form with the ref in the path', async () => {
    const form = new URLSearchParams({ token, 'variables[A]': '1' })
    const made = await world.nobody.post(`${path}/ref/main/trigger/pipeline`, undefined, {
      raw: form,
    })
    expect(made.status).toBe(201)
  })

  test('called by a webhook hands its body on as a file', async () => {
    const event = { object_kind: 'issue', object_attributes: { title: 'It "broke"' } }
    const url = `${path}/ref/main/trigger/pipeline?token=${token}&variables[A]=1`
    const made = await world.nobody.post(url, event)
    expect(made.status).toBe(201)
    const { body } = await ana.get(`${path}/pipelines/${made.body.id}/variables`)
    const payload = body.find((one: { key: string }) => one.key === 'TRIGGER_PAYLOAD')
    expect(payload.variable_type).toBe('file')
    expect(JSON.parse(payload.value)).toMatchObject(event)
    expect(payload.value).not.toContain(token)
    expect(body).toHaveLength(2)
    await ana.post(`${path}/pipelines/${made.body.id}/cancel`)
  })

  test('that is wrong, over or of another project is 404, whatever the project', async () => {
    const other = await addProject(world, ana, 'basic', { path: 'other' })
    const call = (id: number | string, given: string) =>
      world.nobody.post(`/projects/${id}/trigger/pipeline`, { token: given, ref: 'main' })
    expect((await call(project.id, 'wrong')).status).toBe(404)
    expect((await call(other.id, token)).status).toBe(404)
    expect((await call('no%2Fwhere', token)).status).toBe(404)
    const soon = await ana.post(`${path}/triggers`, {
      description: 'short',
      expires_at: '2026-05-04T09:00:00Z',
    })
    expect((await call(project.id, soon.body.token)).status).toBe(404)
  })

  test.each([
    [{ variables: ['a'] }, 400],
    [{ variables: { 'a-b': 'x' } }, 400],
    [{ variables: { A: { b: 'c' } } }, 400],
    [{ ref: 'nowhere' }, 400],
    [{ ref: '' }, 400],
  ])('refuses %j', async (more, status) => {
    const reply = await world.nobody.post(`${path}/trigger/pipeline`, {
      token,
      ref: 'main',
      ...more,
    })
    expect(reply.status).toBe(status)
  })

  test('whose owner may run nothing any more starts nothing', async () => {
    const kim = await world.user('kim')
    await addMember(world, project, kim, 40)
    const { body } = await kim.post(`${path}/triggers`, { description: 'leaving' })
    await ana.delete(`${path}/members/${kim.id}`)
    const reply = await world.nobody.post(`${path}/trigger/pipeline`, {
      token: body.token,
      ref: 'main',
    })
    expect(reply.status).toBe(404)
  })
})

describe('the token of a job', () => {
  test('starts a pipeline that knows its job, and nothing once the job has ended', async () => {
    const runner = await addRunner(world, ana, project.id)
    const job = await runner.request()
    if (!job) throw new Error('no job')
    const body = { token: job.token, ref: 'main' }
    const made = await world.nobody.post(`${path}/trigger/pipeline`, body)
    expect(made.body).toMatchObject({ source: 'pipeline' })
    await runner.finish(job, 'success')
    expect((await world.nobody.post(`${path}/trigger/pipeline`, body)).status).toBe(404)
  })

  test('sets variables only where its user may', async () => {
    const runner = await addRunner(world, ana, project.id)
    const job = await runner.request()
    if (!job) throw new Error('no job')
    const role = (ci_pipeline_variables_minimum_override_role: string) =>
      ana.put(path, { ci_pipeline_variables_minimum_override_role })
    const body = { token: job.token, ref: 'main', variables: { A: '1' } }
    await role('no_one_allowed')
    const refused = await world.nobody.post(`${path}/trigger/pipeline`, body)
    expect([refused.status, refused.body.message.base]).toEqual([
      400,
      ['Insufficient permissions to set pipeline variables'],
    ])
    await role('developer')
    expect((await world.nobody.post(`${path}/trigger/pipeline`, body)).status).toBe(201)
    await runner.finish(job, 'success')
  })

  test('starts no pipelines in a circle for ever', async () => {
    const runner = await addRunner(world, ana, project.id)
    let status = 201
    for (let turn = 0; turn < 40 && status === 201; turn += 1) {
      const job = await runner.request()
      if (!job) throw new Error('no job')
      const body = { token: job.token, ref: 'main' }
      status = (await world.nobody.post(`${path}/trigger/pipeline`, body)).status
      await runner.finish(job, 'success')
    }
    expect(status).toBe(400)
  })
})
