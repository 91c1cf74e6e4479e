import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let lint: string

beforeAll(async () => {
  const project = await addProject(world, ana, 'basic')
  lint = `/projects/${project.id}/ci/lint`
})

async function errorsOf(content: string): Promise<string[]> {
  const { status, body } = await ana.post(lint, { content, dry_run: true })
  expect(status).toBe(200)
  expect(body.valid).toBe(body.errors.length === 0)
  return body.errors
}

function job(line: string): string {
  return `x:\n  script: make\n  ${line}\n`
}

describe('a keyword of a job that is not of its form is refused by name', () => {
  test.each([
    ['image: {entrypoint: [sh]}', 'jobs:x:image config missing required keys: name'],
    ['image: {name: node, pulls: always}', 'jobs:x:image config contains unknown keys: pulls'],
    ['image: [node]', 'jobs:x:image config should be a string'],
    ['services: postgres', 'jobs:x:services config should be a array'],
    ['services: [{alias: db}]', 'jobs:x:services config missing required keys: name'],
    ['artifacts: {path: out}', 'jobs:x:artifacts config contains unknown keys: path'],
    ['artifacts: out', 'jobs:x:artifacts config should be a hash'],
    [
      'artifacts: {paths: [out], when: sometimes}',
      'jobs:x:artifacts when should be one of: on_success, on_failure, always',
    ],
    [
      'artifacts: {paths: [out], expire_in: soon}',
      'jobs:x:artifacts expire in should be a duration',
    ],
    [
      'artifacts: {paths: [out], access: everyone}',
      'jobs:x:artifacts access should be one of: none, developer, maintainer, all',
    ],
    ['cache: {path: [m]}', 'jobs:x:cache config contains unknown keys: path'],
    [
      'cache: {paths: [m], policy: both}',
      'jobs:x:cache policy should be one of: pull-push, push, pull',
    ],
    [
      'cache: {key: {prefix: a}, paths: [m]}',
      'jobs:x:cache key config missing required keys: files',
    ],
    [
      'cache: [{paths: [a]}, {paths: [b]}, {paths: [c]}, {paths: [d]}, {paths: [e]}]',
      'jobs:x:cache config is too long (maximum is 4)',
    ],
    ['retry: 3', 'jobs:x:retry config should be an integer between 0 and 2'],
    ['retry: {max: 7}', 'jobs:x:retry max should be an integer between 0 and 2'],
    ['retry: {when: [bad_luck]}', /jobs:x:retry when should be one of: always, unknown_failure/],
    ['retry: {exit_codes: [one]}', 'jobs:x:retry exit codes should be an array of integers'],
    [
      'allow_failure: {exit_codes: many}',
      'jobs:x allow failure should be a boolean value or a hash',
    ],
    ['interruptible: 1', 'jobs:x:interruptible config should be a boolean value'],
    ['dependencies: y', 'jobs:x:dependencies config should be an array of strings'],
    ['hooks: {before: [a]}', 'jobs:x:hooks config contains unknown keys: before'],
    ['inherit: {default: 1}', 'jobs:x:inherit default should be a bool or an array of strings'],
    ['inherit: {defaults: false}', 'jobs:x:inherit config contains unknown keys: defaults'],
    ['environment: {name: a, urls: b}', 'jobs:x:environment config contains unknown keys: urls'],
    [
      'environment: {name: a, deployment_tier: live}',
      'jobs:x:environment deployment tier should be one of: production, staging, testing, development, other',
    ],
    [
      'environment: {name: a, auto_stop_in: later}',
      'jobs:x:environment auto stop in should be a duration',
    ],
    ['environment: {name: a, on_stop: gone}', 'x job: on_stop job gone is not defined'],
    ['release: {name: a}', 'jobs:x:release config missing required keys: tag_name'],
    ['id_tokens: {T: {audience: a}}', 'jobs:x:id_tokens:T config contains unknown keys: audience'],
    ['id_tokens: {T: {}}', 'jobs:x:id_tokens:T config missing required keys: aud'],
    ['rules: [{when: later}]', 'jobs:x:rules:rule when unknown value: later'],
    ['rules: [{iff: $A}]', 'jobs:x:rules:rule config contains unknown keys: iff'],
    ['rules: [{allow_failure: 1}]', 'jobs:x:rules:rule allow failure should be a boolean value'],
    [
      'rules: [{variables: [A]}]',
      'jobs:x:rules:rule:variables config should be a hash of key value pairs',
    ],
    ['only: {branches: [main]}', 'jobs:x:only config contains unknown keys: branches'],
    ['only: {variables: ["$A =="]}', 'jobs:x:only variables invalid expression syntax'],
    [
      'needs: [{job: y, artefacts: true}]',
      'jobs:x:needs:need config contains unknown keys: artefacts',
    ],
    ['needs: [{project: a/b, job: y}]', 'jobs:x:needs:need ref should be a string'],
    ['needs: [{pipeline: $UP}]', 'jobs:x:needs:need job should be a string'],
  ])('%s', async (line, message) => {
    const [first, ...more] = await errorsOf(job(line))
    expect(first).toMatch(message)
    if (typeof message === 'string') expect(first).toBe(message)
    expect(more).toEqual([])
  })

  test.each([
    ['secrets: {A: {vault: a}}', 'jobs:x:secrets config is not supported'],
    ['run: [{name: a, script: b}]', 'jobs:x:run config is not supported: there is no step runner'],
    ['identity: google_cloud', 'jobs:x:identity config is not supported'],
    ['dast_configuration: {site_profile: a}', 'jobs:x:dast_configuration config is not supported'],
  ])('and one that no program here can follow too: %s', async (line, message) => {
    expect((await errorsOf(job(line)))[0]).toContain(message)
  })

  test.each([
    ['x: {trigger: {project: a/b, strategy: wait}}', 'strategy should be one of: depend, mirror'],
    ['x: {trigger: {project: a/b, forwards: {}}}', 'config contains unknown keys: forwards'],
    [
      'x: {trigger: {project: a/b, forward: {yaml_variables: 1}}}',
      'jobs:x:trigger forward yaml variables should be a boolean value',
    ],
    [
      'workflow: {rules: [{needs: []}]}\nx: {script: y}',
      'workflow:rules:rule config contains unknown keys: needs',
    ],
    [
      'include: {local: /a.yml, rules: [{variables: {A: b}}]}\nx: {script: y}',
      'include:rules:rule config contains unknown keys: variables',
    ],
    [
      'x: {script: y, environment: {name: a, on_stop: z}}\nz: {script: y}',
      'x job: on_stop job z needs to have action stop defined',
    ],
  ])('elsewhere: %s', async (content, message) => {
    expect((await errorsOf(content))[0]).toContain(message)
  })
})

test('everything that a job may say is taken in each of its forms', async () => {
  const content = `
default:
  image: {name: node, entrypoint: [""], pull_policy: if-not-present, docker: {user: "1000"}}
  retry: {max: 1, when: script_failure, exit_codes: 137}
  interruptible: true
  hooks: {pre_get_sources_script: [echo hook]}
  timeout: 2h 30m
  tags: [docker, $SIZE]
x:
  inherit: {default: [image, retry], variables: false}
  services: [postgres, {name: redis, alias: cache, command: [a], variables: {A: b}, pull_policy: [always]}]
  variables: {A: 1, B: {value: "$A", expand: false}}
  script: [make]
  cache:
    - {key: $CI_COMMIT_REF_SLUG, paths: [m], policy: $POLICY, when: always, fallback_keys: [main]}
    - {key: {files: [package-lock.json], prefix: $CI_JOB_NAME}, paths: [n], unprotect: true, untracked: true}
  artifacts:
    name: out
    paths: [out]
    exclude: [out/tmp]
    untracked: false
    when: on_failure
    expire_in: never
    expose_as: all
    public: false
    reports: {junit: [a.xml, b.xml], dotenv: build.env, coverage_report: {coverage_format: cobertura, path: c.xml}}
  environment: {name: review/$CI_COMMIT_REF_SLUG, url: "https://$HOST", on_stop: z, auto_stop_in: $LIFE, deployment_tier: development}
  id_tokens: {T: {aud: [a, b]}}
  retry: 2
  allow_failure: {exit_codes: [1, 2]}
  release: {tag_name: v1, description: one, assets: {links: [{name: a, url: "https://b"}]}, milestones: [m]}
  coverage: '/(\\d+)%/'
  resource_group: prod
z:
  script: make
  needs: []
  when: manual
  environment: {name: review/$CI_COMMIT_REF_SLUG, action: stop}
bridge:
  trigger: {project: a/$NAME, branch: main, strategy: mirror, forward: {yaml_variables: true, pipeline_variables: true}, inputs: {a: b}}
`
  expect(await errorsOf(content)).toEqual([])
})

describe('needs of copies of a parallel job', () => {
  const grid = (more: string) => `
grid: {stage: build, script: x, parallel: {matrix: [{OS: [linux, mac], ARCH: [arm, x86]}]}}
pack: {script: x, needs: [{job: grid, parallel: {matrix: [${more}]}}]}
`
  test('wait for those copies alone', async () => {
    const project = await createProject(ana, 'copies')
    const content = grid('{OS: mac, ARCH: [arm, x86]}')
    const path = `/projects/${project.id}`
    const file = { branch: 'main', commit_message: 'Add jobs', content }
    await ana.post(`${path}/repository/files/.svc-ci.yml`, file)
    await world.runTasks()
    const [pipeline] = (await ana.get(`${path}/pipelines`)).body
    const { endJob } = await import('../../../src/ci/pipelines/process/change-jobs.ts')
    const jobsNow = async (): Promise<{ id: number; name: string; status: string }[]> =>
      (await ana.get(`${path}/pipelines/${pipeline.id}/jobs`)).body
    for (const { id, name } of await jobsNow()) {
      if (!name.startsWith('grid: [mac')) continue
      expect((await jobsNow()).find((one) => one.name === 'pack')?.status).toBe('created')
      await endJob(world.ctx, { id, pipeline_id: pipeline.id }, { status: 'success' })
    }
    const states = Object.fromEntries((await jobsNow()).map((one) => [one.name, one.status]))
    expect(states).toEqual({
      'grid: [linux, arm]': 'pending',
      'grid: [linux, x86]': 'pending',
      'grid: [mac, arm]': 'success',
      'grid: [mac, x86]': 'success',
      pack: 'pending',
    })
  })

  test('that there are not are refused', async () => {
    expect((await errorsOf(grid('{OS: bsd, ARCH: arm}')))[0]).toContain(
      "'pack' job needs 'grid: [bsd, arm]' job, but 'grid: [bsd, arm]' does not exist",
    )
  })
})
