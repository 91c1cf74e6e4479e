import { describe, expect, test } from 'vitest'
import { removeOutlived } from '../../../src/ci/pipelines/remove-pipeline.ts'
import { atOnce } from '../../support/at-once.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const guest = useCaller(world, 'guest')
const stranger = useCaller(world, 'stranger')
let count = 0

type Files = Readonly<Record<string, string>>

async function projectWith(files: Files, settings = {}): Promise<TestProject> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `p${count}`, settings })
  await addMember(world, project, dev, 30)
  await addMember(world, project, guest, 10)
  await commit(project, files)
  return project
}

/** Writes files as git itself would, so that no push makes pipelines of its own. */
async function commit(project: TestProject, files: Files): Promise<void> {
  if (Object.keys(files).length > 0) commitFiles(project, { files })
}

function run(project: TestProject, body: object = { ref: 'main' }, by = dev): Promise<Reply> {
  return by.post(`/projects/${project.id}/pipeline`, body)
}

async function jobs(project: TestProject, pipeline: number): Promise<Record<string, string>> {
  const { body } = await dev.get(`/projects/${project.id}/pipelines/${pipeline}/jobs`)
  const found = (body as { name: string; status: string }[]).map((job) => [job.name, job.status])
  return Object.fromEntries(found.reverse())
}

async function jobNamed(project: TestProject, pipeline: number, name: string) {
  const { body } = await dev.get(`/projects/${project.id}/pipelines/${pipeline}/jobs`)
  return (body as { name: string; id: number }[]).find((job) => job.name === name)?.id ?? 0
}

/** What a runner will say; nothing else ends a job. */
async function end(
  project: TestProject,
  pipeline: number,
  name: string,
  status: 'success' | 'failed',
) {
  const { endJob } = await import('../../../src/ci/pipelines/process/change-jobs.ts')
  const id = await jobNamed(project, pipeline, name)
  await endJob(world.ctx, { id, pipeline_id: pipeline }, { status, reason: 'script_failure' })
}

const three = `
build: {stage: build, script: make}
test: {stage: test, script: make test}
docs: {stage: test, script: make docs, allow_failure: true}
ship: {stage: deploy, script: make ship, when: manual}
`

describe('running a pipeline', () => {
  test('makes its jobs and lets those of the first stage go', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const reply = await run(project, {
      ref: 'main',
      variables: [
        { key: 'A', value: 'secret' },
        { key: 'F', value: 'x', variable_type: 'file' },
      ],
    })
    expect(reply.status).toBe(201)
    const sha = project.git('rev-parse', 'main')
    expect(reply.body).toMatchObject({
      iid: 1,
      project_id: project.id,
      sha,
      ref: 'main',
      tag: false,
      status: 'pending',
      source: 'api',
      before_sha: '0'.repeat(40),
      yaml_errors: null,
      user: { username: 'dev' },
      detailed_status: { text: 'Pending', group: 'pending', has_details: true },
      web_url: `${world.ctx.config.externalUrl}/${project.fullPath}/-/pipelines/${reply.body.id}`,
    })
    expect(await jobs(project, reply.body.id)).toEqual({
      build: 'pending',
      test: 'created',
      docs: 'created',
      ship: 'created',
    })
    expect(project.git('rev-parse', `refs/pipelines/${reply.body.id}`)).toBe(sha)
    const variables = await dev.get(`/projects/${project.id}/pipelines/${reply.body.id}/variables`)
    expect(variables.body).toEqual([
      { key: 'A', value: 'secret', variable_type: 'env_var', raw: false },
      { key: 'F', value: 'x', variable_type: 'file', raw: false },
    ])
    const stored = await world.ctx.db.selectFrom('pipeline_variables').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain('secret')
  })

  test('reads the name that other servers of this kind use too', async () => {
    const project = await projectWith({ '.gitlab-ci.yml': 'x: {script: make}' })
    expect((await run(project)).status).toBe(201)
  })

  test('reads the file that the project names, also in another project', async () => {
    const shared = await projectWith({
      'ci/main.yml': 'include: part.yml\nx: {script: make}',
      'part.yml': 'y: {script: make}',
    })
    const path = `ci/main.yml@${shared.fullPath}`
    const project = await projectWith({}, { ci_config_path: path })
    const reply = await run(project)
    expect(reply.status).toBe(201)
    expect(await jobs(project, reply.body.id)).toEqual({ x: 'pending', y: 'pending' })
  })

  test('takes includes of every kind, with inputs', async () => {
    const shared = await projectWith({
      'templates/check.yml':
        'spec:\n  inputs:\n    name: {}\n    times: {type: number, default: 2}\n---\n"$[[ inputs.name ]]":\n  script: make\n  parallel: $[[ inputs.times ]]',
      'plain.yml': 'plain: {script: make}',
    })
    const project = await projectWith({
      '.svc-ci.yml': `
include:
  - local: /ci/*.yml
  - project: ${shared.fullPath}
    file: plain.yml
    ref: main
  - component: $CI_SERVER_FQDN/${shared.fullPath}/check@main
    inputs: {name: checked}
  - template: Bash.svc-ci.yml
    rules: [{if: $NOTHING}]
own: {script: make}
`,
      'ci/a.yml': 'a: {script: make}',
      'ci/b.yml': 'b: {script: make}\nown: {image: node}',
    })
    const reply = await run(project)
    expect(reply.body.message).toBeUndefined()
    expect(reply.status).toBe(201)
    expect(Object.keys(await jobs(project, reply.body.id)).sort()).toEqual([
      'a',
      'b',
      'checked 1/2',
      'checked 2/2',
      'own',
      'plain',
    ])
  })

  test('does not include what the caller may not read', async () => {
    count += 1
    const secret = await addProject(world, ana, 'basic', { path: `secret${count}` })
    await commit(secret, { 'ci.yml': 'x: {script: make}' })
    const project = await projectWith({
      '.svc-ci.yml': `include: {project: ${secret.fullPath}, file: ci.yml}`,
    })
    const reply = await run(project)
    expect(reply.body).toEqual({
      message: { base: [`Project \`${secret.fullPath}\` not found or access denied!`] },
    })
  })

  test.each([
    ['nothing', 'Missing CI config file'],
    ['x', 'Invalid configuration format'],
    ['x: {stage: test}', 'jobs:x config should implement the script:, run:, or trigger: keyword'],
    ['workflow: {rules: [{if: $NO}]}\nx: {script: y}', 'Pipeline filtered out by workflow rules.'],
    ['x: {script: y, only: [tags]}', 'Pipeline will not run for the selected trigger.'],
    ['include: none.yml', 'Local file `none.yml` does not exist!'],
    [
      'include: {remote: "http://10.0.0.1/x.yml"}',
      'Remote file `http://10.0.0.1/x.yml` could not be fetched: requests to 10.0.0.1 are not allowed: private addresses must be named in GITSTEAD_OUTBOUND_ALLOW',
    ],
  ])('refuses %s', async (text, words) => {
    const project = await projectWith(text === 'nothing' ? {} : { '.svc-ci.yml': text })
    const reply = await run(project)
    expect(reply.status).toBe(400)
    expect(reply.body.message.base[0]).toContain(words)
  })

  test('refuses unknown refs, and callers without the right', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const unknown = await run(project, { ref: 'nowhere' })
    expect(unknown.status).toBe(400)
    expect(unknown.body).toEqual({ message: { base: ['Reference not found'] } })
    expect((await run(project, {})).body).toEqual({ error: 'ref is missing' })
    expect((await run(project, { ref: 'main' }, guest)).status).toBe(403)
    expect((await run(project, { ref: 'main' }, stranger)).status).toBe(404)
    await ana.post(`/projects/${project.id}/protected_branches`, {
      name: 'main',
      push_access_level: 40,
      merge_access_level: 40,
    })
    expect((await run(project)).status).toBe(403)
    expect((await run(project, { ref: 'main' }, ana)).status).toBe(201)
  })

  test('takes variables only from those whom the project lets', async () => {
    const project = await projectWith(
      { '.svc-ci.yml': three },
      { ci_pipeline_variables_minimum_override_role: 'maintainer' },
    )
    const body = { ref: 'main', variables: [{ key: 'A', value: '1' }] }
    expect((await run(project, body)).body).toEqual({
      message: { base: ['Insufficient permissions to set pipeline variables'] },
    })
    expect((await run(project, body, ana)).status).toBe(201)
    const bad = { ref: 'main', variables: [{ key: 'a b', value: '1' }] }
    expect((await run(project, bad, ana)).body).toEqual({ error: 'variables is invalid' })
  })
})

describe('a pipeline', () => {
  test('goes on stage by stage as its jobs end', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const { id } = (await run(project)).body
    await end(project, id, 'build', 'success')
    expect(await jobs(project, id)).toMatchObject({
      test: 'pending',
      docs: 'pending',
      ship: 'created',
    })
    await end(project, id, 'docs', 'failed')
    await end(project, id, 'test', 'success')
    expect(await jobs(project, id)).toMatchObject({ ship: 'manual' })
    const { body } = await dev.get(`/projects/${project.id}/pipelines/${id}`)
    expect(body).toMatchObject({
      status: 'success',
      finished_at: world.ctx.now(),
      detailed_status: { group: 'success-with-warnings' },
    })
    const ship = await jobNamed(project, id, 'ship')
    const played = await dev.post(`/projects/${project.id}/jobs/${ship}/play`)
    expect(played.status).toBe(200)
    expect(played.body).toMatchObject({ status: 'pending', user: { username: 'dev' } })
    const again = await dev.post(`/projects/${project.id}/jobs/${ship}/play`)
    expect(again.body).toEqual({ message: '400 Bad request - Unplayable Job' })
  })

  test('skips what comes after a failure, and runs it when the job is retried', async () => {
    const project = await projectWith({
      '.svc-ci.yml': `${three}\nclean: {stage: deploy, script: x, when: always}\nhelp: {stage: deploy, script: x, when: on_failure}`,
    })
    const { id } = (await run(project)).body
    await end(project, id, 'build', 'failed')
    expect(await jobs(project, id)).toEqual({
      build: 'failed',
      test: 'skipped',
      docs: 'skipped',
      ship: 'skipped',
      clean: 'pending',
      help: 'pending',
    })
    const build = await jobNamed(project, id, 'build')
    const { body: failed } = await dev.get(`/projects/${project.id}/jobs/${build}`)
    expect(failed.failure_reason).toBe('script_failure')
    const retried = await dev.post(`/projects/${project.id}/jobs/${build}/retry`)
    expect(retried.status).toBe(201)
    expect(retried.body.id).not.toBe(build)
    expect(await jobs(project, id)).toMatchObject({ build: 'pending', test: 'created' })
    const twice = await dev.post(`/projects/${project.id}/jobs/${build}/retry`)
    expect(twice.body).toEqual({ message: '403 Forbidden - Job is not retryable' })
    const all = await dev.get(`/projects/${project.id}/pipelines/${id}/jobs?include_retried=true`)
    expect(all.body).toHaveLength(7)
  })

  test.each(['job', 'pipeline'])(
    'whose %s is retried runs what was skipped as whoever did that, and all else as before',
    async (what) => {
      const project = await projectWith({
        '.svc-ci.yml': `${three}\nclean: {stage: deploy, script: x, when: always}`,
      })
      const { id } = (await run(project)).body
      await end(project, id, 'build', 'failed')
      const at = `/projects/${project.id}`
      const retried =
        what === 'job' ? `jobs/${await jobNamed(project, id, 'build')}` : `pipelines/${id}`
      expect((await ana.post(`${at}/${retried}/retry`)).status).toBe(201)
      await end(project, id, 'build', 'success')
      const { body } = await dev.get(`${at}/pipelines/${id}/jobs`)
      const users = (body as { name: string; user: { username: string } }[]).map((job) => [
        job.name,
        job.user.username,
      ])
      expect(Object.fromEntries(users)).toEqual({
        build: 'ana',
        test: 'ana',
        docs: 'ana',
        ship: 'ana',
        clean: 'dev',
      })
    },
  )

  test('has one job run again, and one person start another, however many ask at once', async () => {
    const project = await projectWith({
      '.svc-ci.yml': 'a: {stage: build, script: x}\nb: {stage: build, script: x, when: manual}',
    })
    const { id } = (await run(project)).body
    await end(project, id, 'a', 'failed')
    const at = `/projects/${project.id}/jobs`
    const [a, b] = [await jobNamed(project, id, 'a'), await jobNamed(project, id, 'b')]
    const retried = await Promise.all([1, 2, 3].map(() => dev.post(`${at}/${a}/retry`)))
    expect(retried.map((reply) => reply.status).sort()).toEqual([201, 403, 403])
    const played = await Promise.all([dev, ana, dev].map((one) => one.post(`${at}/${b}/play`)))
    expect(played.map((reply) => reply.status).sort()).toEqual([200, 400, 400])
    const first = played.find((reply) => reply.status === 200)
    expect((await dev.get(`${at}/${b}`)).body.user).toEqual(first?.body.user)
    const all = await dev.get(`/projects/${project.id}/pipelines/${id}/jobs?include_retried=true`)
    expect(all.body).toHaveLength(3)
  })

  test('with needs does not wait for stages', async () => {
    const project = await projectWith({
      '.svc-ci.yml': `
a: {stage: build, script: x}
b: {stage: build, script: x}
c: {stage: test, script: x, needs: [a]}
d: {stage: deploy, script: x, needs: []}
`,
    })
    const { id } = (await run(project)).body
    expect(await jobs(project, id)).toMatchObject({ c: 'created', d: 'pending' })
    await end(project, id, 'a', 'success')
    expect(await jobs(project, id)).toMatchObject({ b: 'pending', c: 'pending' })
  })

  test('is canceled and retried as a whole', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const { id } = (await run(project)).body
    const canceled = await dev.post(`/projects/${project.id}/pipelines/${id}/cancel`)
    expect(canceled.status).toBe(200)
    expect(canceled.body.status).toBe('canceled')
    expect(new Set(Object.values(await jobs(project, id)))).toEqual(new Set(['canceled']))
    const retried = await dev.post(`/projects/${project.id}/pipelines/${id}/retry`)
    expect(retried.status).toBe(201)
    expect(retried.body.status).toBe('pending')
    expect(await jobs(project, id)).toMatchObject({ build: 'pending', test: 'created' })
    const build = await jobNamed(project, id, 'build')
    expect((await dev.post(`/projects/${project.id}/jobs/${build}/cancel`)).body.status).toBe(
      'canceled',
    )
  })

  test('is named by its workflow or by hand, and deleted by Owners', async () => {
    const project = await projectWith({
      '.svc-ci.yml': 'workflow: {name: "Run of $CI_COMMIT_BRANCH"}\nx: {script: y}',
    })
    const { body } = await run(project)
    expect(body.name).toBe('Run of main')
    const at = `/projects/${project.id}/pipelines/${body.id}`
    expect((await dev.put(`${at}/metadata`, { name: 'Mine' })).body.name).toBe('Mine')
    expect((await dev.delete(at)).status).toBe(403)
    expect((await ana.delete(at)).status).toBe(204)
    expect((await ana.get(at)).status).toBe(404)
    expect(project.git('for-each-ref', 'refs/pipelines')).toBe('')
  })

  test('starts delayed jobs in their time', async () => {
    const project = await projectWith({
      '.svc-ci.yml': 'x: {script: y, when: delayed, start_in: 10 minutes}',
    })
    const { id } = (await run(project)).body
    expect(await jobs(project, id)).toEqual({ x: 'scheduled' })
    await world.runTasks()
    expect(await jobs(project, id)).toEqual({ x: 'scheduled' })
    const before = world.ctx.now()
    world.setNow('2026-05-04T10:10:00.000Z')
    await world.runTasks()
    expect(await jobs(project, id)).toEqual({ x: 'pending' })
    world.setNow(before)
  })

  test('gives a resource to one job at a time', async () => {
    const project = await projectWith({
      '.svc-ci.yml': 'x: {script: y, resource_group: prod}\nz: {script: y, resource_group: prod}',
    })
    const { id } = (await run(project)).body
    expect(await jobs(project, id)).toEqual({ x: 'pending', z: 'waiting_for_resource' })
    await end(project, id, 'x', 'success')
    expect(await jobs(project, id)).toEqual({ x: 'success', z: 'pending' })
  })

  test('starts children and pipelines of other projects', async () => {
    const other = await projectWith({
      '.svc-ci.yml':
        'x: {script: y, rules: [{if: $CI_PIPELINE_SOURCE == "pipeline" && $WHO == "me"}]}',
    })
    const project = await projectWith({
      '.svc-ci.yml': `
child: {trigger: {include: child.yml, strategy: depend}}
far: {trigger: ${other.fullPath}, variables: {WHO: me}}
gone: {trigger: no/such, allow_failure: true}
`,
      'child.yml': 'inner: {script: y}',
    })
    const { id } = (await run(project)).body
    await world.runTasks()
    const { body } = await dev.get(`/projects/${project.id}/pipelines/${id}/bridges`)
    expect(body).toMatchObject([
      { name: 'gone', status: 'failed', failure_reason: 'downstream_bridge_project_not_found' },
      { name: 'far', status: 'success', downstream_pipeline: { project_id: other.id } },
      { name: 'child', status: 'running', downstream_pipeline: { source: 'parent_pipeline' } },
    ])
    await end(project, body[2].downstream_pipeline.id, 'inner', 'success')
    await world.runTasks()
    const { body: whole } = await dev.get(`/projects/${project.id}/pipelines/${id}`)
    expect(whole.status).toBe('success')
  })
})

describe('reading pipelines', () => {
  test('lists them by what they are, newest first', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const one = (await run(project)).body.id
    const two = (await run(project, { ref: 'main' }, ana)).body.id
    await dev.post(`/projects/${project.id}/pipelines/${one}/cancel`)
    const list = async (query: string) =>
      ((await dev.get(`/projects/${project.id}/pipelines?${query}`)).body as { id: number }[]).map(
        (row) => row.id,
      )
    expect(await list('')).toEqual([two, one])
    expect(await list('sort=asc')).toEqual([one, two])
    expect(await list('scope=finished')).toEqual([one])
    expect(await list('scope=pending')).toEqual([two])
    expect(await list('scope=branches')).toEqual([two])
    expect(await list('scope=tags')).toEqual([])
    expect(await list('status=canceled')).toEqual([one])
    expect(await list('username=ana')).toEqual([two])
    expect(await list('ref=other')).toEqual([])
    expect(await list('yaml_errors=true')).toEqual([])
    const latest = await dev.get(`/projects/${project.id}/pipelines/latest`)
    expect(latest.body.id).toBe(two)
    const nowhere = await dev.get(`/projects/${project.id}/pipelines/latest?ref=nowhere`)
    expect(nowhere.status).toBe(403)
    const all = await dev.get(`/projects/${project.id}/jobs?scope[]=canceled&per_page=2`)
    expect(all.body).toHaveLength(2)
  })

  test('is open to guests while jobs are public', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const { id } = (await run(project)).body
    const at = `/projects/${project.id}/pipelines/${id}`
    expect((await guest.get(at)).status).toBe(200)
    expect((await stranger.get(at)).status).toBe(404)
    await ana.put(`/projects/${project.id}`, { public_jobs: false })
    expect((await guest.get(at)).status).toBe(403)
    expect((await dev.get(at)).status).toBe(200)
  })

  test('shows the test reports of its jobs', async () => {
    const project = await projectWith({ '.svc-ci.yml': three })
    const { id } = (await run(project)).body
    const job_id = await jobNamed(project, id, 'test')
    const one = {
      status: 'failed',
      name: 'adds',
      classname: 'Sum',
      file: 'sum.c',
      execution_time: 0.5,
      system_output: 'no',
      stack_trace: null,
    }
    const counts = { total_time: 1.5, success_count: 2, failed_count: 1 }
    const cases = JSON.stringify([one])
    await world.ctx.db
      .insertInto('ci_test_suites')
      .values({ job_id, name: 'test', ...counts, cases })
      .execute()
    const at = `/projects/${project.id}/pipelines/${id}`
    const report = await dev.get(`${at}/test_report`)
    const all = { ...counts, total_count: 3, skipped_count: 0, error_count: 0 }
    const suite = { name: 'test', ...all, suite_error: null, test_cases: [one] }
    expect(report.body).toEqual({ ...all, test_suites: [suite] })
    // To read a large one would hold everybody up: it goes out in pieces, as it is kept.
    expect(report.headers.get('content-length')).toBeNull()
    const summary = await dev.get(`${at}/test_report_summary`)
    expect(summary.body).toMatchObject({
      total: { time: 1.5, count: 3, success: 2, failed: 1, skipped: 0, error: 0 },
      test_suites: [{ build_ids: [job_id] }],
    })
    const short = `/test_report_summary?project_id=${project.id}&pipeline_id=${id}`
    expect((await dev.get(short)).body).toEqual(summary.body)
    expect((await stranger.get(short)).status).toBe(404)
    const other = await jobNamed(project, id, 'build')
    const broken = { job_id: other, name: 'build', total_time: 0, suite_error: 'no XML' }
    await world.ctx.db
      .insertInto('ci_test_suites')
      .values({ ...broken, cases: '[]' })
      .execute()
    const { body: two } = await dev.get(`${at}/test_report`)
    const none = { total_count: 0, success_count: 0, failed_count: 0, test_cases: [] }
    expect(two).toMatchObject({ ...all, test_suites: [suite, { suite_error: 'no XML', ...none }] })
    expect((await dev.get('/test_report_summary')).body).toEqual({
      error: 'project_id is missing, pipeline_id is missing',
    })
  })
})

test('hooks are called at the end of a pipeline', async () => {
  const project = await projectWith({ '.svc-ci.yml': 'x: {script: y, environment: live}' })
  await ana.post(`/projects/${project.id}/hooks`, {
    url: 'http://example.com/hook',
    pipeline_events: true,
    push_events: false,
  })
  const variables = [{ key: 'PLACE', value: 'here' }]
  const made = await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main', variables })
  const { id } = made.body
  await end(project, id, 'x', 'success')
  await world.runTasks()
  const rows = await world.ctx.db.selectFrom('webhook_deliveries').selectAll().execute()
  // Deliveries of one moment go out side by side, in no order.
  expect(rows.map((row) => JSON.parse(row.payload))).toContainEqual(
    expect.objectContaining({
      object_kind: 'pipeline',
      object_attributes: expect.objectContaining({
        ...{ id, status: 'success', stages: ['test'], variables },
      }),
      merge_request: null,
      source_pipeline: null,
      builds: [
        expect.objectContaining({
          name: 'x',
          status: 'success',
          runner: null,
          artifacts_file: { filename: null, size: null },
          environment: { name: 'live', action: 'start', deployment_tier: 'production' },
        }),
      ],
    }),
  )
})

test('hooks are called once for each change of jobs and pipelines', async () => {
  const project = await projectWith({
    '.svc-ci.yml': 'stages: [one, two]\na: {stage: one, script: x}\nb: {stage: two, script: x}',
  })
  const { body: hook } = await ana.post(`/projects/${project.id}/hooks`, {
    url: 'http://example.com/hook',
    pipeline_events: true,
    job_events: true,
    push_events: false,
  })
  const newDeliveries = async () => {
    await world.runTasks()
    const rows = await world.ctx.db
      .selectFrom('webhook_deliveries')
      .select(['id', 'header', 'payload'])
      .where('webhook_id', '=', hook.id)
      .orderBy('id')
      .execute()
    await world.ctx.db.deleteFrom('webhook_deliveries').where('webhook_id', '=', hook.id).execute()
    // Nobody answers there, which would make the hook rest.
    await world.ctx.db.updateTable('webhooks').set({ failures: 0, disabled_until: null }).execute()
    const lines = rows.map(({ header, payload }) => {
      const body = JSON.parse(payload)
      return header === 'Job Hook'
        ? `${body.build_name} ${body.build_status} ${body.retries_count}`
        : `pipeline ${body.object_attributes.status}`
    })
    // Deliveries of one moment go out side by side, in no order.
    return lines.sort()
  }
  const { id } = (await run(project)).body
  expect(await newDeliveries()).toEqual(['a pending 0', 'b created 0', 'pipeline pending'])
  await end(project, id, 'a', 'failed')
  expect(await newDeliveries()).toEqual(['a failed 0', 'b skipped 0', 'pipeline failed'])
  await dev.post(`/projects/${project.id}/jobs/${await jobNamed(project, id, 'a')}/retry`)
  expect(await newDeliveries()).toEqual(['a pending 1', 'b created 0', 'pipeline pending'])
  const rows = await world.ctx.db.selectFrom('notified_statuses').selectAll().execute()
  expect(rows.filter((row) => row.kind === 'pipeline' && row.id === id)).toHaveLength(1)
})

describe('old pipelines', () => {
  test('are deleted when the project keeps them no longer, but the newest success of a ref', async () => {
    const project = await projectWith(
      { '.svc-ci.yml': 'x: {script: make}' },
      { ci_delete_pipelines_in_seconds: 86_400 },
    )
    const ids: number[] = []
    for (const status of ['success', 'success', 'failed'] as const) {
      const { body } = await run(project)
      await end(project, body.id, 'x', status)
      ids.push(body.id)
    }
    const running = (await run(project)).body.id
    await world.runTasks()
    world.setNow('2026-05-06T10:00:00.000Z')
    // Somebody deletes one of them at the same moment.
    await atOnce(world, [() => removeOutlived(world.ctx)], (db) =>
      db
        .deleteFrom('pipelines')
        .where('id', '=', ids[0] ?? 0)
        .execute(),
    )
    const left = async () => {
      const { body } = await ana.get(`/projects/${project.id}/pipelines?sort=asc`)
      return body.map((one: { id: number }) => one.id)
    }
    expect(await left()).toEqual([ids[1], running])
    expect(() => project.git('rev-parse', '--verify', `refs/pipelines/${ids[2]}`)).toThrow()
    // By the clock, once there is a newer success.
    await end(project, running, 'x', 'success')
    world.setNow('2026-05-08T10:00:00.000Z')
    await world.runTasks()
    expect(await left()).toEqual([running])
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})
