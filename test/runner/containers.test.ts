import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { containerExecutor } from '../../src/runner/containers/container-executor.ts'
import { usualUnpackLimits } from '../../src/runner/unpack-room.ts'
import { runWorker } from '../../src/runner/worker.ts'
import { commitFiles } from '../support/fast-import.ts'
import { freePort } from '../support/free-port.ts'
import { openPodman, type Podman } from '../support/podman.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

const podman = await openPodman()
if ('unable' in podman) process.stderr.write(`containers are not tested: ${podman.unable}\n`)
const tested = test.skipIf('unable' in podman)

let world: World
let ana: Caller
let folder: string

beforeAll(async () => {
  // Jobs clone from the server's own address, so it must be known beforehand.
  world = await openWorld({ port: await freePort() })
  ana = await world.user('ana')
  folder = await mkdtemp(join(tmpdir(), 'containers-'))
})
afterAll(async () => {
  await world.close()
  if ('program' in podman) await podman.close()
  await rm(folder, { recursive: true, force: true })
})

interface Outcome {
  readonly status: string
  readonly log: string
}

/** Runs the pipeline of a configuration to its end; `IMAGE` and `SERVING` stand for the images. */
async function outcomes(
  path: string,
  config: string,
  concurrent = 1,
  limits = { memory: 0, processes: 0 },
): Promise<Record<string, Outcome>> {
  const { program, image, serving } = podman as Podman // tests without it are left out
  const project = await addProject(world, ana, 'basic', { path })
  const text = config.replaceAll('SERVING', serving).replaceAll('IMAGE', image)
  commitFiles(project, { files: { '.svc-ci.yml': text } })
  const settings = { runner_type: 'project_type', project_id: project.id }
  const { token } = (await ana.post('/user/runners', settings)).body
  const stop = new AbortController()
  const working = runWorker({
    url: world.url,
    token,
    executor: containerExecutor(program, undefined),
    folder: join(folder, path),
    concurrent,
    limits,
    unpack: usualUnpackLimits,
    version: '1',
    jobs: 0,
    stop: stop.signal,
    kill: stop.signal,
    say: () => undefined,
  })
  onTestFinished(async () => {
    stop.abort()
    await working
  })
  return await ended(project)
}

async function ended(project: TestProject): Promise<Record<string, Outcome>> {
  const api = `/projects/${project.id}`
  const { status, body } = await ana.post(`${api}/pipeline`, { ref: 'main' })
  expect(status, JSON.stringify(body)).toBe(201)
  const jobs = await vi.waitFor(
    async () => {
      await world.runTasks()
      const list: { id: number; name: string; status: string }[] = (
        await ana.get(`${api}/pipelines/${body.id}/jobs`)
      ).body
      expect(list.every((job) => ['success', 'failed'].includes(job.status))).toBe(true)
      return list
    },
    { timeout: 100_000, interval: 200 },
  )
  const logs = await Promise.all(
    jobs.map(async (job) => {
      const log: string = (await ana.get(`${api}/jobs/${job.id}/trace`)).body
      return [job.name, { status: job.status, log }] as const
    }),
  )
  return Object.fromEntries(logs)
}

const served = `
.served:
  image: {name: IMAGE, pull_policy: never}
  services:
    - name: SERVING
      alias: web
      pull_policy: never
      entrypoint: [sh]
      command: ['-c', 'sleep 1; mkdir -p /www; printf "%s" "$GREETING" > /www/index.html; exec httpd -f -p 8080 -h /www']
  variables: {GREETING: "hello from the service"}
  script: ['wget -q -O - http://web:8080/']
`

tested(
  'jobs find their services by name and ready, also when other jobs end meanwhile',
  async () => {
    const jobs = Array.from({ length: 6 }, (_, index) => `j${index}: {extends: .served}`)
    const found = await outcomes('served', `${served}${jobs.join('\n')}`, 3)
    for (const [name, { status, log }] of Object.entries(found)) {
      expect(log, name).toContain('hello from the service')
      expect(status, log).toBe('success')
    }
  },
  120_000,
)

tested(
  'variables of a job reach its container whole, and never the program that starts it',
  async () => {
    const config = `
x:
  image: {name: IMAGE, pull_policy: never}
  variables:
    CONTAINERS_CONF: /nowhere
    PATH_LIKE: 'a b "c" $$d # e'
    LINES: |
      one
      it's two
  script:
    - test "$CONTAINERS_CONF" = /nowhere
    - 'echo "said: $PATH_LIKE"'
    - 'printf "%s" "$LINES"'
`
    const { x } = await outcomes('variables', config)
    expect(x?.log).toContain('said: a b "c" $d # e')
    expect(x?.log).toContain("one\nit's two\n")
    expect(x?.status, x?.log).toBe('success')
  },
  60_000,
)

tested(
  'a job sees its own checkout and no other, and fails by its exit code',
  async () => {
    const config = `
x:
  image: {name: IMAGE, pull_policy: never}
  script: ['ls "$CI_BUILDS_DIR" "$CI_PROJECT_DIR/.."', 'test -f .svc-ci.yml', 'exit 7']
`
    const { x } = await outcomes('alone', config)
    expect(x?.log).toContain('exit code 7')
    expect(x?.log).not.toContain('trace.log')
    expect(x?.status).toBe('failed')
  },
  60_000,
)

tested(
  'a service that does not come up is named in the log, and the job runs without it',
  async () => {
    const config = `
x:
  image: {name: IMAGE, pull_policy: never}
  services: [{name: SERVING, alias: web, pull_policy: never, entrypoint: [sh], command: ['-c', 'exit 1']}]
  script: ['echo went on']
`
    const { x } = await outcomes('broken', config)
    expect(x?.log).toMatch(/WARNING: service \S+ does not listen on port 8080/)
    expect(x?.log).toContain('went on')
    expect(x?.status).toBe('success')
  },
  60_000,
)

test.skipIf('unable' in podman || !podman.limits)(
  'a job that takes more memory or processes than it may is ended, and others are not',
  async () => {
    const config = `
image: {name: IMAGE, pull_policy: never}
forks:
  script:
    - for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 20 & done
    - echo forked
fills:
  script:
    - dd if=/dev/zero bs=1M count=200 | tail -c 200000000 > /dev/null
    - echo filled
modest:
  script:
    - echo within
`
    const jobs = await outcomes('limits', config, 3, { memory: 64 * 1024 * 1024, processes: 16 })
    expect(jobs.forks?.status).toBe('failed')
    expect(jobs.forks?.log).toContain("can't fork")
    expect(jobs.fills?.status).toBe('failed')
    expect(jobs.fills?.log).not.toContain('\nfilled')
    expect(jobs.modest).toMatchObject({ status: 'success' })
  },
)
