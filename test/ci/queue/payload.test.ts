import { createLocalJWKSet, jwtVerify } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { addCiPlace, startPipeline, takeJob, variablesOf, zipOf } from '../../support/ci.ts'
import type { GivenJob } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let jobs: Readonly<Record<string, GivenJob>>
let projectId: number

const config = `
variables: {WHO: world}
plain: {script: make}
steps:
  before_script: [before]
  script: [one, [two, [three]], "multi\\nline"]
  after_script: after
  hooks: {pre_get_sources_script: [hook one, hook two]}
released:
  script: make
  release:
    tag_name: v$WHO
    description: "It's here"
    name: For $WHO
    milestones: [m1, m2]
    assets: {links: [{name: site, url: "https://example.com/$WHO"}]}
imaged:
  script: make
  image: {name: "node:$WHO", entrypoint: [""], pull_policy: [always, if-not-present], docker: {user: dave, platform: arm64}}
  services:
    - redis
    - {name: "pg:16", alias: db, command: [postgres], entrypoint: [run], pull_policy: always, variables: {PGUSER: me}}
artful:
  script: make
  artifacts: {name: "out-$CI_COMMIT_REF_NAME", paths: [out/, more], exclude: ["**/*.tmp"], untracked: true, when: always, expire_in: 3 days}
artful-plainly: {script: make, artifacts: {paths: [out]}}
reporting:
  script: make
  artifacts:
    reports:
      junit: [a.xml, b.xml]
      dotenv: build.env
      coverage_report: {coverage_format: cobertura, path: cov.xml}
      terraform: plan.json
      codequality: quality.json
cached:
  script: make
  cache:
    - {key: $CI_COMMIT_REF_SLUG, paths: [node_modules], policy: pull, when: always, untracked: true, fallback_keys: [old, older]}
    - {key: {files: [README.md, none.lock], prefix: $WHO}, paths: [b]}
    - {key: {files: [none.lock]}, paths: [c]}
    - {paths: [d], unprotect: true}
timed: {script: make, timeout: 20 minutes}
tagged: {script: make, tags: [big, "$WHO"]}
copied: {script: make, parallel: 2}
deploying: {script: make, environment: {name: review/$WHO, url: "https://$CI_ENVIRONMENT_SLUG.example.com", deployment_tier: testing}}
verifying: {script: make, environment: {name: other place, action: verify}}
signed:
  script: make
  environment: review/$WHO
  id_tokens: {ONE: {aud: "https://one.example.com"}, TWO: {aud: [a, b]}}
`

beforeAll(async () => {
  const place = await addCiPlace(world, ana, config, {
    runner: { tag_list: 'big,world', description: 'The "big" one', maximum_timeout: 3000 },
  })
  projectId = place.project.id
  await startPipeline(place)
  const found: Record<string, GivenJob> = {}
  for (let job = await place.runner.request(); job; job = await place.runner.request()) {
    found[job.job_info.name] = job
  }
  jobs = found
})

function given(name: string): GivenJob {
  const job = jobs[name]
  if (!job) throw new Error(`no job ${name}`)
  return job
}

const step = (name: string, script: string[], more: object = {}) => ({
  name,
  script,
  timeout: 3000,
  when: 'on_success',
  allow_failure: false,
  ...more,
})

describe('the payload of a job', () => {
  test('where it belongs, and how long it waited', () => {
    const { job_info: info, runner_info, features, ...job } = given('plain')
    expect(info).toEqual({
      id: job.id,
      name: 'plain',
      stage: 'test',
      pipeline_id: expect.any(Number),
      project_id: projectId,
      project_name: expect.stringMatching(/^place\d+$/),
      project_full_path: `ana/${info.project_name}`,
      namespace_id: expect.any(Number),
      root_namespace_id: info.namespace_id,
      organization_id: 1,
      instance_id: new URL(world.ctx.config.externalUrl).host,
      user_id: ana.id,
      scoped_user_id: null,
      time_in_queue_seconds: 0,
      project_jobs_running_on_instance_runners_count: '0',
      queue_size: expect.any(Number),
      queue_depth: 0,
    })
    expect(runner_info).toEqual({ timeout: 3000, runner_session_url: null })
    expect(features).toMatchObject({
      trace_sections: true,
      two_phase_job_commit: true,
      token_mask_prefixes: ['svcpat-', 'svccbt-'],
    })
    expect(features.failure_reasons).toContain('script_failure')
    expect(job).toMatchObject({
      allow_git_fetch: true,
      image: null,
      services: [],
      hooks: [],
      artifacts: null,
      cache: [],
      credentials: [],
      dependencies: [],
      inputs: [],
    })
  })

  test('how many others wait, fewer each time', () => {
    const sizes = Object.values(jobs).map((job) => job.job_info.queue_size)
    expect(sizes).toEqual(sizes.map((_, index) => sizes.length - index))
  })

  test('its scripts, flat and in their order, with hooks of their own', () => {
    const { steps, hooks } = given('steps')
    expect(steps).toEqual([
      step('script', ['before', 'one', 'two', 'three', 'multi\nline']),
      step('after_script', ['after'], { when: 'always', allow_failure: true }),
    ])
    expect(hooks).toEqual([{ name: 'pre_get_sources_script', script: ['hook one', 'hook two'] }])
  })

  test('what it releases, as a command whose words no text can leave', () => {
    const { steps } = given('released')
    expect(steps.map(({ name }: { name: string }) => name)).toEqual(['script', 'release'])
    const [, release] = steps
    expect(release.script).toEqual([
      [
        'release-cli create',
        "--name 'For world'",
        "--description 'It'\\''s here'",
        "--tag-name 'vworld'",
        `--ref '${variablesOf(given('released')).get('CI_COMMIT_SHA')}'`,
        "--milestone 'm1'",
        "--milestone 'm2'",
        `--assets-link '{"name":"site","url":"https://example.com/world"}'`,
      ].join(' '),
    ])
  })

  test('its image and services in every form', () => {
    const { image, services } = given('imaged')
    expect(image).toEqual({
      name: 'node:$WHO',
      entrypoint: [''],
      ports: [],
      pull_policy: ['always', 'if-not-present'],
      executor_opts: { docker: { user: 'dave', platform: 'arm64' } },
    })
    expect(services).toEqual([
      {
        name: 'redis',
        alias: '',
        entrypoint: null,
        command: null,
        ports: [],
        pull_policy: [],
        executor_opts: {},
        variables: [],
      },
      {
        name: 'pg:16',
        alias: 'db',
        entrypoint: ['run'],
        command: ['postgres'],
        ports: [],
        pull_policy: ['always'],
        executor_opts: {},
        variables: [
          { key: 'PGUSER', value: 'me', public: true, masked: false, file: false, raw: false },
        ],
      },
    ])
  })

  test('what it keeps, as it says or as the instance would have it', () => {
    expect(given('artful').artifacts).toEqual([
      {
        name: 'out-$CI_COMMIT_REF_NAME',
        untracked: true,
        paths: ['out/', 'more'],
        exclude: ['**/*.tmp'],
        when: 'always',
        expire_in: '3 days',
        artifact_type: 'archive',
        artifact_format: 'zip',
      },
    ])
    expect(given('artful-plainly').artifacts).toMatchObject([
      { name: 'artifacts', untracked: false, when: 'on_success', expire_in: '30 days' },
    ])
  })

  test('what it reports, each kind by the name and in the format that clients know', () => {
    const reports = given('reporting').artifacts.map(
      (one: Record<string, unknown>) =>
        `${one.artifact_type} ${one.artifact_format} ${one.name} ${one.when} ${one.paths}`,
    )
    expect(reports).toEqual([
      'junit gzip junit.xml always a.xml,b.xml',
      'dotenv gzip .env always build.env',
      'cobertura gzip cobertura-coverage.xml always cov.xml',
      'terraform raw tfplan.json always plan.json',
      'codequality gzip gl-code-quality-report.json always quality.json',
    ])
  })

  test('its caches by keys that are worked out, apart for what is protected', () => {
    const { cache } = given('cached')
    expect(cache).toEqual([
      {
        key: '$CI_COMMIT_REF_SLUG-non_protected',
        untracked: true,
        policy: 'pull',
        paths: ['node_modules'],
        when: 'always',
        fallback_keys: ['old-non_protected', 'older-non_protected'],
      },
      expect.objectContaining({
        key: expect.stringMatching(/^world-1_[0-9a-f]{40}-non_protected$/),
        policy: 'pull-push',
        when: 'on_success',
        untracked: false,
        fallback_keys: [],
      }),
      expect.objectContaining({ key: '2_default-non_protected', paths: ['c'] }),
      expect.objectContaining({ key: '3_default-non_protected', paths: ['d'] }),
    ])
  })

  test('its time, which is the shorter one of its own and of the runner', () => {
    expect(given('timed').runner_info.timeout).toBe(1200)
    expect(given('timed').steps[0].timeout).toBe(1200)
    expect(variablesOf(given('timed')).get('CI_JOB_TIMEOUT')).toBe('1200')
    expect(variablesOf(given('plain')).get('CI_JOB_TIMEOUT')).toBe('3000')
  })

  test('its place among its copies, and the tags of the runner that took it', () => {
    const copies = ['copied 1/2', 'copied 2/2', 'plain'].map((name) => {
      const sent = variablesOf(given(name))
      return ['CI_NODE_INDEX', 'CI_NODE_TOTAL', 'CI_JOB_GROUP_NAME', 'CI_JOB_NAME_SLUG'].map(
        (key) => sent.get(key),
      )
    })
    expect(copies).toEqual([
      ['1', '2', 'copied', 'copied-1-2'],
      ['2', '2', 'copied', 'copied-2-2'],
      [undefined, '1', 'plain', 'plain'],
    ])
    const sent = variablesOf(given('tagged'))
    expect(JSON.parse(sent.get('CI_RUNNER_TAGS') ?? '')).toEqual(['big', 'world'])
    expect(sent.get('CI_RUNNER_DESCRIPTION')).toBe('The "big" one')
  })

  test('the environment that it is about', () => {
    const of = (name: string) =>
      ['NAME', 'SLUG', 'ACTION', 'TIER', 'URL', 'ID'].map((key) =>
        variablesOf(given(name)).get(`CI_ENVIRONMENT_${key}`),
      )
    const slug = expect.stringMatching(/^review-world-[0-9a-f]{6}$/)
    const url = expect.stringMatching(/^https:\/\/review-world-[0-9a-f]{6}\.example\.com$/)
    const id = expect.stringMatching(/^\d+$/)
    expect(of('deploying')).toEqual(['review/world', slug, 'start', 'testing', url, id])
    expect(of('verifying').slice(0, 4)).toEqual([
      'other place',
      expect.stringMatching(/^other-place-/),
      'verify',
      'other',
    ])
    expect(of('plain')).toEqual(Array(6).fill(undefined))
  })

  test('tokens that others can check by the keys of the server', async () => {
    const sent = given('signed').variables.filter(({ key }: { key: string }) =>
      ['ONE', 'TWO'].includes(key),
    )
    expect(sent).toMatchObject([
      { key: 'ONE', masked: true, public: false, raw: true, file: false },
      { key: 'TWO', masked: true },
    ])
    const keys = await (await fetch(`${world.url}/oauth/discovery/keys`)).json()
    const options = {
      issuer: world.ctx.config.externalUrl,
      currentDate: new Date('2026-05-04T10:00:01Z'),
    }
    const key = createLocalJWKSet(keys as never) // as the server gives them
    const one = await jwtVerify(sent[0].value, key, {
      ...options,
      audience: 'https://one.example.com',
    })
    const { job_info: info } = given('signed')
    expect(one.payload).toMatchObject({
      sub: `project_path:${info.project_full_path}:ref_type:branch:ref:main`,
      project_id: String(projectId),
      project_path: info.project_full_path,
      namespace_path: 'ana',
      user_id: String(ana.id),
      user_login: 'ana',
      pipeline_id: String(info.pipeline_id),
      pipeline_source: 'api',
      job_id: String(info.id),
      ref: 'main',
      ref_type: 'branch',
      ref_path: 'refs/heads/main',
      ref_protected: 'false',
      environment: 'review/world',
      iat: Date.parse('2026-05-04T10:00:00Z') / 1000,
      exp: Date.parse('2026-05-04T11:00:00Z') / 1000,
    })
    const two = await jwtVerify(sent[1].value, key, { ...options, audience: 'b' })
    expect(two.payload.aud).toEqual(['a', 'b'])
    await expect(jwtVerify(sent[1].value, key, { ...options, audience: 'c' })).rejects.toThrow()
  })

  test('what is secret as secret, and what is not as it is', () => {
    const flags = (name: string, key: string) => {
      const found = given(name).variables.find((one: { key: string }) => one.key === key)
      return found && [found.public, found.masked, found.file, found.raw]
    }
    expect(flags('plain', 'CI_JOB_TOKEN')).toEqual([false, true, false, true])
    expect(flags('plain', 'CI_REGISTRY_PASSWORD')).toEqual([false, true, false, true])
    expect(flags('plain', 'CI_REPOSITORY_URL')?.slice(0, 2)).toEqual([false, false])
    expect(flags('plain', 'CI_COMMIT_SHA')).toEqual([true, false, false, true])
    expect(flags('plain', 'WHO')).toEqual([true, false, false, false])
    const names = given('plain').variables.map((one: { key: string }) => one.key)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('what a runner fetches', () => {
  const fetched = async (
    settings: Readonly<Record<string, unknown>>,
    run: Readonly<Record<string, unknown>> = {},
    protect = false,
  ) => {
    const place = await addCiPlace(world, ana, 'x: {script: make}', { settings })
    if (protect) {
      await ana.post(`${place.path}/protected_branches`, { name: 'main' })
      await ana.post(`${place.path}/protected_tags`, { name: '*' })
    }
    const pipeline = await startPipeline(place, run)
    const job = await takeJob(place)
    const own = `+refs/pipelines/${pipeline}:refs/pipelines/${pipeline}`
    const tip = place.project.git('rev-parse', `refs/pipelines/${pipeline}`)
    expect(tip).toBe(job.git_info.sha)
    const { refspecs, ...info } = job.git_info
    expect(refspecs[0]).toBe(own)
    return { ...info, more: refspecs.slice(1), git_fetch: job.allow_git_fetch }
  }

  test('is the branch and the ref of the pipeline, as deep as the project says', async () => {
    expect(await fetched({ ci_default_git_depth: 7 })).toMatchObject({
      ref: 'main',
      ref_type: 'branch',
      depth: 7,
      protected: false,
      repo_object_format: 'sha1',
      before_sha: '0'.repeat(40),
      repo_url: expect.stringMatching(/^http:\/\/svc-ci-token:svccbt-[\w-]+@[^/]+\/ana\/.*\.git$/),
      more: ['+refs/heads/main:refs/remotes/origin/main'],
      git_fetch: true,
    })
  })

  test('is everything without a depth', async () => {
    const all = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
    expect(await fetched({ ci_default_git_depth: 0 })).toMatchObject({ depth: 0, more: all })
    const variables = [{ key: 'GIT_DEPTH', value: '0' }]
    expect(await fetched({}, { variables })).toMatchObject({ depth: 0, more: all })
  })

  test('is cloned as deep as the pipeline asks, whatever the project says', async () => {
    const variables = [{ key: 'GIT_DEPTH', value: '3' }]
    expect(await fetched({ ci_default_git_depth: 7 }, { variables })).toMatchObject({ depth: 3 })
  })

  test('is the tag of a tag, and says that it is protected', async () => {
    const place = await addCiPlace(world, ana, 'x: {script: make, only: [tags]}')
    await ana.post(`${place.path}/protected_tags`, { name: 'rel-*' })
    await ana.post(`${place.path}/repository/tags`, { tag_name: 'rel-1', ref: 'main' })
    await startPipeline(place, { ref: 'rel-1' })
    const { git_info: info } = await takeJob(place)
    expect(info).toMatchObject({ ref: 'rel-1', ref_type: 'tag', protected: true })
    expect(info.refspecs.slice(1)).toEqual(['+refs/tags/rel-1:refs/tags/rel-1'])
  })

  test('is cloned anew where the project wants that', async () => {
    expect(await fetched({ build_git_strategy: 'clone' }, {}, true)).toMatchObject({
      git_fetch: false,
      protected: true,
    })
  })
})

describe('the artifacts of earlier jobs', () => {
  const chain = `
a: {stage: build, script: make, artifacts: {paths: [o]}}
b 1/2: {stage: build, script: make, artifacts: {paths: [o]}}
c: {stage: build, script: make, allow_failure: true, artifacts: {paths: [o], when: always}}
none: {stage: build, script: make}
all: {stage: test, script: make}
nothing: {stage: test, script: make, dependencies: []}
some: {stage: test, script: make, dependencies: [a, none]}
needing: {stage: test, script: make, needs: [a, {job: c, artifacts: false}]}
`

  test('are those that a job names, needs, or by default of every stage before it', async () => {
    const place = await addCiPlace(world, ana, chain)
    await startPipeline(place)
    const archive = await zipOf({ o: 'x' })
    for (let at = 0; at < 4; at += 1) {
      const job = await takeJob(place)
      const { name } = job.job_info
      if (name !== 'none') await place.runner.upload(job, archive)
      await place.runner.finish(job, name === 'c' ? 'failed' : 'success')
    }
    const found: Record<string, string[]> = {}
    for (let job = await place.runner.request(); job; job = await place.runner.request()) {
      const { token } = job
      const dependencies = job.dependencies as { name: string; token: string }[]
      expect(dependencies.every((one) => one.token === token)).toBe(true)
      found[job.job_info.name] = dependencies.map((one) => one.name)
    }
    expect(found).toEqual({ all: ['a', 'b 1/2', 'c'], nothing: [], some: ['a'], needing: ['a'] })
  })

  test.each([
    ['expired', 'use: {stage: test, script: make}', 'missing_dependency_failure'],
    ['erased', 'use: {stage: test, script: make, needs: [a]}', 'missing_dependency_failure'],
    ['expired', 'use: {stage: test, script: make, dependencies: []}', 'given'],
    ['deleted', 'use: {stage: test, script: make}', 'given'],
  ])('that were %s fail the job that has %j: %s', async (how, use, outcome) => {
    const place = await addCiPlace(
      world,
      ana,
      `a: {stage: build, script: make, artifacts: {paths: [o], expire_in: 1 hour}}\nwait: {stage: build, script: make}\n${use}`,
    )
    const pipeline = await startPipeline(place)
    const first = await takeJob(place)
    const second = await takeJob(place)
    const sent = await place.runner.upload(first, await zipOf({ o: 'x' }), { expire_in: '1 hour' })
    expect(sent.status).toBe(201)
    await place.runner.finish(first, 'success')
    const at = `${place.path}/jobs/${first.id}`
    if (how === 'erased') expect((await ana.post(`${at}/erase`)).status).toBe(201)
    if (how === 'deleted') expect((await ana.delete(`${at}/artifacts`)).status).toBe(204)
    if (how === 'expired') world.setNow('2026-05-04T11:00:01.000Z')
    if (how === 'expired') {
      const { removeExpired } = await import('../../../src/ci/artifacts/expire.ts')
      await removeExpired(world.ctx)
    }
    await place.runner.finish(second, 'success')
    const job = await place.runner.request()
    const { body } = await ana.get(`${place.path}/pipelines/${pipeline}/jobs?scope=failed`)
    expect(job ? 'given' : body[0]?.failure_reason).toBe(outcome)
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})

test('no cache that jobs of protected refs read is written by those of other refs', async () => {
  const place = await addCiPlace(world, ana, 'x: {script: make, cache: {paths: [d]}}')
  await ana.post(`${place.path}/protected_branches`, { name: 'main' })
  const keys = async (ref: string) => {
    await startPipeline(place, { ref })
    return (await takeJob(place)).cache.map(({ key }: { key: string }) => key)
  }
  expect(await keys('main')).toEqual(['default-protected'])
  await ana.post(`${place.path}/repository/commits`, {
    branch: 'evil',
    start_branch: 'main',
    commit_message: 'Reach for the cache of main',
    actions: [
      {
        action: 'update',
        file_path: '.svc-ci.yml',
        content: 'x: {script: make, cache: {key: default-protected, unprotect: true, paths: [d]}}',
      },
    ],
  })
  expect(await keys('evil')).toEqual(['default-protected-non_protected'])
})

test('a cache with `unprotect` is one for protected and other refs', async () => {
  const place = await addCiPlace(
    world,
    ana,
    'x: {script: make, cache: {paths: [d], unprotect: true}}',
  )
  await ana.post(`${place.path}/protected_branches`, { name: 'main' })
  await ana.post(`${place.path}/repository/branches`, { branch: 'topic', ref: 'main' })
  for (const ref of ['main', 'topic']) {
    await startPipeline(place, { ref })
    expect((await takeJob(place)).cache).toMatchObject([{ key: 'default-non_protected' }])
  }
})

describe('variables', () => {
  test('reach a runner with all that they name put in, and files by their names', async () => {
    const place = await addCiPlace(
      world,
      ana,
      `
variables: {C: "C_$B", B: "B_$A", A: A, OPTS: "-s $SETTINGS", X: $Y, Y: $X, RAW: {value: $A, expand: false}}
x: {script: make, environment: {name: review/$C, url: "https://$SITE/$C"}, variables: {ALL: "$GROUP $UNKNOWN $$A"}}
`,
    )
    for (const [key, value, more] of [
      ['SETTINGS', 'secret of $A', { variable_type: 'file' }],
      ['GROUP', '$A/$CI_JOB_NAME', {}],
      ['SITE', '$A.example.com', {}],
    ] as const) {
      await ana.post(`${place.path}/variables`, { key, value, ...more })
    }
    await startPipeline(place)
    const job = await takeJob(place)
    expect(Object.fromEntries(variablesOf(job))).toMatchObject({
      A: 'A',
      B: 'B_A',
      C: 'C_B_A',
      OPTS: '-s $SETTINGS',
      SETTINGS: 'secret of A',
      X: '$Y',
      Y: '$X',
      RAW: '$A',
      GROUP: 'A/x',
      ALL: 'A/x $UNKNOWN $$A',
      CI_ENVIRONMENT_NAME: 'review/C_B_A',
      CI_ENVIRONMENT_URL: 'https://A.example.com/C_B_A',
    })
    const { body } = await ana.get(`${place.path}/environments`)
    expect(body).toMatchObject([
      { name: 'review/C_B_A', external_url: 'https://A.example.com/C_B_A' },
    ])
  })

  test('name the file that the configuration was read from, in children too', async () => {
    const place = await addCiPlace(world, ana, {
      '.gitlab-ci.yml': 'x: {stage: build, script: make}\ny: {trigger: {include: child.yml}}',
      'child.yml': 'z: {script: make}',
    })
    await startPipeline(place)
    const job = await takeJob(place)
    expect(variablesOf(job).get('CI_CONFIG_PATH')).toBe('.gitlab-ci.yml')
    await place.runner.finish(job, 'success')
    await world.runTasks()
    expect(variablesOf(await takeJob(place)).get('CI_CONFIG_PATH')).toBe('.gitlab-ci.yml')
  })
})
