import { beforeAll, describe, expect, test } from 'vitest'
import { gitBytes } from '../support/git.ts'
import { addMember } from '../support/members.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'badged' })
  path = `/projects/${project.id}`
  const config = 'one: {script: x}\ntwo: {script: x}\n'
  const commit = [
    'commit refs/heads/main',
    'committer Carl <carl@example.com> 1632121572 +0000',
    'data 4',
    'Work',
    'from refs/heads/main^0',
    'M 100644 inline .svc-ci.yml',
    `data ${config.length}`,
    config,
    'done',
    '',
  ].join('\n')
  gitBytes(project.path, ['fast-import', '--quiet', '--done'], { input: commit })
})

function badge(
  query = '',
  { by = ana, of = 'badged', ref = 'main', kind = 'pipeline', dash = '' } = {},
) {
  return by.get(`/ana/${of}${dash}/badges/${ref}/${kind}.svg${query}`, { host: true })
}

/** A new pipeline, in a state and with coverages of its jobs, whatever brought them there. */
async function pipelineWith(status: string, coverages: (number | null)[] = [], ref = 'main') {
  const { body } = await ana.post(`${path}/pipeline`, { ref: 'main' })
  await becomes(body.id, status, coverages, ref)
  return body.id as number
}

async function becomes(
  id: number,
  status: string,
  coverages: (number | null)[] = [],
  ref = 'main',
) {
  const { db } = world.ctx
  const values = { status: status as 'success', ref } // one of the states of a pipeline
  await db.updateTable('pipelines').set(values).where('id', '=', id).execute()
  for (const [at, coverage] of coverages.entries()) {
    await db
      .updateTable('ci_jobs')
      .set({ coverage })
      .where('pipeline_id', '=', id)
      .where('name', '=', ['one', 'two'][at] ?? '')
      .execute()
  }
}

const GREEN = '#44cc11'
const LIGHT_GREEN = '#a3c51c'
const YELLOW = '#dfb317'
const RED = '#e05d44'

function colors(svg: string): string[] {
  const long = svg
    .toLowerCase()
    .replace(/#([0-9a-f])([0-9a-f])([0-9a-f])(?![0-9a-f])/g, '#$1$1$2$2$3$3')
  return [GREEN, LIGHT_GREEN, YELLOW, RED].filter(
    (color) => long.includes(color) || (color === GREEN && /#4c1\b/.test(svg)),
  )
}

test('badges follow the job of a pipeline from its start to its end', async () => {
  const built = await addProject(world, ana, 'basic', { path: 'built' })
  const runner = await addRunner(world, ana, built.id)
  const made = await ana.post(`/projects/${built.id}/repository/commits`, {
    branch: 'topic/one',
    start_branch: 'main',
    commit_message: 'Add a job',
    actions: [
      {
        action: 'create',
        file_path: '.gitlab-ci.yml',
        content: "one:\n  script: echo\n  coverage: '/done (\\d+)%/'\n",
      },
    ],
  })
  expect(made.status).toBe(201)
  await world.runTasks()
  const shown = (kind: string, query = '', ref = 'topic/one') =>
    badge(query, { of: 'built', kind, ref })
  const waiting = await shown('pipeline')
  expect(waiting.headers.get('content-type')).toContain('image/svg+xml')
  expect(waiting.body).toContain('pipeline: pending')
  expect((await shown('coverage')).body).toContain('coverage: unknown')
  const job = await runner.request()
  if (!job) throw new Error('no job')
  await runner.finish(job, 'success', 'done 87%\n')
  await world.runTasks()
  expect((await shown('pipeline')).body).toContain('pipeline: passed')
  expect((await shown('coverage')).body).toContain('coverage: 87.00%')
  expect((await shown('coverage', '?job=other')).body).toContain('unknown')
  expect((await shown('pipeline', '', 'nowhere')).body).toContain('unknown')
  const label = encodeURIComponent('<b>"x"</b>')
  const { body } = await shown('pipeline', `?style=flat-square&key_text=${label}`)
  expect(body).not.toContain('<b>')
  expect((await shown('pipeline', '?style=round')).status).toBe(400)
})

describe('the badge of a pipeline', () => {
  let newest: number | undefined

  test.each([
    ['success', 'passed'],
    ['failed', 'failed'],
    ['running', 'running'],
    ['pending', 'pending'],
    ['canceled', 'canceled'],
    ['skipped', 'skipped'],
    ['manual', 'manual'],
    ['created', 'created'],
    ['waiting_for_resource', 'waiting for resource'],
  ])('shows the status %s as %s', async (status, text) => {
    newest ??= await pipelineWith(status)
    await becomes(newest, status)
    const reply = await badge()
    expect(reply.status).toBe(200)
    expect(reply.body).toContain(`pipeline: ${text}`)
  })

  test('shows the newest pipeline of its ref, without skipped ones on request', async () => {
    await pipelineWith('success')
    await pipelineWith('failed', [], 'topic/deep/one')
    await pipelineWith('skipped')
    expect((await badge()).body).toContain('pipeline: skipped')
    expect((await badge('?ignore_skipped=true')).body).toContain('pipeline: passed')
    expect((await badge('', { ref: 'topic/deep/one' })).body).toContain('pipeline: failed')
    expect((await badge('', { ref: 'topic/deep' })).body).toContain('pipeline: unknown')
  })

  test('has addresses with and without a dash, and with an encoded ref', async () => {
    for (const options of [{ dash: '/-' }, { dash: '' }, { ref: 'topic%2Fdeep%2Fone' }]) {
      const reply = await badge('', options)
      expect(reply.status).toBe(200)
      expect(reply.headers.get('content-type')).toContain('image/svg+xml')
    }
    expect((await badge('', { ref: 'topic%2Fdeep%2Fone' })).body).toContain('pipeline: failed')
  })

  test('may not be cached, and forbids scripts by its content security policy', async () => {
    const { headers } = await badge()
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('has the label and the style of the query', async () => {
    expect((await badge('?key_text=my%20build')).body).toContain('my build: skipped')
    expect((await badge(`?key_text=${'k'.repeat(64)}`)).status).toBe(200)
    expect((await badge(`?key_text=${'k'.repeat(65)}`)).status).toBe(400)
    for (const style of ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social']) {
      expect((await badge(`?style=${style}`)).body).toMatch(/^<svg/)
    }
  })
})

describe('the badge of a coverage', () => {
  let newest: number | undefined
  const coverage = (query = '') => badge(query, { kind: 'coverage' })

  test('shows the mean of the jobs of the newest pipeline that passed, or one job', async () => {
    await pipelineWith('success', [80, 90])
    await pipelineWith('failed', [10, 20])
    await pipelineWith('running', [1, 2])
    expect((await coverage()).body).toContain('coverage: 85.00%')
    expect((await coverage('?job=one')).body).toContain('coverage: 80.00%')
    expect((await coverage('?job=two')).body).toContain('coverage: 90.00%')
    expect((await coverage('?job=three')).body).toContain('coverage: unknown')
    await pipelineWith('success', [60, null])
    expect((await coverage()).body).toContain('coverage: 60.00%')
    expect((await coverage('?job=two')).body).toContain('coverage: unknown')
  })

  test.each([
    [95, '', GREEN],
    [94, '', LIGHT_GREEN],
    [90, '', LIGHT_GREEN],
    [89, '', YELLOW],
    [75, '', YELLOW],
    [74, '', RED],
    [0, '', RED],
    [74, '?min_good=70', GREEN],
    [74, '?min_acceptable=74', LIGHT_GREEN],
    [74, '?min_medium=74', YELLOW],
  ])('of %i%% with the query %j has the color %s', async (value, query, color) => {
    newest ??= await pipelineWith('success')
    await becomes(newest, 'success', [value])
    const { body } = await coverage(query)
    expect(body).toContain(`coverage: ${value}.00%`)
    expect(colors(body)).toEqual([color])
  })

  test.each([
    'min_good=101',
    'min_medium=-1',
    'min_acceptable=x',
    'style=none',
    'ignore_skipped=2',
  ])('answers 400 for %s', async (query) => {
    expect((await coverage(`?${query}`)).status).toBe(400)
  })
})

describe('badges', () => {
  test('are shown to those who see the pipelines of the project', async () => {
    const guest = await world.user('guest')
    await addMember(world, project.id, guest.id, 10)
    const states = async () => {
      const callers = [ana, guest, stranger, world.nobody]
      return await Promise.all(callers.map(async (by) => (await badge('', { by })).status))
    }
    expect(await states()).toEqual([200, 200, 404, 404])
    await ana.put(path, { public_jobs: false })
    expect(await states()).toEqual([200, 404, 404, 404])
    await ana.put(path, { public_jobs: true, builds_access_level: 'disabled' })
    expect(await states()).toEqual([404, 404, 404, 404])
    await ana.put(path, { builds_access_level: 'private', visibility: 'public' })
    expect(await states()).toEqual([200, 200, 404, 404])
    await ana.put(path, { builds_access_level: 'enabled', public_jobs: false })
    expect(await states()).toEqual([200, 404, 404, 404])
    await ana.put(path, { public_jobs: true })
    expect(await states()).toEqual([200, 200, 200, 200])
  })

  test('of an unknown project, kind or format answer 404', async () => {
    const get = (at: string) => ana.get(at, { host: true })
    expect((await get('/ana/gone/badges/main/pipeline.svg')).status).toBe(404)
    expect((await get('/ana/badged/badges/main/release.svg')).status).toBe(404)
    expect((await get('/ana/badged/badges/main/pipeline.png')).status).toBe(404)
  })
})
