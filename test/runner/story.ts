import { expect, vi } from 'vitest'
import type { Caller, World } from '../support/world.ts'

/** The files of a project whose pipeline uses all that runners do. */
export const storyFiles = {
  '.svc-ci.yml': `
stages: [build, test, deploy]
variables: {GREETING: "hello $CI_PROJECT_NAME"}
build:
  stage: build
  script:
    - mkdir -p out/deep && echo "$GREETING" > out/greeting.txt && touch out/deep/left.tmp
    - 'echo "said: the token is $SECRET"'
    - 'echo "said: the file says $(cat "$SETTINGS")"'
    - 'if [ -f cached/count ]; then echo "said: cache was there"; else mkdir -p cached && touch cached/count; fi'
    - echo "BUILT_BY=build" > made.env
    - 'echo "covered 81.5%"'
  coverage: '/covered \\d+\\.\\d+%/'
  artifacts: {paths: [out], exclude: [out/deep/*.tmp], expire_in: 1 day, reports: {dotenv: made.env}}
  cache: {key: shared, paths: [cached]}
matrix:
  stage: test
  needs: [build]
  parallel: {matrix: [{COLOR: [red, blue]}]}
  script: [grep -q hello out/greeting.txt, 'echo "said: $COLOR after $BUILT_BY"']
alone:
  stage: test
  needs: [{job: build, artifacts: false}]
  variables: {GIT_DEPTH: 1}
  script: ['test ! -e out/greeting.txt && echo "said: $(git rev-list --count HEAD) commit"']
units:
  stage: test
  script:
    - printf '<testsuite name="s"><testcase name="one"/><testcase name="two"><failure>no</failure></testcase></testsuite>' > junit.xml
  after_script: ['echo "said: after with $CI_JOB_STATUS"']
  artifacts: {reports: {junit: junit.xml}}
flaky:
  stage: test
  retry: 1
  script: ['test -f cached/tried || { mkdir -p cached; touch cached/tried; exit 1; }']
  cache: {key: flaky, paths: [cached], when: always}
fails:
  stage: test
  script: [exit 7]
  after_script: ['echo "said: after with $CI_JOB_STATUS"']
  allow_failure: {exit_codes: 7}
late:
  stage: test
  timeout: 3 seconds
  script: [sleep 60]
  allow_failure: true
evidence:
  stage: test
  script: [echo seen > seen.txt, exit 1]
  allow_failure: true
  artifacts: {when: on_failure, paths: [seen.txt]}
odd:
  stage: test
  script: ["true"]
  variables: {GIT_STRATEGY: nonsense}
lost:
  stage: test
  script: ["true"]
  variables: {GIT_FETCH_EXTRA_FLAGS: --nonsense}
  allow_failure: true
nothing:
  stage: test
  script: ["true"]
  artifacts: {paths: [missing]}
child:
  stage: test
  trigger: {include: child.yml, strategy: depend}
ship:
  stage: deploy
  script: ['echo "said: to $CI_ENVIRONMENT_NAME"']
  environment: {name: live, on_stop: unship}
unship:
  stage: deploy
  when: manual
  variables: {GIT_STRATEGY: none}
  script: ['echo "said: away"']
  environment: {name: live, action: stop}
by hand:
  stage: deploy
  when: manual
  script: ['echo "said: by hand"']
slow:
  stage: deploy
  when: manual
  script: ['echo "said: begun"', sleep 300]
  after_script: ['echo "said: after with $CI_JOB_STATUS"']
`,
  'child.yml': `inner: {script: ['echo "said: in the child"']}`,
}

export const storyVariables = [
  { key: 'SECRET', value: 'very-secret-value', masked: true },
  { key: 'SETTINGS', value: 'level = 5', variable_type: 'file' },
]

const polling = { timeout: 120_000, interval: 150 }

interface SeenJob {
  readonly id: number
  readonly name: string
  readonly status: string
}

/** Runs the pipeline of a push to its end as people do, and gives what the API says of it. */
export async function tellStory(
  world: World,
  ana: Caller,
  { path, push }: { readonly path: string; readonly push: () => Promise<string> },
) {
  const get = async (at: string) => (await ana.get(path + at)).body
  const run = async (): Promise<number> => {
    const sha = await push()
    await world.runTasks()
    const found = await get(`/pipelines?source=push&sha=${sha}`)
    expect(found).toMatchObject([{ ref: 'main' }])
    return found[0].id
  }
  const newest = async (pipeline: number, name: string): Promise<SeenJob> => {
    const jobs: SeenJob[] = await get(`/pipelines/${pipeline}/jobs?per_page=100`)
    const found = jobs.find((job) => job.name === name)
    if (!found) throw new Error(`no job ${name}`)
    return found
  }
  const becomes = (pipeline: number, name: string, status: string) =>
    vi.waitFor(async () => {
      await world.runTasks()
      expect(await newest(pipeline, name)).toMatchObject({ status })
    }, polling)
  const ends = (pipeline: number) =>
    vi.waitFor(async () => {
      await world.runTasks()
      const jobs: SeenJob[] = await get(`/pipelines/${pipeline}/jobs?per_page=100`)
      const states = JSON.stringify(jobs.map((job) => [job.name, job.status]))
      expect((await get(`/pipelines/${pipeline}`)).status, states).toBe('success')
    }, polling)
  const act = async (at: string) => expect((await ana.post(path + at)).status).toBeLessThan(300)

  const first = await run()
  await ends(first)
  await act(`/jobs/${(await newest(first, 'by hand')).id}/play`)
  await act(`/jobs/${(await newest(first, 'fails')).id}/retry`)
  const { id: slow } = await newest(first, 'slow')
  await act(`/jobs/${slow}/play`)
  await vi.waitFor(
    async () => expect(await get(`/jobs/${slow}/trace`)).toMatch(/^said: begun/m),
    polling,
  )
  await act(`/jobs/${slow}/cancel`)
  const [live] = await get('/environments?name=live')
  const before = live.state
  await act(`/environments/${live.id}/stop`)
  for (const name of ['by hand', 'unship']) await becomes(first, name, 'success')
  await becomes(first, 'fails', 'failed')
  await becomes(first, 'slow', 'canceled')
  const stopped = (await get(`/environments/${live.id}`)).state
  const second = await run()
  await ends(second)
  await world.runTasks()
  const [bridge] = await get(`/pipelines/${first}/bridges`)
  const child = bridge.downstream_pipeline
  const built = await newest(first, 'build')
  return {
    pipeline: await pipelineStory(get, first),
    child: await pipelineStory(get, child.id),
    bridge: { status: bridge.status, child: child.status },
    report: reportStory(await get(`/pipelines/${first}/test_report`)),
    greeting: await get(`/jobs/${built.id}/artifacts/out/greeting.txt`),
    excluded: (await ana.get(`${path}/jobs/${built.id}/artifacts/out/deep/left.tmp`)).status,
    environment: { before, stopped, again: (await get(`/environments/${live.id}`)).state },
    deployments: (await get('/deployments?order_by=id')).map(
      (one: { status: string; deployable: { name: string } }) => [one.deployable.name, one.status],
    ),
    again: await outputOf(get, (await newest(second, 'build')).id),
  }
}

export type Story = Awaited<ReturnType<typeof tellStory>>

// biome-ignore lint/suspicious/noExplicitAny: what the API answers, as tests look at it
type Get = (at: string) => Promise<any>

async function pipelineStory(get: Get, id: number) {
  const { status, source, coverage } = await get(`/pipelines/${id}`)
  const jobs = await get(`/pipelines/${id}/jobs?per_page=100&include_retried=true`)
  const shown = []
  for (const job of jobs.sort((one: SeenJob, other: SeenJob) => one.id - other.id)) {
    const { name, stage, status, failure_reason, allow_failure, coverage, artifacts } = job
    shown.push({
      ...{ name, stage, status, allow_failure, coverage },
      ...(failure_reason === undefined ? {} : { failure_reason }),
      ran: job.runner !== null,
      artifacts: artifacts
        .map(({ file_type, file_format, filename }: Record<string, string>) =>
          [file_type, file_format, filename].join(' '),
        )
        .sort(),
      output: await outputOf(get, job.id),
    })
  }
  shown.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
  return { status, source, coverage, jobs: shown }
}

/** What the scripts of a job themselves wrote. */
async function outputOf(get: Get, id: number): Promise<string[]> {
  const log: string = await get(`/jobs/${id}/trace`)
  return [...log.matchAll(/^said: .*$/gm)].map(([line]) => line.trimEnd())
}

function reportStory(report: Record<string, unknown>) {
  const suites = report.test_suites as {
    name: string
    test_cases: { name: string; status: string }[]
  }[]
  return {
    total: report.total_count,
    failed: report.failed_count,
    suites: suites.map(({ name, test_cases }) => [
      name,
      ...test_cases.map((one) => `${one.name} ${one.status}`),
    ]),
  }
}
