import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { isRunning, processMark, statFields } from '../../src/base/process-mark.ts'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { Caller } from '../support/world.ts'

const folder = newFolder()
const waiting = { timeout: 30_000, interval: 100 }
let server: ServerProcess | undefined
let second: ServerProcess | undefined
afterAll(async () => {
  await server?.stop()
  await second?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function pidsOf(pattern: string): number[] {
  try {
    const found = execFileSync('pgrep', ['-f', pattern], { encoding: 'utf8' })
    return found.split('\n').filter(Boolean).map(Number)
  } catch {
    return [] // none
  }
}

const runners = () => pidsOf(`gitstead.mjs runner .*--folder ${folder}/runner`)
/** Who has the folder of the runner for itself. */
const holder = () => {
  const path = `${folder}/runner/alone`
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : undefined
}
const sleepers = () => pidsOf(`^sleep 60000${process.pid}$`)

test('the runner beside a server ends with it, however that ends, and its jobs are told of', async () => {
  const port = await freePort()
  // Nobody reaches the server there, not even its jobs.
  const env = {
    GITSTEAD_RUNNER: 'shell',
    GITSTEAD_PORT: String(port),
    GITSTEAD_SSH_PORT: '0',
    GITSTEAD_EXTERNAL_URL: 'https://git.invalid',
  }
  server = await startServerProcess(folder, env)
  const root = new Caller(server.url, 'root-token-of-this-test', 1, 'root')
  const { id } = await createProject(root, 'demo', { initialize_with_readme: true })
  const content = `build:\n  script:\n    - test -f README.md\n    - env -i setsid sleep 60000${process.pid} &\n    - sleep $SECONDS_OF_IT\n`
  const path = `/projects/${id}`
  const file = { branch: 'main', commit_message: 'Build [ci skip]', content }
  await root.post(`${path}/repository/files/.svc-ci.yml`, file)
  const start = async (seconds: string) => {
    const variables = [{ key: 'SECONDS_OF_IT', value: seconds }]
    return (await root.post(`${path}/pipeline`, { ref: 'main', variables })).body.id
  }
  const jobOf = async (pipeline: number) =>
    (await root.get(`${path}/pipelines/${pipeline}/jobs`)).body[0]
  const green = await start('0')
  await expect.poll(async () => (await jobOf(green)).status, waiting).toBe('success')
  expect(sleepers()).toEqual([])

  const lost = await start('600')
  await expect.poll(sleepers, waiting).toHaveLength(1)
  const [runner = 0] = runners()
  expect(statFields(runner)?.parent).toBe(server.process.pid)
  const mark = processMark(runner) ?? ''
  server.process.kill('SIGKILL')
  second = await startServerProcess(folder, env)
  await expect.poll(() => isRunning(mark), waiting).toBe(false)
  expect(sleepers()).toEqual([])
  await expect
    .poll(async () => (await jobOf(lost)).failure_reason, waiting)
    .toBe('runner_interrupted')
  await expect.poll(runners, waiting).toHaveLength(1)
  await expect.poll(holder, waiting).toBe(runners()[0])

  await start('600')
  await expect.poll(sleepers, waiting).toHaveLength(1)
  const stopped = second
  second = undefined
  expect(await stopped.stop()).toBe(0)
  expect(runners()).toEqual([])
  expect(sleepers()).toEqual([])
}, 180_000)

test('as many jobs run beside the server at a time as its setting says', async () => {
  const data = newFolder()
  const meet = newFolder()
  const together = await startServerProcess(data, {
    GITSTEAD_RUNNER: 'shell',
    GITSTEAD_RUNNER_CONCURRENT: '3',
  })
  try {
    const root = new Caller(together.url, 'root-token-of-this-test', 1, 'root')
    const { id } = await createProject(root, 'crowd')
    // Each waits until all three are there: one after the other, none would ever end well.
    const wait = `touch ${meet}/$CI_JOB_ID; for i in $(seq 300); do [ $(ls ${meet} | wc -l) -ge 3 ] && exit 0; sleep 0.1; done; exit 1`
    const content = `meet:\n  parallel: 3\n  script:\n    - '${wait}'\n`
    const file = { branch: 'main', commit_message: 'Meet', content }
    expect((await root.post(`/projects/${id}/repository/files/.svc-ci.yml`, file)).status).toBe(201)
    const status = async () =>
      (await root.get(`/projects/${id}/pipelines`)).body[0]?.status as string | undefined
    await expect.poll(status, { timeout: 60_000, interval: 200 }).toMatch(/success|failed|canceled/)
    expect(await status()).toBe('success')
  } finally {
    await together.stop()
    for (const path of [data, meet]) rmSync(path, { recursive: true, force: true })
  }
}, 120_000)
