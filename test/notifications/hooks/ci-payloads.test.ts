import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { notifyOfExpiringTokens } from '../../../src/notifications/hooks/payloads/expiring-tokens.ts'
import { createGroup } from '../../support/create.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { addRunner, type TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
let bench: Bench
let runner: TestRunner
let receiver: Receiver
let at: string
let web: string

const config = {
  stages: ['build', 'ship'],
  make: {
    stage: 'build',
    script: ['make'],
    artifacts: { paths: ['out'] },
    environment: { name: 'review/one', deployment_tier: 'testing' },
  },
  check: { stage: 'build', script: ['check'], allow_failure: true, rules: [{ when: 'manual' }] },
  ship: { stage: 'ship', script: ['ship'] },
}

beforeAll(async () => {
  receiver = await openReceiver()
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  web = `${world.ctx.config.externalUrl}/${bench.project.fullPath}`
  runner = await addRunner(world, ana, bench.project.id, {
    description: 'The machine',
    tag_list: ['fast'],
    run_untagged: true,
  })
  const [file = ''] = world.ctx.config.vendor.ciFiles
  bench.commit('main', { [file]: JSON.stringify(config) })
  const flags = { push_events: false, pipeline_events: true, job_events: true }
  expect((await ana.post(`${at}/hooks`, { url: receiver.url, ...flags })).status).toBe(201)
})
afterAll(() => receiver.close())
afterEach(() => {
  receiver.received.length = 0
})

/** What arrived since the last look, of pipelines and of jobs. */
async function newDeliveries() {
  await world.runTasks()
  const found = receiver.received.map(({ headers, body }) => ({
    header: headers['x-svc-event'],
    body,
  }))
  receiver.received.length = 0
  return {
    pipelines: found.filter(({ header }) => header === 'Pipeline Hook').map(({ body }) => body),
    jobs: found
      .filter(({ header }) => header === 'Job Hook')
      .map(({ body }) => body)
      .sort((one, other) => one.build_name.localeCompare(other.build_name)),
  }
}

const person = () => ({
  id: ana.id,
  name: 'ana',
  username: 'ana',
  avatar_url: null,
  email: '[REDACTED]',
})
const shownProject = () => expect.objectContaining({ id: bench.project.id, web_url: web })
const shownRunner = () => ({
  id: expect.any(Number),
  description: 'The machine',
  runner_type: 'project_type',
  active: true,
  is_shared: false,
  tags: ['fast'],
})

describe('a pipeline', () => {
  test('is sent with its jobs as it begins, goes on and ends, with every field', async () => {
    const sha = bench.project.git('rev-parse', 'main')
    const variables = [{ key: 'PLACE', value: 'here' }]
    const { body: made } = await ana.post(`${at}/pipeline`, { ref: 'main', variables })
    const began = await newDeliveries()
    expect(began.jobs.map((job) => [job.build_name, job.build_status])).toEqual([
      ['check', 'manual'],
      ['make', 'pending'],
      ['ship', 'created'],
    ])
    expect(began.pipelines).toHaveLength(1)
    const commit = {
      id: sha,
      message: 'Change main\n',
      title: 'Change main',
      timestamp: expect.any(String),
      url: `${web}/-/commit/${sha}`,
      author: { name: 'Ana Author', email: 'ana@example.com' },
    }
    const ids = new Map(began.jobs.map((job) => [job.build_name, job.build_id]))
    const job = (name: string, more: Record<string, unknown>) => ({
      id: ids.get(name),
      stage: name === 'ship' ? 'ship' : 'build',
      name,
      created_at: '2026-05-04T10:00:00.000Z',
      started_at: null,
      finished_at: null,
      duration: null,
      queued_duration: null,
      failure_reason: null,
      when: 'on_success',
      manual: false,
      allow_failure: false,
      user: person(),
      runner: null,
      artifacts_file: { filename: null, size: null },
      environment: null,
      ...more,
    })
    const review = { name: 'review/one', action: 'start', deployment_tier: 'testing' }
    const manual = { status: 'manual', when: 'manual', manual: true, allow_failure: true }
    const whole = {
      object_kind: 'pipeline',
      object_attributes: {
        id: made.id,
        iid: made.iid,
        name: null,
        ref: 'main',
        tag: false,
        sha,
        before_sha: '0'.repeat(40),
        source: 'api',
        status: 'pending',
        detailed_status: 'pending',
        stages: ['build', 'ship'],
        created_at: '2026-05-04T10:00:00.000Z',
        finished_at: null,
        duration: null,
        queued_duration: null,
        variables,
        url: `${web}/-/pipelines/${made.id}`,
      },
      merge_request: null,
      user: person(),
      project: shownProject(),
      commit,
      source_pipeline: null,
      builds: [
        job('make', { status: 'pending', environment: review }),
        job('check', manual),
        job('ship', { status: 'created' }),
      ],
    }
    expect(began.pipelines[0]).toEqual(whole)

    world.setNow('2026-05-04T10:00:30.000Z')
    const given = await runner.request()
    expect(given?.job_info.name).toBe('make')
    if (!given) return
    const running = await newDeliveries()
    expect(running.jobs).toMatchObject([
      {
        build_name: 'make',
        build_status: 'running',
        build_started_at: '2026-05-04T10:00:30.000Z',
        build_queued_duration: 30,
        build_duration: null,
        runner: shownRunner(),
      },
    ])
    expect(running.pipelines).toMatchObject([
      { object_attributes: { status: 'running', queued_duration: 30, finished_at: null } },
    ])

    world.setNow('2026-05-04T10:01:30.000Z')
    expect((await runner.upload(given, new Uint8Array(22))).status).toBe(201)
    await runner.finish(given, 'success')
    const made_ = await newDeliveries()
    expect(made_.jobs.map((one) => [one.build_name, one.build_status])).toEqual([
      ['make', 'success'],
      ['ship', 'pending'],
    ])
    expect(made_.pipelines).toEqual([])
    const shipping = await runner.request()
    if (!shipping) throw new Error('nothing to ship')
    await newDeliveries()
    world.setNow('2026-05-04T10:02:00.000Z')
    await runner.finish(shipping, 'failed', 'no\n', { failure_reason: 'script_failure' })
    const ended = await newDeliveries()
    expect(ended.jobs).toEqual([
      {
        object_kind: 'build',
        ref: 'main',
        tag: false,
        before_sha: '0'.repeat(40),
        sha,
        build_id: ids.get('ship'),
        build_name: 'ship',
        build_stage: 'ship',
        build_status: 'failed',
        build_created_at: '2026-05-04T10:00:00.000Z',
        build_started_at: '2026-05-04T10:01:30.000Z',
        build_finished_at: '2026-05-04T10:02:00.000Z',
        build_duration: 30,
        build_queued_duration: 0,
        build_allow_failure: false,
        build_failure_reason: 'script_failure',
        retries_count: 0,
        pipeline_id: made.id,
        project_id: bench.project.id,
        project_name: bench.project.fullPath,
        user: person(),
        commit: {
          id: made.id,
          name: null,
          sha,
          message: 'Change main\n',
          author_name: 'Ana Author',
          author_email: 'ana@example.com',
          status: 'failed',
          started_at: '2026-05-04T10:00:30.000Z',
          finished_at: '2026-05-04T10:02:00.000Z',
          duration: 90,
        },
        repository: expect.objectContaining({ homepage: web }),
        project: shownProject(),
        runner: shownRunner(),
        environment: null,
        source_pipeline: null,
      },
    ])
    expect(ended.pipelines).toEqual([
      {
        ...whole,
        object_attributes: {
          ...whole.object_attributes,
          status: 'failed',
          detailed_status: 'failed',
          finished_at: '2026-05-04T10:02:00.000Z',
          duration: 90,
          queued_duration: 30,
        },
        builds: [
          job('make', {
            status: 'success',
            started_at: '2026-05-04T10:00:30.000Z',
            finished_at: '2026-05-04T10:01:30.000Z',
            duration: 60,
            queued_duration: 30,
            runner: shownRunner(),
            artifacts_file: { filename: 'artifacts.zip', size: 22 },
            environment: review,
          }),
          job('check', manual),
          job('ship', {
            status: 'failed',
            started_at: '2026-05-04T10:01:30.000Z',
            finished_at: '2026-05-04T10:02:00.000Z',
            duration: 30,
            queued_duration: 0,
            failure_reason: 'script_failure',
            runner: shownRunner(),
          }),
        ],
      },
    ])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('of a merge request shows that', async () => {
    const [file = ''] = world.ctx.config.vendor.ciFiles
    const only = { x: { script: ['x'], rules: [{ if: '$CI_MERGE_REQUEST_IID' }] } }
    bench.commit('review', { [file]: JSON.stringify(only) })
    const { body: request } = await bench.open('review')
    await newDeliveries()
    const made = await ana.post(`${bench.api}/${request.iid}/pipelines`)
    expect(made.status).toBe(200)
    const { pipelines } = await newDeliveries()
    expect(pipelines).toMatchObject([
      {
        object_attributes: { id: made.body.id, source: 'merge_request_event', stages: ['test'] },
        merge_request: {
          id: request.id,
          iid: request.iid,
          title: 'Take review',
          source_branch: 'review',
          source_project_id: bench.project.id,
          target_branch: 'main',
          target_project_id: bench.project.id,
          state: 'opened',
          merge_status: expect.any(String),
          detailed_merge_status: expect.any(String),
          url: request.web_url,
        },
      },
    ])
    await ana.post(`${at}/pipelines/${made.body.id}/cancel`)
    const canceled = await newDeliveries()
    expect(canceled.pipelines).toMatchObject([{ object_attributes: { status: 'canceled' } }])
    expect(canceled.jobs).toMatchObject([{ build_status: 'canceled' }])
  })

  test('that a tag starts shows the tag', async () => {
    await ana.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })
    const { pipelines, jobs } = await newDeliveries()
    expect(pipelines).toMatchObject([{ object_attributes: { ref: 'v1', tag: true } }])
    expect(jobs.every((job) => job.tag === true && job.ref === 'v1')).toBe(true)
  })
})

describe('other hooks', () => {
  test('are called for a release that is made, changed and deleted, with every field', async () => {
    const hook = { url: receiver.url, push_events: false, releases_events: true }
    const { body } = await ana.post(`${at}/hooks`, hook)
    const sha = bench.project.git('rev-parse', 'main')
    const made = await ana.post(`${at}/releases`, {
      tag_name: 'r1',
      ref: 'main',
      name: 'First',
      description: 'The **first**',
      assets: { links: [{ name: 'file', url: 'https://example.com/f', link_type: 'package' }] },
    })
    expect(made.status).toBe(201)
    await ana.put(`${at}/releases/r1`, { name: 'The first' })
    await ana.delete(`${at}/releases/r1`)
    await world.runTasks()
    const sent = receiver.received.filter(
      ({ headers }) => headers['x-svc-event'] === 'Release Hook',
    )
    const [link] = made.body.assets.links
    const whole = {
      object_kind: 'release',
      id: expect.any(Number),
      name: 'First',
      tag: 'r1',
      description: 'The **first**',
      created_at: made.body.created_at,
      released_at: made.body.released_at,
      project: shownProject(),
      url: made.body._links.self,
      action: 'create',
      assets: {
        count: 5,
        links: [{ id: link.id, name: 'file', url: 'https://example.com/f', link_type: 'package' }],
        sources: made.body.assets.sources,
      },
      commit: expect.objectContaining({ id: sha, title: 'Change main' }),
    }
    const byAction = (action: string) => sent.find(({ body }) => body.action === action)?.body
    expect(sent).toHaveLength(3)
    expect(byAction('create')).toEqual(whole)
    expect(byAction('update')).toEqual({ ...whole, name: 'The first', action: 'update' })
    expect(byAction('delete')).toMatchObject({ name: 'The first', action: 'delete' })
    await ana.delete(`${at}/hooks/${body.id}`)
  })

  test('are called for a wiki page that is made, changed, renamed and deleted, with every field', async () => {
    const hook = { url: receiver.url, push_events: false, wiki_page_events: true }
    const { body } = await ana.post(`${at}/hooks`, hook)
    const sent = async () => {
      await world.runTasks()
      const found = receiver.received.map(({ body }) => body)
      receiver.received.length = 0
      return found.filter((one) => one.object_kind === 'wiki_page')
    }
    await ana.post(`${at}/wikis`, { title: 'How to/Begin', content: 'Like *this*' })
    const [created] = await sent()
    const url = `${web}/-/wikis/How-to/Begin`
    const host = new URL(world.ctx.config.externalUrl).hostname
    expect(created).toEqual({
      object_kind: 'wiki_page',
      user: person(),
      project: shownProject(),
      wiki: {
        web_url: `${web}/-/wikis/home`,
        git_ssh_url: `git@${host}:${bench.project.fullPath}.wiki.git`,
        git_http_url: `${web}.wiki.git`,
        path_with_namespace: `${bench.project.fullPath}.wiki`,
        default_branch: 'main',
      },
      object_attributes: {
        slug: 'How-to/Begin',
        title: expect.stringMatching(/Begin$/),
        format: 'markdown',
        content: 'Like *this*',
        message: expect.stringMatching(/\S/),
        url,
        action: 'create',
        version_id: expect.stringMatching(/^[0-9a-f]{40}$/),
        diff_url: `${url}/diff?version_id=${created.object_attributes.version_id}`,
      },
    })
    const page = `${at}/wikis/How-to%2FBegin`
    await ana.put(page, { content: 'Otherwise' })
    expect((await sent()).map((one) => one.object_attributes)).toMatchObject([
      { action: 'update', content: 'Otherwise', slug: 'How-to/Begin' },
    ])
    await ana.delete(page)
    expect((await sent()).map((one) => one.object_attributes)).toMatchObject([
      { action: 'delete', content: '', slug: 'How-to/Begin' },
    ])
    await ana.delete(`${at}/hooks/${body.id}`)
  })

  test('are called for a deployment with every field', async () => {
    const hook = { url: receiver.url, push_events: false, deployment_events: true }
    const { body } = await ana.post(`${at}/hooks`, hook)
    const environment = { name: 'production', external_url: 'https://live.example.com' }
    await ana.post(`${at}/environments`, environment)
    const sha = bench.project.git('rev-parse', 'main')
    const { body: made } = await ana.post(`${at}/deployments`, {
      environment: 'production',
      sha,
      ref: 'main',
      tag: false,
      status: 'success',
    })
    await world.runTasks()
    const sent = receiver.received.filter(({ body }) => body.object_kind === 'deployment')
    expect(sent.map(({ body }) => body)).toEqual([
      {
        object_kind: 'deployment',
        status: 'success',
        status_changed_at: '2026-05-04T10:00:00.000Z',
        deployment_id: made.id,
        deployable_id: null,
        deployable_url: null,
        environment: 'production',
        environment_tier: 'production',
        environment_slug: 'production',
        environment_external_url: 'https://live.example.com',
        project: shownProject(),
        ref: 'main',
        short_sha: sha.slice(0, 8),
        user: person(),
        user_url: `${world.ctx.config.externalUrl}/ana`,
        commit_url: `${web}/-/commit/${sha}`,
        commit_title: 'Change main',
      },
    ])
    await ana.delete(`${at}/hooks/${body.id}`)
  })

  test('are called for tokens of a project and of a group that end in a week, with every field', async () => {
    const group = await createGroup(ana, 'tokens')
    const flags = { push_events: false, resource_access_token_events: true }
    const ofProject = await ana.post(`${at}/hooks`, { url: `${receiver.url}/p`, ...flags })
    await ana.post(`/groups/${group.id}/hooks`, { url: `${receiver.url}/g`, ...flags })
    const token = { scopes: ['read_api'], access_level: 20 }
    const make = async (path: string, name: string, expires_at: string) =>
      (await ana.post(`${path}/access_tokens`, { name, expires_at, ...token })).body
    const ends = await make(at, 'ends', '2026-05-11')
    await make(at, 'later', '2026-05-12')
    const gone = await make(at, 'revoked', '2026-05-11')
    await ana.delete(`${at}/access_tokens/${gone.id}`)
    const wide = await make(`/groups/${group.id}`, 'wide', '2026-05-11')
    await world.runTasks()
    receiver.received.length = 0
    await notifyOfExpiringTokens.handler(world.ctx, {}, new AbortController().signal)
    await world.runTasks()
    const sent = new Map(receiver.received.map(({ url, body }) => [url, body]))
    expect(receiver.received).toHaveLength(2)
    const about = ({ id, user_id, name, created_at }: Record<string, unknown>) => ({
      object_kind: 'access_token',
      event_name: 'expiring_access_token',
      object_attributes: { id, user_id, name, created_at, expires_at: '2026-05-11' },
    })
    expect(sent.get('/p')).toEqual({ ...about(ends), project: shownProject() })
    expect(sent.get('/g')).toEqual({
      ...about(wide),
      group: {
        group_id: group.id,
        group_name: 'Tokens',
        group_path: 'tokens',
        full_path: 'tokens',
      },
    })
    await ana.delete(`${at}/hooks/${ofProject.body.id}`)
  })
})
