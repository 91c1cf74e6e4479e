import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ClientFolders,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'

const password = 'root-password-of-this-test'
const token = 'root-token-of-this-test'
let folders: ClientFolders
let server: ServerProcess
let source = ''
beforeAll(async () => {
  folders = openClientFolders()
  source = await folders.repository()
  const data = join(await folders.folder(), 'data of é and spaces')
  const env = {
    UV_THREADPOOL_SIZE: '1',
    TZ: 'Asia/Kathmandu',
    LANG: 'tr_TR.UTF-8',
    GITSTEAD_LOG_LEVEL: 'debug',
    GITSTEAD_ENGINE_TIMEOUT: '30s',
  }
  server = await startServerProcess(data, env, 'ulimit -n 256; umask 000')
}, 60_000)
afterAll(async () => {
  if (server.process.exitCode !== null) process.stderr.write(server.said().slice(-4000))
  await server.stop()
  await folders.clear()
}, 60_000)

const remote = (secret = token) =>
  `${server.url.replace('://', `://root:${secret}@`)}/root/demo.git`

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(server.url + path, { ...init, headers: { 'PRIVATE-TOKEN': token } })
}

describe('with a path of spaces, another time zone and language, no umask and one thread', () => {
  test('what is pushed is read and cloned, and files are nobody else’s', async () => {
    await gitClient(source, ['push', '-q', remote(), 'main'])
    const tree = await ask('/api/v4/projects/root%2Fdemo/repository/tree')
    expect(tree.status).toBe(200)
    const target = join(await folders.folder(), 'copy')
    await gitClient(source, ['clone', '-q', '--bare', remote(), target])
    expect(await gitClient(target, ['fsck'])).toBe('')
    const reply = await ask('/api/v4/projects/root%2Fdemo')
    const project = (await reply.json()) as { created_at: string }
    expect(project.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Math.abs(Date.parse(project.created_at) - Date.now())).toBeLessThan(600_000)
  }, 60_000)

  test('health answers while passwords keep the only thread busy', async () => {
    let done = 0
    const url = `${server.url}/root/demo.git/info/refs?service=git-upload-pack`
    const headers = { Authorization: `Basic ${Buffer.from(`root:${password}`).toString('base64')}` }
    const slow = Array.from({ length: 12 }, () =>
      fetch(url, { headers }).then(async (reply) => {
        await reply.arrayBuffer()
        done += 1
        return reply.status
      }),
    )
    const health = await fetch(`${server.url}/-/health`)
    expect(health.status).toBe(200)
    expect(done).toBeLessThan(12)
    expect(await Promise.all(slow)).toEqual(Array(12).fill(200))
  }, 60_000)
})

describe('with 256 file descriptors', () => {
  test('three hundred clients at once are served or told to come later, and it lives on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
    const auth = `root:${token}`
    const answers = Array.from(
      { length: 300 },
      () =>
        new Promise<number | string>((resolve) => {
          const url = `${server.url}/root/demo.git/info/refs?service=git-receive-pack`
          const request = get(url, { agent, auth }, (reply) => {
            reply.resume()
            reply.on('end', () => resolve(reply.statusCode ?? 0))
            reply.on('error', () => resolve('cut'))
          })
          request.on('error', () => resolve('cut'))
        }),
    )
    const seen = await Promise.all(answers)
    agent.destroy()
    expect(seen.filter((one) => one === 200).length).toBeGreaterThan(20)
    expect(seen.filter((one) => one === 503).length).toBeGreaterThan(50)
    expect([...new Set(seen)].filter((one) => one !== 200 && one !== 503 && one !== 'cut')).toEqual(
      [],
    )
    await expect.poll(async () => (await ask('/-/health')).status, { timeout: 10_000 }).toBe(200)
    expect(server.process.exitCode).toBeNull()
    const target = join(await folders.folder(), 'after')
    await gitClient(source, ['clone', '-q', '--bare', remote(), target])
  }, 90_000)

  test('sixty clones at once fail with a reason, if at all', async () => {
    const folder = await folders.folder()
    const runs = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        runGitClient(folder, ['clone', '-q', '--bare', remote(), `c${index}`]),
      ),
    )
    expect(runs.filter((run) => run.code === 0).length).toBeGreaterThan(10)
    for (const run of runs.filter((one) => one.code !== 0)) {
      expect(run.stderr).toMatch(/503|reset|closed|hung up|RPC failed/i)
    }
    expect((await ask('/-/health')).status).toBe(200)
  }, 90_000)

  test('clients that say nothing do not keep others out for good', async () => {
    const { port } = new URL(server.url)
    const idle = Array.from({ length: 150 }, () => connect(Number(port), '127.0.0.1'))
    for (const socket of idle) socket.on('error', () => {})
    await Promise.allSettled(idle.map((socket) => once(socket, 'connect')))
    for (const socket of idle) socket.destroy()
    await expect.poll(async () => (await ask('/-/health')).status, { timeout: 10_000 }).toBe(200)
  }, 30_000)
})

test('what was said to the log names no secret', async () => {
  await ask(`/api/v4/projects?private_token=${token}`)
  await ask(`/api/v4/user?access_token=${token}`, { method: 'GET' })
  await runGitClient(source, ['ls-remote', remote('a-wrong-secret')])
  await fetch(`${server.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', username: 'root', password }),
  })
  const said = server.said()
  expect(said).toContain('"path"')
  for (const secret of [token, password, 'a-wrong-secret', 'Basic ']) {
    expect(said).not.toContain(secret)
  }
})
