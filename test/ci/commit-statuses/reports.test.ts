import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { gitBytes } from '../../support/git.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let sha: string
let count = 0
let commits: ReadonlyMap<string, string>

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'reported' })
  await addMember(world, project, dev, 30)
  await addMember(world, project, rep, 20)
  commits = addCommits(70)
})

/** A commit for each test, on a branch of its own: all of one stream, as each call of git takes its time. */
function addCommits(many: number): Map<string, string> {
  const commits = Array.from({ length: many }, (_, at) =>
    [
      `commit refs/heads/topic-${at + 1}`,
      `committer Carl <carl@example.com> ${1_632_121_572 + at} +0000`,
      'data 4',
      'Work',
      'from refs/heads/main^0',
      '',
    ].join('\n'),
  )
  const input = Buffer.from(`${commits.join('\n')}\ndone\n`)
  gitBytes(project.path, ['fast-import', '--quiet', '--done'], { input })
  const refs = project.git('for-each-ref', '--format=%(refname:short) %(objectname)', 'refs/heads')
  return new Map(refs.split('\n').map((line) => line.split(' ') as [string, string]))
}

beforeEach(() => {
  count += 1
  sha = commits.get(`topic-${count}`) ?? ''
})

function report(body: object, by = dev) {
  return by.post(`/projects/${project.id}/statuses/${sha}`, body)
}

async function list(query = '', by = dev) {
  const { body } = await by.get(`${project.api}/commits/${sha}/statuses?per_page=100&${query}`)
  return body as { id: number; name: string; status: string; ref: string; pipeline_id: number }[]
}

async function pipelineState(id: number) {
  const { body } = await ana.get(`/projects/${project.id}/pipelines/${id}`)
  return body.status as string
}

const ENDS = ['success', 'failed', 'canceled'] as const

describe('a reported status', () => {
  test.each([
    ['pending', null],
    ['running', null],
    ['success', null],
    ['failed', null],
    ['canceled', null],
    ['skipped', null],
    ['pending', 'running'],
    ['pending', 'success'],
    ['pending', 'failed'],
    ['pending', 'canceled'],
    ['pending', 'skipped'],
    ['running', 'success'],
    ['running', 'failed'],
    ['running', 'canceled'],
  ])('may be %s, then %s, and its pipeline follows', async (first, second) => {
    const one = await report({ state: first })
    const last = second === null ? one : await report({ state: second })
    expect([one.status, last.status]).toEqual([201, 201])
    expect(last.body).toMatchObject({ id: one.body.id, status: second ?? first })
    expect(await pipelineState(one.body.pipeline_id)).toBe(second ?? first)
    expect((await list()).length).toBe(1)
  })

  test('counts with its coverage in that of its pipeline, as the latest of its name alone', async () => {
    const { body } = await report({ state: 'success', name: 'lint', coverage: 10 })
    await report({ state: 'success', name: 'lint', coverage: 70 })
    await report({ state: 'success', name: 'unit', coverage: 90.5 })
    await report({ state: 'success', name: 'docs' })
    const pipeline = await ana.get(`/projects/${project.id}/pipelines/${body.pipeline_id}`)
    expect(pipeline.body.coverage).toBe('80.25')
    const badge = `/${project.fullPath}/badges/${pipeline.body.ref}/coverage.svg`
    expect((await ana.get(badge, { host: true })).body).toContain('coverage: 80.25%')
    expect((await ana.get(`${badge}?job=unit`, { host: true })).body).toContain('90.50%')
  })

  test.each([...ENDS, 'skipped'])(
    'that is %s is over: the next one of its name is another',
    async (end) => {
      const first = await report({ state: end })
      const second = await report({ state: 'pending' })
      expect(second.status).toBe(201)
      expect(second.body.id).not.toBe(first.body.id)
      expect(second.body.pipeline_id).toBe(first.body.pipeline_id)
      expect((await list()).map((one) => one.id)).toEqual([second.body.id])
      expect((await list('all=true')).map((one) => one.id)).toEqual([first.body.id, second.body.id])
      expect(await pipelineState(first.body.pipeline_id)).toBe('pending')
    },
  )

  test('that may not follow changes nothing', async () => {
    const first = await report({ state: 'running', description: 'at work', coverage: 10 })
    const refused = await report({ state: 'pending', description: 'again', coverage: 20 })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toMatch(/^Cannot transition status via :enqueue from :running/)
    const [only, ...more] = await list()
    expect([only, more]).toEqual([first.body, []])
  })

  test('keeps the time at which it started, and gets that of its end', async () => {
    const pending = await report({ state: 'pending' })
    expect(pending.body).toMatchObject({ started_at: null, finished_at: null })
    world.setNow('2026-05-04T10:05:00.000Z')
    const running = await report({ state: 'running' })
    expect(running.body).toMatchObject({
      created_at: '2026-05-04T10:00:00.000Z',
      started_at: '2026-05-04T10:05:00.000Z',
      finished_at: null,
    })
    world.setNow('2026-05-04T10:09:00.000Z')
    const ended = await report({ state: 'success' })
    expect(ended.body).toMatchObject({
      created_at: '2026-05-04T10:00:00.000Z',
      started_at: '2026-05-04T10:05:00.000Z',
      finished_at: '2026-05-04T10:09:00.000Z',
    })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('keeps what a later report leaves out, and forgets what is emptied', async () => {
    const details = { target_url: 'https://ci.example.com/7', description: 'first', coverage: 50 }
    await report({ state: 'pending', ...details })
    expect((await report({ state: 'running' })).body).toMatchObject(details)
    const emptied = await report({ state: 'success', target_url: '', description: '' })
    expect(emptied.body).toMatchObject({ target_url: null, description: null, coverage: 50 })
  })

  test.each([
    ['0', 0],
    [12.5, 12.5],
    ['99.99', 99.99],
    [100, 100],
  ])('takes the coverage %j', async (coverage, shown) => {
    const { body, status } = await report({ state: 'success', coverage })
    expect([status, body.coverage]).toEqual([201, shown])
  })

  test.each(['much', '1e2', '12%', '1,5', {}, [1]])('refuses the coverage %j', async (coverage) => {
    const reply = await report({ state: 'success', coverage })
    expect([reply.status, reply.body]).toEqual([400, { error: 'coverage is invalid' }])
    expect(await list()).toEqual([])
  })

  test.each([
    'ftp://ci.example.com',
    'data:text/html,x',
    'ci.example.com/1',
    'https://a b',
    '//ci.example.com',
    `https://ci.example.com/${'x'.repeat(255)}`,
  ])('does not lead to %s', async (target_url) => {
    const reply = await report({ state: 'success', target_url })
    expect([reply.status, Object.keys(reply.body.message)]).toEqual([400, ['target_url']])
    expect(await list()).toEqual([])
  })

  test('is called by its name, else its context, else default', async () => {
    const names = [
      [{ name: 'by-name', context: 'by-context' }, 'by-name'],
      [{ context: 'by-context' }, 'by-context'],
      [{ name: '', context: 'of-context' }, 'of-context'],
      [{}, 'default'],
      [{ name: 'ci/build: Linux (ü)' }, 'ci/build: Linux (ü)'],
      [{ name: 'n'.repeat(255) }, 'n'.repeat(255)],
    ] as const
    for (const [given, name] of names) {
      expect((await report({ state: 'pending', ...given })).body.name).toBe(name)
    }
    const long = await report({ state: 'pending', name: 'n'.repeat(256) })
    expect([long.status, long.body]).toEqual([
      400,
      { message: { name: ['is too long (maximum is 255 characters)'] } },
    ])
    expect((await list()).length).toBe(names.length)
  })

  test('of another author stays that of its first one', async () => {
    const first = await report({ state: 'pending' })
    const second = await report({ state: 'success' }, ana)
    expect(second.body.id).toBe(first.body.id)
    expect(second.body.author.username).toBe('dev')
    const anew = await report({ state: 'failed' }, ana)
    expect(anew.body.author.username).toBe('ana')
  })
})

describe('a pipeline of reports', () => {
  test('is one for each ref of the commit', async () => {
    project.git('branch', `twin-${count}`, sha)
    const one = await report({ state: 'success', ref: `topic-${count}` })
    const two = await report({ state: 'failed', ref: `refs/heads/twin-${count}` })
    expect(two.body.ref).toBe(`twin-${count}`)
    expect(two.body.pipeline_id).not.toBe(one.body.pipeline_id)
    expect(await pipelineState(one.body.pipeline_id)).toBe('success')
    expect(await pipelineState(two.body.pipeline_id)).toBe('failed')
    const again = await report({ state: 'success', ref: `twin-${count}` })
    expect(again.body.pipeline_id).toBe(two.body.pipeline_id)
  })

  test('of a tag is one of a tag', async () => {
    project.git('tag', `v${count}`, sha)
    const { body } = await report({ state: 'success', ref: `refs/tags/v${count}` })
    expect(body.ref).toBe(`v${count}`)
    const pipeline = await ana.get(`/projects/${project.id}/pipelines/${body.pipeline_id}`)
    expect(pipeline.body).toMatchObject({ tag: true, ref: `v${count}`, source: 'external', sha })
  })

  test('takes reports of another project or commit neither by its id', async () => {
    const { body } = await report({ state: 'pending' })
    const other = await addProject(world, ana, 'basic', { path: `other-${count}` })
    const head = other.git('rev-parse', 'main')
    const foreign = await ana.post(`/projects/${other.id}/statuses/${head}`, {
      state: 'success',
      pipeline_id: body.pipeline_id,
    })
    const main = project.git('rev-parse', 'main')
    const otherCommit = await dev.post(`/projects/${project.id}/statuses/${main}`, {
      state: 'success',
      pipeline_id: body.pipeline_id,
    })
    const otherRef = await report({ state: 'success', ref: 'main', pipeline_id: body.pipeline_id })
    for (const reply of [foreign, otherCommit, otherRef]) {
      expect([reply.status, reply.body]).toEqual([
        404,
        { message: '404 Pipeline for pipeline_id, sha and ref Not Found' },
      ])
    }
    expect(await pipelineState(body.pipeline_id)).toBe('pending')
  })

  test('is made once when several report at the same time', async () => {
    const names = ['lint', 'unit', 'e2e', 'docs']
    const replies = await Promise.all(names.map((name) => report({ state: 'running', name })))
    expect(replies.map((reply) => reply.status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map((reply) => reply.body.pipeline_id)).size).toBe(1)
    expect((await list()).map((one) => one.name).sort()).toEqual([...names].sort())
    await Promise.all(names.map((name) => report({ state: 'success', name })))
    expect(await pipelineState(replies[0]?.body.pipeline_id)).toBe('success')
  })

  test('holds one status of a name when two report it at the same time', async () => {
    const first = await Promise.all([report({ state: 'pending' }), report({ state: 'pending' })])
    expect(first.map((reply) => reply.status).sort()).toEqual([201, 400])
    const ends = await Promise.all([report({ state: 'success' }), report({ state: 'failed' })])
    expect(ends.map((reply) => reply.status)).toEqual([201, 201])
    const latest = await list()
    expect(latest.length).toBe(1)
    expect(await pipelineState(latest[0]?.pipeline_id ?? 0)).toBe(latest[0]?.status)
  })
})

describe('the statuses of a commit', () => {
  test('are filtered by name, ref, stage and pipeline, and sorted', async () => {
    project.git('branch', `side-${count}`, sha)
    const side = `side-${count}`
    const a = (await report({ state: 'success', name: 'a', ref: side })).body
    const b = (await report({ state: 'failed', name: 'b', ref: `topic-${count}` })).body
    const c = (await report({ state: 'pending', name: 'c', ref: side })).body
    const ids = async (query: string) => (await list(query)).map((one) => one.id)
    expect(await ids('')).toEqual([a.id, b.id, c.id])
    expect(await ids('sort=desc')).toEqual([c.id, b.id, a.id])
    expect(await ids('order_by=pipeline_id')).toEqual([a.id, c.id, b.id])
    expect(await ids('order_by=pipeline_id&sort=desc')).toEqual([b.id, a.id, c.id])
    expect(await ids('name=b')).toEqual([b.id])
    expect(await ids(`ref=${side}`)).toEqual([a.id, c.id])
    expect(await ids(`ref=${side}&name=c`)).toEqual([c.id])
    expect(await ids('stage=external')).toEqual([a.id, b.id, c.id])
    expect(await ids('stage=test')).toEqual([])
    expect(await ids(`pipeline_id=${b.pipeline_id}`)).toEqual([b.id])
    expect(await ids('pipeline_id=999999')).toEqual([])
    const page = await dev.get(`${project.api}/commits/${sha}/statuses?per_page=2&page=2`)
    expect([page.body.length, page.headers.get('x-total')]).toEqual([1, '3'])
  })

  test.each(['order_by=name', 'sort=up', 'pipeline_id=x', 'all=maybe'])(
    'refuse %s',
    async (query) => {
      const reply = await dev.get(`${project.api}/commits/${sha}/statuses?${query}`)
      expect(reply.status).toBe(400)
    },
  )

  test('are found by branch and short id as well', async () => {
    const { body } = await report({ state: 'success' })
    for (const at of [`topic-${count}`, sha.slice(0, 9)]) {
      const reply = await dev.get(`${project.api}/commits/${at}/statuses`)
      expect(reply.body.map((one: { id: number }) => one.id)).toEqual([body.id])
    }
    expect((await dev.get(`${project.api}/commits/${'0'.repeat(40)}/statuses`)).status).toBe(404)
  })

  test('stay with the project in which they were reported', async () => {
    const other = await addProject(world, ana, 'basic', { path: `copy-${count}` })
    const head = other.git('rev-parse', 'main')
    await ana.post(`/projects/${project.id}/statuses/${head}`, { state: 'success' })
    expect((await ana.get(`${other.api}/commits/${head}/statuses`)).body).toEqual([])
    expect((await ana.get(`${other.api}/commits/${head}`)).body.status).toBeNull()
  })
})

describe('who reports', () => {
  test('on a protected branch is one who may push or merge there', async () => {
    const branch = `guarded-${count}`
    project.git('branch', branch, sha)
    const protect = (levels: object) =>
      ana.post(`/projects/${project.id}/protected_branches`, { name: branch, ...levels })
    await protect({ push_access_level: 40, merge_access_level: 40 })
    expect((await report({ state: 'success', ref: branch })).status).toBe(403)
    expect((await report({ state: 'success', ref: `refs/heads/${branch}` })).status).toBe(403)
    expect(await list()).toEqual([])
    expect((await report({ state: 'success', ref: branch }, ana)).status).toBe(201)
    await ana.delete(`/projects/${project.id}/protected_branches/${branch}`)
    await protect({ push_access_level: 40, merge_access_level: 30 })
    expect((await report({ state: 'failed', ref: branch })).status).toBe(201)
  })

  test('on a protected branch is not let in by the id of its pipeline either', async () => {
    const branch = `shut-${count}`
    project.git('branch', branch, sha)
    await ana.post(`/projects/${project.id}/protected_branches`, {
      name: branch,
      push_access_level: 40,
      merge_access_level: 40,
    })
    const { body } = await report({ state: 'pending', ref: branch }, ana)
    const tried = await report({ state: 'success', pipeline_id: body.pipeline_id })
    expect(tried.status).toBe(403)
    expect(await pipelineState(body.pipeline_id)).toBe('pending')
  })

  test('is no Reporter, no stranger and not nobody; reading follows the project', async () => {
    await report({ state: 'success' })
    const stranger = await world.user(`stranger-${count}`)
    const path = `${project.api}/commits/${sha}/statuses`
    expect((await report({ state: 'success' }, rep)).status).toBe(403)
    expect((await report({ state: 'success' }, stranger)).status).toBe(404)
    expect((await report({ state: 'success' }, world.nobody)).status).toBe(404)
    expect((await rep.get(path)).status).toBe(200)
    expect((await stranger.get(path)).status).toBe(404)
    await ana.put(`/projects/${project.id}`, { visibility: 'public' })
    expect((await stranger.get(path)).body.length).toBe(1)
    expect((await world.nobody.get(path)).body.length).toBe(1)
    expect((await report({ state: 'success' }, stranger)).status).toBe(403)
    expect((await report({ state: 'success' }, world.nobody)).status).toBe(401)
    await ana.put(`/projects/${project.id}`, { visibility: 'private' })
  })

  test('reports nothing to an archived project', async () => {
    await ana.post(`/projects/${project.id}/archive`)
    expect((await report({ state: 'success' })).status).toBe(403)
    await ana.post(`/projects/${project.id}/unarchive`)
    expect(await list()).toEqual([])
  })
})
