import { describe, expect, test } from 'vitest'
import { atOnce } from '../../support/at-once.ts'
import { createGroup } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let count = 0

async function projectWith(config: string, settings = {}): Promise<TestProject> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `q${count}`, settings })
  await addMember(world, project, dev, 30)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  return project
}

async function run(project: TestProject, more: object = {}): Promise<number> {
  const reply = await dev.post(`/projects/${project.id}/pipeline`, { ref: 'main', ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

async function job(project: TestProject, id: number) {
  return (await dev.get(`/projects/${project.id}/jobs/${id}`)).body
}

async function started(config = 'x: {script: make}', settings = {}) {
  const project = await projectWith(config, settings)
  const runner = await addRunner(world, ana, project.id)
  const pipeline = await run(project)
  const given = await runner.request()
  if (!given) throw new Error('no job')
  return { project, runner, pipeline, given }
}

describe('a runner', () => {
  test('is registered with a token of its place, verified, given a new token and deleted', async () => {
    const { resetRegistrationToken } = await import(
      '../../../src/projects/registration-tokens/verbs.ts'
    )
    const place = { groupId: null, projectId: null }
    const token = await resetRegistrationToken(world.ctx, place)
    const nobody = new TestRunner(world.url, '')
    const made = await nobody.call('POST', '/runners', {
      token,
      description: 'one',
      run_untagged: true,
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      token: expect.stringMatching(/^svcrt-/),
      token_expires_at: null,
    })
    const own = made.body.token as string
    const verified = await nobody.call('POST', '/runners/verify', { token: own, system_id: 's_1' })
    expect(verified).toMatchObject({ status: 200, body: { id: made.body.id, token: own } })
    const reset = () => nobody.call('POST', '/runners/reset_authentication_token', { token: own })
    const resets = [...(await atOnce(world, [reset, reset]))]
    const [again, late] = resets.sort((one, other) => one.status - other.status)
    if (!again) throw new Error('no answer')
    expect([again.status, late?.status]).toEqual([201, 403])
    expect((await nobody.call('POST', '/runners/verify', { token: own })).status).toBe(403)
    const header = { 'RUNNER-TOKEN': again.body.token as string }
    expect(
      (await nobody.call('DELETE', '/runners/managers?system_id=s_1', undefined, header)).status,
    ).toBe(204)
    const leave = () => nobody.call('DELETE', '/runners', { token: again.body.token })
    const left = (await atOnce(world, [leave, leave])).map(({ status }) => status)
    expect(left.sort()).toEqual([204, 403])
    expect((await nobody.call('POST', '/runners/verify', { token: again.body.token })).status).toBe(
      403,
    )
  })

  test('is refused without a token, with a wrong one, and where registration tokens are off', async () => {
    const nobody = new TestRunner(world.url, '')
    expect((await nobody.call('POST', '/runners', {})).status).toBe(400)
    expect((await nobody.call('POST', '/runners', { token: 'no' })).status).toBe(403)
    expect((await nobody.call('POST', '/jobs/request', {})).status).toBe(400)
    expect((await nobody.call('POST', '/jobs/request', { token: 'no' })).status).toBe(403)
    await world.root.put('/application/settings', { allow_runner_registration_token: false })
    expect((await nobody.call('POST', '/runners', { token: 'no' })).status).toBe(410)
    await world.root.put('/application/settings', { allow_runner_registration_token: true })
  })

  test('is made by those who may: administrators, Owners and Maintainers', async () => {
    const project = await projectWith('x: {script: y}')
    const body = { runner_type: 'project_type', project_id: project.id }
    expect((await dev.post('/user/runners', body)).status).toBe(403)
    expect((await ana.post('/user/runners', body)).status).toBe(201)
    expect((await ana.post('/user/runners', { runner_type: 'instance_type' })).status).toBe(403)
    expect((await ana.post('/user/runners', { ...body, run_untagged: false })).status).toBe(400)
    expect((await world.root.post('/user/runners', { runner_type: 'instance_type' })).status).toBe(
      201,
    )
  })
})

describe('a job', () => {
  test('is given with all that a runner needs, once', async () => {
    const { given, runner, project, pipeline } = await started(
      'x: {before_script: [a], script: [b, c], after_script: [d], variables: {A: 1}, image: node, artifacts: {paths: [out], reports: {junit: j.xml}}, cache: {key: k, paths: [m]}}',
    )
    expect(given).toMatchObject({
      id: expect.any(Number),
      token: expect.stringMatching(/^svccbt-/),
      allow_git_fetch: true,
      job_info: { name: 'x', stage: 'test', project_id: project.id, pipeline_id: pipeline },
      git_info: {
        ref: 'main',
        ref_type: 'branch',
        depth: 20,
        refspecs: [
          `+refs/pipelines/${pipeline}:refs/pipelines/${pipeline}`,
          '+refs/heads/main:refs/remotes/origin/main',
        ],
      },
      runner_info: { timeout: 3600 },
      steps: [
        { name: 'script', script: ['a', 'b', 'c'], when: 'on_success' },
        { name: 'after_script', script: ['d'], when: 'always', allow_failure: true },
      ],
      image: { name: 'node' },
      services: [],
      artifacts: [
        { paths: ['out'], artifact_type: 'archive', artifact_format: 'zip' },
        { paths: ['j.xml'], artifact_type: 'junit', artifact_format: 'gzip', when: 'always' },
      ],
      cache: [{ key: 'k-non_protected', paths: ['m'], policy: 'pull-push' }],
      dependencies: [],
    })
    const variables = new Map(
      (given.variables as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
    )
    expect(variables.get('A')).toBe('1')
    expect(variables.get('CI_JOB_TOKEN')).toBe(given.token)
    expect(variables.get('CI_JOB_ID')).toBe(String(given.id))
    expect(variables.get('CI_PROJECT_PATH')).toBe(project.fullPath)
    expect(variables.get('CI_TEMPLATE_REGISTRY_HOST')).toBe(variables.get('CI_SERVER_FQDN'))
    expect(variables.has('CI_SERVER_SHELL_SSH_HOST')).toBe(false)
    expect(variables.get('CI_REPOSITORY_URL')).toContain(`svc-ci-token:${given.token}@`)
    expect(variables.has('CI_JOB_STATUS')).toBe(false)
    expect(await runner.request()).toBeUndefined()
    expect((await job(project, given.id)).status).toBe('running')
  })

  test('knows the group at the top, when it started, its runner and the release of its tag', async () => {
    const top = await createGroup(ana, 'top')
    const below = await createGroup(ana, 'below', { parent_id: top.id })
    const project = await projectWith('x: {script: make}')
    const moved = await ana.put(`/projects/${project.id}/transfer`, { namespace: below.id })
    expect(moved.status).toBe(200)
    const release = { tag_name: 'v9', ref: 'main', description: 'Bells' }
    expect((await ana.post(`/projects/${project.id}/releases`, release)).status).toBe(201)
    const runner = await addRunner(world, ana, project.id)
    const given: Record<string, Map<string, string>> = {}
    await run(project)
    await run(project, { ref: 'v9' })
    for (let job = await runner.request(); job; job = await runner.request()) {
      const { namespace_id, root_namespace_id } = job.job_info
      expect([namespace_id, root_namespace_id]).toEqual([below.id, top.id])
      const variables = job.variables as { key: string; value: string }[]
      given[job.git_info.ref_type] = new Map(variables.map(({ key, value }) => [key, value]))
    }
    const [branch, tag] = [given.branch, given.tag]
    expect(branch?.get('CI_JOB_STARTED_AT_SLUG')).toBe(
      branch?.get('CI_JOB_STARTED_AT')?.toLowerCase().replaceAll(/[:.]/g, '-'),
    )
    const short = branch?.get('CI_RUNNER_SHORT_TOKEN')
    expect(short).toHaveLength(9)
    expect(runner.token).toContain(short)
    expect([branch?.has('CI_RELEASE_DESCRIPTION'), tag?.get('CI_RELEASE_DESCRIPTION')]).toEqual([
      false,
      'Bells',
    ])
  })

  test('goes to no runner that is paused, lacks a tag, or takes only protected refs', async () => {
    const project = await projectWith('x: {script: y, tags: [gpu]}')
    const plain = await addRunner(world, ana, project.id)
    const paused = await addRunner(world, ana, project.id, { tag_list: 'gpu', paused: true })
    const guarded = await addRunner(world, ana, project.id, {
      tag_list: 'gpu',
      access_level: 'ref_protected',
    })
    const fitting = await addRunner(world, ana, project.id, { tag_list: ['gpu', 'fast'] })
    const other = await addRunner(world, ana, (await projectWith('x: {script: y}')).id)
    await run(project)
    for (const runner of [plain, paused, guarded, other]) {
      expect(await runner.request()).toBeUndefined()
    }
    expect(await fitting.request()).toBeDefined()
  })

  test('untagged goes to no runner that wants tags', async () => {
    const project = await projectWith('x: {script: y}')
    const picky = await addRunner(world, ana, project.id, { tag_list: 'a', run_untagged: false })
    await run(project)
    expect(await picky.request()).toBeUndefined()
  })

  test('comes to a runner that waits the moment it is there', async () => {
    const project = await projectWith('x: {script: y}')
    const runner = await addRunner(world, ana, project.id)
    expect(await runner.request()).toBeUndefined()
    const waiting = runner.request({ last_update: runner.lastUpdate })
    await run(project)
    expect(await waiting).toBeDefined()
  })

  test('goes to one of many runners that ask at once', async () => {
    const project = await projectWith('x: {script: y}')
    const runners = await Promise.all(
      Array.from({ length: 5 }, () => addRunner(world, ana, project.id)),
    )
    await run(project)
    const given = await Promise.all(runners.map((runner) => runner.request()))
    expect(given.filter((one) => one !== undefined)).toHaveLength(1)
  })

  test('ends as the runner says, and takes the pipeline along', async () => {
    const { project, runner, pipeline, given } = await started(
      'a: {stage: build, script: y}\nb: {script: z}',
    )
    expect((await runner.finish(given, 'success')).status).toBe(200)
    expect((await job(project, given.id)).status).toBe('success')
    const next = await runner.request()
    expect(next?.job_info.name).toBe('b')
    if (next)
      await runner.finish(next, 'failed', 'no\n', {
        failure_reason: 'script_failure',
        exit_code: 3,
      })
    const { body } = await dev.get(`/projects/${project.id}/pipelines/${pipeline}`)
    expect(body.status).toBe('failed')
    expect(await job(project, next?.id ?? 0)).toMatchObject({
      status: 'failed',
      failure_reason: 'script_failure',
    })
  })

  test('is run again as often as it says, for the reasons that it names', async () => {
    const { project, runner, given } = await started(
      'x: {script: y, retry: {max: 1, when: runner_system_failure}}',
    )
    await runner.finish(given, 'failed', 'a', { failure_reason: 'runner_system_failure' })
    const second = await runner.request()
    expect(second?.id).not.toBe(given.id)
    if (second)
      await runner.finish(second, 'failed', 'a', { failure_reason: 'runner_system_failure' })
    expect(await runner.request()).toBeUndefined()
    expect((await job(project, second?.id ?? 0)).status).toBe('failed')
  })

  test('may fail with the exit codes that it names', async () => {
    const { project, runner, given, pipeline } = await started(
      'x: {script: y, allow_failure: {exit_codes: [42]}}',
    )
    await runner.finish(given, 'failed', 'a', { exit_code: 42 })
    expect(await job(project, given.id)).toMatchObject({ status: 'failed', allow_failure: true })
    const { body } = await dev.get(`/projects/${project.id}/pipelines/${pipeline}`)
    expect(body).toMatchObject({
      status: 'success',
      detailed_status: { label: 'passed with warnings' },
    })
  })

  test('that is canceled is "canceling" for its runner, which still runs after_script', async () => {
    const { project, runner, given } = await started()
    await dev.post(`/projects/${project.id}/jobs/${given.id}/cancel`)
    const answer = await runner.update(given, 'running')
    expect(answer.headers.get('job-status')).toBe('canceling')
    expect((await runner.finish(given, 'success')).status).toBe(200)
    expect((await job(project, given.id)).status).toBe('canceled')
    const late = await runner.update(given, 'success')
    expect(late.status).toBe(403)
    expect(late.headers.get('job-status')).toBe('canceled')
  })

  test('is 403 for whoever has another token, and when there is none', async () => {
    const { runner, given } = await started()
    expect((await runner.update({ ...given, token: 'x' }, 'success')).status).toBe(403)
    expect((await runner.update({ ...given, id: 999_999 }, 'success')).status).toBe(403)
    expect((await runner.append({ ...given, token: 'x' }, 0, 'a')).status).toBe(403)
  })
})

describe('a job token', () => {
  test('is good for its project while the job runs, and for nothing after', async () => {
    const { project, runner, given } = await started()
    const nobody = world.nobody
    const headers = { 'JOB-TOKEN': given.token }
    const tags = `/projects/${project.id}/repository/tags`
    expect((await nobody.get(tags, { headers })).status).toBe(200)
    const other = await projectWith('x: {script: y}')
    expect((await nobody.get(`/projects/${other.id}/repository/tags`, { headers })).status).toBe(
      404,
    )
    expect((await nobody.get('/user', { headers })).status).toBe(401)
    await runner.finish(given, 'success')
    expect((await nobody.get(tags, { headers })).status).toBe(401)
  })

  test('clones the project, and pushes only where the project lets it', async () => {
    const { mkdirSync } = await import('node:fs')
    const { newTestFolder } = await import('../../support/test-folder.ts')
    const { gitClient, runGitClient } = await import('../../support/git-client.ts')
    const { project, given } = await started()
    const folder = newTestFolder()
    mkdirSync(folder, { recursive: true })
    const url = `${world.url.replace('//', `//svc-ci-token:${given.token}@`)}/${project.fullPath}.git`
    await gitClient(folder, ['clone', '-q', url, 'work'])
    const work = `${folder}/work`
    const refused = await runGitClient(work, ['push', 'origin', 'HEAD:refs/heads/new'])
    expect(refused.stderr).toContain('403')
    await ana.put(`/projects/${project.id}`, { ci_push_repository_for_job_token_allowed: true })
    await gitClient(work, ['push', 'origin', 'HEAD:refs/heads/new'])
    await world.runTasks()
    // What a job pushes runs nothing: else it would push for ever.
    const made = await ana.get(`/projects/${project.id}/pipelines?ref=new`)
    expect(made.body).toMatchObject([{ status: 'skipped' }])
  })
})

describe('a log', () => {
  test('grows only where it ends, and is sent again after a gap', async () => {
    const { runner, given } = await started()
    const first = await runner.append(given, 0, 'hello ')
    expect(first.status).toBe(202)
    expect(first.headers.get('range')).toBe('0-6')
    for (const start of [0, 3, 7]) {
      const refused = await runner.append(given, start, 'x')
      expect(refused.status).toBe(416)
      expect(refused.headers.get('range')).toBe('0-6')
    }
    expect((await runner.append(given, 6, 'world')).headers.get('range')).toBe('0-11')
    const plain = { 'Content-Type': 'text/plain', 'JOB-TOKEN': given.token }
    const bytes = Buffer.from('x')
    expect((await runner.call('PATCH', `/jobs/${given.id}/trace`, bytes, plain)).status).toBe(400)
  })

  test('that is not whole at the end is asked for again', async () => {
    const { project, runner, given } = await started()
    await runner.append(given, 0, 'part')
    const early = await runner.update(given, 'success', {
      output: { checksum: 'crc32:00000001', bytesize: 400 },
    })
    expect(early.status).toBe(412)
    expect((await job(project, given.id)).status).toBe('running')
    expect((await runner.finish(given, 'success', 'whole')).status).toBe(200)
  })
})

describe('artifacts', () => {
  test('go from one job to the next, by the token of the one that runs', async () => {
    const { runner, given } = await started(
      'a: {stage: build, script: y, artifacts: {paths: [o]}}\nb: {script: z}',
    )
    const bytes = Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`, 'latin1')
    const sent = await runner.upload(given, bytes, { artifact_type: 'archive', expire_in: '1 day' })
    expect(sent.status).toBe(201)
    expect((await runner.upload(given, bytes, { artifact_type: 'archive' })).status).toBe(201)
    expect((await runner.upload(given, Buffer.from('other'), {})).status).toBe(400)
    await runner.finish(given, 'success')
    const next = await runner.request()
    const [dependency] = next?.dependencies ?? []
    expect(dependency).toMatchObject({ id: given.id, name: 'a', artifacts_file: { size: 22 } })
    const headers = { 'JOB-TOKEN': dependency.token as string }
    const back = await fetch(`${world.url}/api/v4/jobs/${given.id}/artifacts`, { headers })
    expect(back.status).toBe(200)
    expect(Buffer.from(await back.arrayBuffer())).toEqual(bytes)
    if (next) await runner.finish(next, 'success')
    const late = await fetch(`${world.url}/api/v4/jobs/${given.id}/artifacts`, { headers })
    expect(late.status).toBe(401)
  })

  test('larger than the limit are refused', async () => {
    const { project, runner, given } = await started()
    await ana.put(`/projects/${project.id}`, { max_artifacts_size: 1 })
    const large = Buffer.alloc(1024 * 1024 + 1)
    expect((await runner.upload(given, large)).status).toBe(413)
    expect((await runner.upload(given, large.subarray(1))).status).toBe(201)
  })

  test('of a dotenv report are variables of later jobs', async () => {
    const { runner, given } = await started('a: {stage: build, script: y}\nb: {script: z}')
    const { gzipSync } = await import('node:zlib')
    const report = gzipSync('VERSION=1.2\nNAME=a b\n')
    const query = { artifact_type: 'dotenv', artifact_format: 'gzip' }
    expect((await runner.upload(given, report, query, '.env.gz')).status).toBe(201)
    await runner.finish(given, 'success')
    const next = await runner.request()
    const found = next?.variables.filter((one: { key: string }) => /^(VERSION|NAME)$/.test(one.key))
    expect(found).toMatchObject([{ value: 'a b' }, { value: '1.2' }])
  })
})

describe('jobs that nobody ends', () => {
  test('are ended with the reason: silent runners, overdue scripts, and what no runner fits', async () => {
    const { endStaleJobs } = await import('../../../src/ci/job-ends/tasks.ts')
    const stale = () => endStaleJobs.handler(world.ctx, {}, new AbortController().signal)
    const overdue = await started('x: {script: y, timeout: 10 minutes}')
    const silent = await started('x: {script: y, timeout: 3 hours}')
    const project = await projectWith('x: {script: y, tags: [nowhere]}')
    const [stuck] = (await dev.get(`/projects/${project.id}/pipelines/${await run(project)}/jobs`))
      .body
    world.setNow('2026-05-04T10:30:00.000Z')
    await stale()
    expect((await job(overdue.project, overdue.given.id)).failure_reason).toBe(
      'job_execution_timeout',
    )
    expect((await job(silent.project, silent.given.id)).status).toBe('running')
    world.setNow('2026-05-04T11:05:00.000Z')
    await stale()
    expect((await job(silent.project, silent.given.id)).failure_reason).toBe(
      'stuck_or_timeout_failure',
    )
    expect((await job(project, stuck.id)).failure_reason).toBe('stuck_or_timeout_failure')
  })

  test('go back to the queue when the runner never said that it has them', async () => {
    const { endStaleJobs } = await import('../../../src/ci/job-ends/tasks.ts')
    const project = await projectWith('x: {script: y}')
    const runner = await addRunner(world, ana, project.id)
    runner.features = { two_phase_job_commit: true }
    await run(project)
    const given = await runner.request()
    world.setNow('2026-05-04T11:08:00.000Z')
    await endStaleJobs.handler(world.ctx, {}, new AbortController().signal)
    const again = await runner.request()
    expect(again?.id).toBe(given?.id)
    expect(again?.token).not.toBe(given?.token)
    if (given) expect((await runner.update(given, 'running')).status).toBe(403)
  })
})
