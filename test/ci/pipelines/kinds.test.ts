import { beforeAll, describe, expect, test } from 'vitest'
import { parseJunit } from '../../../src/ci/job-ends/junit.ts'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { openBench } from '../../support/review.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')

async function projectWith(path: string, config: string): Promise<TestProject> {
  const project = await addProject(world, ana, 'basic', { path })
  await addMember(world, project.id, dev.id, 30)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  return project
}

/** The variables of the next job, by name. */
async function variablesOfNextJob(projectId: number): Promise<Record<string, string>> {
  const runner = await addRunner(world, ana, projectId)
  const job = await runner.request()
  if (!job) throw new Error('no job')
  await runner.finish(job, 'success')
  const sent = job.variables as { key: string; value: string }[]
  return Object.fromEntries(sent.map(({ key, value }) => [key, value]))
}

const zeros = '0'.repeat(40)

describe('the variables of a job describe its pipeline', () => {
  let project: TestProject
  let path: string
  let sha: string
  beforeAll(async () => {
    project = await projectWith('kinds', 'x: {script: y}')
    path = `/projects/${project.id}`
    sha = project.git('rev-parse', 'main')
    project.git('branch', 'Feature/A_b', 'main')
    project.git('tag', 'v1.0', 'main')
  })

  test('on a branch', async () => {
    await ana.post(`${path}/pipeline`, { ref: 'Feature/A_b' })
    const variables = await variablesOfNextJob(project.id)
    expect(variables).toMatchObject({
      CI_COMMIT_SHA: sha,
      CI_COMMIT_SHORT_SHA: sha.slice(0, 8),
      CI_COMMIT_BEFORE_SHA: zeros,
      CI_COMMIT_BRANCH: 'Feature/A_b',
      CI_COMMIT_REF_NAME: 'Feature/A_b',
      CI_COMMIT_REF_SLUG: 'feature-a-b',
      CI_COMMIT_REF_PROTECTED: 'false',
      CI_PIPELINE_SOURCE: 'api',
      CI_PROJECT_PATH: 'ana/kinds',
      CI_PROJECT_PATH_SLUG: 'ana-kinds',
      CI_PROJECT_NAME: 'kinds',
      CI_PROJECT_NAMESPACE: 'ana',
      CI_DEFAULT_BRANCH: 'main',
      CI_JOB_NAME: 'x',
      CI_JOB_STAGE: 'test',
      CI_NODE_TOTAL: '1',
      SVC_CI: 'true',
      SVC_FEATURES: '',
      SVC_USER_LOGIN: 'ana',
    })
    for (const name of ['CI_COMMIT_TAG', 'CI_MERGE_REQUEST_IID', 'CI_PIPELINE_TRIGGERED']) {
      expect(variables).not.toHaveProperty(name)
    }
  })

  test('on a tag', async () => {
    await ana.post(`${path}/pipeline`, { ref: 'v1.0' })
    const variables = await variablesOfNextJob(project.id)
    expect(variables).toMatchObject({
      CI_COMMIT_TAG: 'v1.0',
      CI_COMMIT_REF_NAME: 'v1.0',
      CI_COMMIT_REF_SLUG: 'v1-0',
      CI_COMMIT_BEFORE_SHA: zeros,
    })
    expect(variables).not.toHaveProperty('CI_COMMIT_BRANCH')
  })

  test('by a trigger token', async () => {
    const { body } = await ana.post(`${path}/triggers`, { description: 'a' })
    const given = { token: body.token, ref: 'main', variables: { WHO: 'me' } }
    expect((await world.nobody.post(`${path}/trigger/pipeline`, given)).status).toBe(201)
    const variables = await variablesOfNextJob(project.id)
    expect(variables).toMatchObject({
      CI_PIPELINE_SOURCE: 'trigger',
      CI_PIPELINE_TRIGGERED: 'true',
      CI_COMMIT_BRANCH: 'main',
      WHO: 'me',
    })
    expect(body.token).toContain(variables.CI_TRIGGER_SHORT_TOKEN)
  })
})

describe('a pipeline of a merge request', () => {
  const config = 'x: {script: y, rules: [{if: $CI_MERGE_REQUEST_IID}]}\n'

  test('is named by its branch, and has the variables of the open merge request', async () => {
    const bench = await openBench(world, ana)
    bench.commit('main', { '.svc-ci.yml': config })
    bench.commit('Topic/1', { 'a.txt': 'a' })
    await bench.open('Topic/1')
    const variables = await variablesOfNextJob(bench.project.id)
    expect(variables).toMatchObject({
      CI_PIPELINE_SOURCE: 'merge_request_event',
      CI_COMMIT_REF_NAME: 'Topic/1',
      CI_COMMIT_REF_SLUG: 'topic-1',
      CI_COMMIT_BEFORE_SHA: zeros,
      CI_MERGE_REQUEST_REF_PATH: 'refs/merge-requests/1/head',
      CI_OPEN_MERGE_REQUESTS: `${bench.project.fullPath}!1`,
    })
    expect(variables).not.toHaveProperty('CI_COMMIT_BRANCH')
    const [pipeline] = (await ana.get(`/projects/${bench.project.id}/pipelines`)).body
    expect(pipeline.ref).toBe('refs/merge-requests/1/head')
  })

  test('has the jobs without rules where the workflow chooses between it and those of branches', async () => {
    const bench = await openBench(world, ana)
    const workflow = `workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
`
    bench.commit('main', {
      '.svc-ci.yml': `${workflow}plain: {script: x}\nbranches: {script: x, only: [branches]}\n`,
    })
    bench.commit('topic', { 'a.txt': 'a' })
    await bench.open('topic')
    const path = `/projects/${bench.project.id}`
    const made = await ana.post(`${path}/repository/files/b.txt`, {
      branch: 'topic',
      content: 'b',
      commit_message: 'Add b',
    })
    expect(made.status).toBe(201)
    await world.runTasks()
    const pipelines = (await ana.get(`${path}/pipelines`)).body as { id: number; source: string }[]
    expect(pipelines.map(({ source }) => source)).toEqual(Array(2).fill('merge_request_event'))
    for (const { id } of pipelines)
      expect((await ana.get(`${path}/pipelines/${id}/jobs`)).body).toMatchObject([
        { name: 'plain' },
      ])
  })

  test.each([{}, { merge_pipelines_enabled: true }])(
    'skips its jobs when the message of its head says so (%j), but not when somebody runs it',
    async (settings) => {
      const bench = await openBench(world, ana, settings)
      bench.commit('main', { '.svc-ci.yml': config })
      const parents = [bench.project.git('rev-parse', 'main')]
      const files = { 'a.txt': 'a' }
      const message = 'Try [Skip CI]\n'
      commitFiles(bench.project, { files, ref: 'refs/heads/topic', parents, message })
      await bench.open('topic')
      const path = `/projects/${bench.project.id}/pipelines`
      expect((await ana.get(path)).body).toMatchObject([{ status: 'skipped' }])
      expect((await ana.post(`${bench.api}/1/pipelines`)).body).toMatchObject({ status: 'pending' })
    },
  )
})

describe('pipelines are found', () => {
  let path: string
  const ids: number[] = []
  beforeAll(async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const project = await projectWith(
      'found',
      'workflow: {name: $TITLE}\nx: {script: y, rules: [{if: $JOBS == "manual", when: manual}, {when: always}]}',
    )
    path = `/projects/${project.id}/pipelines`
    project.git('branch', 'other', 'main')
    project.git('tag', 'v1', 'main')
    const runs = [
      [ana, 'main', 'one'],
      [dev, 'other', 'two'],
      [ana, 'v1', 'three'],
      [ana, 'main', 'four'],
    ] as const
    for (const [at, [who, ref, title]] of runs.entries()) {
      world.setNow(`2026-05-04T1${at}:00:00.000Z`)
      const variables = [{ key: 'TITLE', value: title }]
      const made = await who.post(path.replace(/s$/, ''), { ref, variables })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      ids.push(made.body.id)
    }
    await ana.post(`${path}/${ids[0]}/cancel`)
  })
  /** Which of the four, by their order. */
  async function found(query: string): Promise<number[]> {
    const { status, body } = await ana.get(`${path}?${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return (body as { id: number }[]).map(({ id }) => ids.indexOf(id) + 1)
  }

  test.each<[string, number[]]>([
    ['', [4, 3, 2, 1]],
    ['sort=asc', [1, 2, 3, 4]],
    ['ref=main', [4, 1]],
    ['scope=pending', [4, 3, 2]],
    ['scope=running', []],
    ['scope=finished', [1]],
    ['scope=branches', [4, 2]],
    ['scope=tags', [3]],
    ['status=canceled', [1]],
    ['status=waiting_for_callback', []],
    ['source=api', [4, 3, 2, 1]],
    ['source=push', []],
    ['username=dev', [2]],
    ['username=nobody', []],
    ['name=three', [3]],
    ['yaml_errors=true', []],
    ['yaml_errors=false', [4, 3, 2, 1]],
    ['created_after=2026-05-04T11:30:00Z', [4, 3]],
    ['created_before=2026-05-04T11:00:00Z', [1]],
    ['updated_after=2026-05-04T12:30:00Z', [4, 1]],
    ['updated_before=2026-05-04T12:00:00Z', [2]],
    ['order_by=ref&sort=asc', [1, 4, 2, 3]],
    ['order_by=user_id&sort=desc', [2, 4, 3, 1]],
    ['order_by=status&sort=asc&ref=main', [1, 4]],
    ['ref=main&status=pending', [4]],
    ['sha=0000000000000000000000000000000000000000', []],
  ])('by %j', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  test.each(['scope', 'status', 'order_by', 'sort'])('and a wrong %s is refused', async (name) => {
    const { status, body } = await ana.get(`${path}?${name}=sideways`)
    expect([status, body]).toEqual([400, { error: `${name} does not have a valid value` }])
  })

  test('with their number and a page behind the other', async () => {
    const { body, headers } = await ana.get(`${path}?per_page=3&page=2`)
    expect(body.map(({ id }: { id: number }) => id)).toEqual([ids[0]])
    expect([headers.get('x-total'), headers.get('x-next-page')]).toEqual(['4', ''])
  })
})

describe('lint', () => {
  test('says that a manual job may fail, but not where rules made it manual', async () => {
    const project = await projectWith('linted', 'x: {script: y}')
    const content = 'x: {script: y, when: manual}\nz: {script: y, when: manual, rules: [{if: $A}]}'
    const lint = `/projects/${project.id}/ci/lint`
    const { body } = await ana.post(lint, { content, include_jobs: true })
    const allowed = body.jobs.map((job: { allow_failure: boolean }) => job.allow_failure)
    expect(allowed).toEqual([true, false])
  })

  test('reads the file of any commit, whether a branch has it or not', async () => {
    const project = await projectWith('history', 'old: {script: y}')
    const old = project.git('rev-parse', 'main')
    commitFiles(project, { files: { '.svc-ci.yml': 'new: {script: y}' } })
    const lint = `/projects/${project.id}/ci/lint?include_jobs=true`
    const named = async (query: string) => {
      const { body } = await ana.get(`${lint}${query}`)
      return body.valid ? body.jobs.map((job: { name: string }) => job.name) : body.errors
    }
    expect(await named('')).toEqual(['new'])
    for (const name of ['sha', 'content_ref'])
      expect(await named(`&${name}=${old}`)).toEqual(['old'])
    expect(await named('&content_ref=main')).toEqual(['new'])
    expect(await named(`&sha=${'f'.repeat(40)}`)).toEqual(['Reference not found'])
  })
})

describe('a resource', () => {
  const group = 'x: {script: y, resource_group: prod}'

  test('goes to the next pipeline when the one that has it is deleted', async () => {
    const project = await projectWith('resource', group)
    const path = `/projects/${project.id}`
    const make = async () => (await ana.post(`${path}/pipeline`, { ref: 'main' })).body.id as number
    const [first, second] = [await make(), await make()]
    const statusOf = async (id: number) => (await ana.get(`${path}/pipelines/${id}`)).body.status
    expect([await statusOf(first), await statusOf(second)]).toEqual([
      'pending',
      'waiting_for_resource',
    ])
    expect((await ana.delete(`${path}/pipelines/${first}`)).status).toBe(204)
    expect(await statusOf(second)).toBe('pending')
  })

  test.each([
    ['oldest_first', 1],
    ['newest_first', 2],
    ['newest_ready_first', 2],
    ['unordered', 1],
  ])('of mode %s goes to pipeline %i of those that wait', async (process_mode, expected) => {
    const project = await projectWith(`mode-${process_mode}`, group)
    const path = `/projects/${project.id}`
    const make = async () => (await ana.post(`${path}/pipeline`, { ref: 'main' })).body.id as number
    const ids = [await make(), await make(), await make()]
    const one = `${path}/resource_groups/prod`
    expect((await dev.put(one, { process_mode })).body).toMatchObject({ key: 'prod', process_mode })
    const waiting = (await dev.get(`${one}/upcoming_jobs`)).body
    expect(waiting.map(({ pipeline }: { pipeline: { id: number } }) => pipeline.id).sort()).toEqual(
      ids.slice(1),
    )
    const [holder] = (await ana.get(`${path}/pipelines/${ids[0]}/jobs`)).body
    await endJob(world.ctx, { id: holder.id, pipeline_id: ids[0] ?? 0 }, { status: 'success' })
    const [next] = (await ana.get(`${path}/jobs?scope=pending`)).body
    expect(next.pipeline.id).toBe(ids[expected])
  })
})

test('a schedule that is due stays due when somebody only describes it anew', async () => {
  world.setNow('2026-05-04T10:00:00.000Z')
  const project = await projectWith('due', 'x: {script: y}')
  const path = `/projects/${project.id}/pipeline_schedules`
  const given = { description: 'a', ref: 'main', cron: '30 10 * * *' }
  const { body } = await ana.post(path, given)
  world.setNow('2026-05-04T10:31:00.000Z')
  const changed = await ana.put(`${path}/${body.id}`, { description: 'b' })
  expect(changed.body.next_run_at).toBe('2026-05-04T10:30:00.000Z')
  const moved = await ana.put(`${path}/${body.id}`, { cron: '45 10 * * *' })
  expect(moved.body.next_run_at).toBe('2026-05-04T10:45:00.000Z')
})

test('a test report counts no time that is none', () => {
  const times = ['1.5', '', 'soon', '1e999', 'Infinity']
  const cases = times.map((time) => `<testcase name="a" time="${time}"/>`).join('')
  const report = parseJunit(`<testsuite>${cases}</testsuite>`)
  const found = 'cases' in report ? report.cases.map((one) => one.execution_time) : []
  expect(found).toEqual([1.5, 0, 0, 0, 0])
})
