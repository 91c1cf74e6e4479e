import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let sha: string
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
  sha = project.git('rev-parse', 'main')
})

function report(body: Record<string, unknown>, at = sha): Promise<Reply> {
  return dev.post(`/projects/${project.id}/statuses/${at}`, body)
}

function statuses(query = ''): Promise<Reply> {
  return dev.get(`${project.api}/commits/${sha}/statuses${query}`)
}

describe('reporting a status', () => {
  test('makes a pipeline of source external, which the commit then shows', async () => {
    const reply = await report({ state: 'pending', description: 'Waiting' })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.any(Number),
      sha,
      ref: 'main',
      status: 'pending',
      name: 'default',
      target_url: null,
      description: 'Waiting',
      created_at: world.ctx.now(),
      started_at: null,
      finished_at: null,
      allow_failure: false,
      coverage: null,
      pipeline_id: expect.any(Number),
      author: expect.objectContaining({ username: 'dev' }),
    })
    const commit = (await dev.get(`${project.api}/commits/${sha}`)).body
    expect(commit.status).toBe('pending')
    expect(commit.last_pipeline).toMatchObject({
      id: reply.body.pipeline_id,
      iid: 1,
      project_id: project.id,
      sha,
      ref: 'main',
      source: 'external',
      status: 'pending',
    })
  })

  test('goes on with the open status of that name, and starts anew after its end', async () => {
    const first = await report({ state: 'pending', context: 'build' })
    const second = await report({ state: 'running', context: 'build' })
    const third = await report({
      state: 'failed',
      name: 'build',
      target_url: 'https://ci.example.com/1',
      coverage: '12.5',
    })
    expect(new Set([first, second, third].map((reply) => reply.body.id)).size).toBe(1)
    expect(third.body).toMatchObject({
      status: 'failed',
      target_url: 'https://ci.example.com/1',
      coverage: 12.5,
      started_at: world.ctx.now(),
      finished_at: world.ctx.now(),
    })
    const again = await report({ state: 'success', name: 'build' })
    expect(again.body.id).not.toBe(third.body.id)
    expect(again.body.pipeline_id).toBe(third.body.pipeline_id)
    const latest = await statuses()
    expect(latest.body.map((each: { id: number }) => each.id)).toEqual([again.body.id])
    const all = await statuses('?all=true&sort=desc')
    expect(all.body.map((each: { status: string }) => each.status)).toEqual(['success', 'failed'])
  })

  test('adds several up to the status of the commit', async () => {
    await report({ state: 'success', name: 'a' })
    await report({ state: 'pending', name: 'b' })
    expect((await dev.get(`${project.api}/commits/${sha}`)).body.status).toBe('running')
    await report({ state: 'failed', name: 'b' })
    expect((await dev.get(`${project.api}/commits/${sha}`)).body.status).toBe('failed')
    await report({ state: 'success', name: 'b' })
    expect((await dev.get(`${project.api}/commits/${sha}`)).body.status).toBe('success')
    expect((await statuses('?name=a')).body).toHaveLength(1)
    expect((await statuses('?stage=other')).body).toEqual([])
  })

  test('names the ref: given, of the pipeline, or of a branch with the commit', async () => {
    const other = project.git('rev-parse', 'feature/one')
    expect((await report({ state: 'pending' }, other)).body.ref).toBe('feature/one')
    expect((await report({ state: 'pending', ref: 'mine' }, other)).body.ref).toBe('mine')
    const lost = project.git('commit-tree', `${sha}^{tree}`, '-m', 'Lost')
    const reply = await report({ state: 'pending' }, lost)
    expect([reply.status, reply.body]).toEqual([
      404,
      { message: '404 References for commit Not Found' },
    ])
  })

  test('goes into the pipeline that was asked for', async () => {
    const { body } = await report({ state: 'pending', name: 'a' })
    const id = body.pipeline_id
    expect((await report({ state: 'pending', name: 'b', pipeline_id: id })).body.pipeline_id).toBe(
      id,
    )
    const wrong = await report({ state: 'pending', name: 'b', pipeline_id: id + 1 })
    expect([wrong.status, wrong.body]).toEqual([
      404,
      { message: '404 Pipeline for pipeline_id, sha and ref Not Found' },
    ])
  })

  test.each([
    ['pending', 'pending', 'enqueue'],
    ['running', 'running', 'run'],
    ['running', 'pending', 'enqueue'],
    ['running', 'skipped', 'skip'],
  ])('from %s to %s is impossible', async (from, to, event) => {
    await report({ state: from })
    const reply = await report({ state: to })
    expect([reply.status, reply.body]).toEqual([
      400,
      {
        message: `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`,
      },
    ])
  })

  test.each([
    [{}, 400, { error: 'state is missing' }],
    [{ state: 'great' }, 400, { error: 'state does not have a valid value' }],
    [{ state: 'success', coverage: 'much' }, 400, { error: 'coverage is invalid' }],
    [
      { state: 'success', description: 'x'.repeat(256) },
      400,
      { message: { description: ['is too long (maximum is 255 characters)'] } },
    ],
    [
      { state: 'success', target_url: 'javascript:alert(1)' },
      400,
      { message: { target_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
  ])('with %j is refused', async (body, status, answer) => {
    const reply = await report(body)
    expect([reply.status, reply.body]).toEqual([status, answer])
  })

  test('needs the full id of a commit that exists, and a developer', async () => {
    for (const at of [sha.slice(0, 10), 'main', '0'.repeat(40)]) {
      const reply = await report({ state: 'success' }, at)
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Commit Not Found' }])
    }
    const reporter = await world.user(`rep${count}`)
    await addMember(world, project, reporter, 20)
    const path = `/projects/${project.id}/statuses/${sha}`
    expect((await reporter.post(path, { state: 'success' })).status).toBe(403)
    expect((await reporter.get(`${project.api}/commits/${sha}/statuses`)).status).toBe(200)
  })
})
