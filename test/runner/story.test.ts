import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shellExecutor } from '../../src/runner/shell-executor.ts'
import { usualUnpackLimits } from '../../src/runner/unpack-room.ts'
import { runWorker } from '../../src/runner/worker.ts'
import { freePort } from '../support/free-port.ts'
import { gitClient, makeProject } from '../support/git-client.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'
import { storyFiles, storyVariables, tellStory } from './story.ts'

const file = join(import.meta.dirname, '../../fixtures/pipeline-story.json')

// The path of a stock runner program lets that one run the pipeline; with UPDATE_STORY its story becomes the agreed one.
const { STOCK_RUNNER: stockRunner, UPDATE_STORY: mayUpdate } = process.env

let world: World
let ana: Caller
let folder: string

beforeAll(async () => {
  // Jobs clone from the server's own address, so it must be known beforehand.
  world = await openWorld({ port: await freePort() })
  ana = await world.user('ana')
  folder = await mkdtemp(join(tmpdir(), 'story-'))
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

test('the API shows a whole pipeline as it did when the stock runner ran it', async () => {
  const project = await makeProject(world, ana, 'told')
  const push = await pusher(project.url(ana))
  const path = `/projects/${project.id}`
  for (const variable of storyVariables) await ana.post(`${path}/variables`, variable)
  const settings = { runner_type: 'project_type', project_id: project.id }
  const { token } = (await ana.post('/user/runners', settings)).body
  const stop = stockRunner ? await startStock(stockRunner, token) : startOwn(token)
  try {
    const story = await tellStory(world, ana, { path, push })
    if (mayUpdate) await writeFile(file, `${JSON.stringify(story, null, 2)}\n`)
    expect(story).toEqual(JSON.parse(await readFile(file, 'utf8')))
  } finally {
    await stop()
  }
}, 300_000)

/** Pushes the next commit of a clone and gives its id: the first brings the files, others change nothing. */
async function pusher(url: string): Promise<() => Promise<string>> {
  const clone = await mkdtemp(join(folder, 'clone-'))
  await gitClient(clone, ['init', '--quiet', '--initial-branch=main'])
  for (const [name, content] of Object.entries(storyFiles)) {
    await writeFile(join(clone, name), content)
  }
  await gitClient(clone, ['add', '.'])
  return async () => {
    await gitClient(clone, ['commit', '--quiet', '--allow-empty', '--message', 'Go on'])
    await gitClient(clone, ['push', '--quiet', url, 'main'])
    return await gitClient(clone, ['rev-parse', 'HEAD'])
  }
}

function startOwn(token: string): () => Promise<void> {
  const end = new AbortController()
  const working = runWorker({
    url: world.url,
    token,
    executor: shellExecutor,
    folder,
    concurrent: 3,
    limits: { memory: 0, processes: 0 },
    unpack: usualUnpackLimits,
    version: '1',
    jobs: 0,
    stop: end.signal,
    kill: end.signal,
    say: () => undefined,
  })
  return async () => {
    end.abort()
    await working
  }
}

async function startStock(program: string, token: string): Promise<() => Promise<void>> {
  const config = join(folder, 'config.toml')
  await writeFile(config, 'concurrent = 3\ncheck_interval = 1\n')
  const env = { PATH: process.env.PATH, HOME: folder }
  const folders = ['--builds-dir', join(folder, 'builds'), '--cache-dir', join(folder, 'cache')]
  const place = ['--url', world.url, '--token', token, '--executor', 'shell', '--shell', 'bash']
  const registration = spawn(
    program,
    ['register', '--non-interactive', '--config', config, ...place, ...folders],
    { env, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  expect((await once(registration, 'exit'))[0]).toBe(0)
  const running = spawn(program, ['run', '--config', config, '--working-directory', folder], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return async () => {
    const gone = once(running, 'exit')
    running.kill('SIGTERM')
    await gone
  }
}
