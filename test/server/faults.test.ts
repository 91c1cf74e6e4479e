import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder } from '../support/database.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'

const faults = fileURLToPath(new URL('../support/fault-on-signal.mjs', import.meta.url))

let data: string
let server: ServerProcess
beforeAll(async () => {
  data = newFolder()
  const env = {
    NODE_OPTIONS: `--import ${faults}`,
    GITSTEAD_ROOT_PASSWORD: '',
    GITSTEAD_ROOT_TOKEN: '',
  }
  server = await startServerProcess(data, env)
}, 90_000)
afterAll(() => {
  server.process.kill('SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

test('links carry the port that was taken, where none was given', async () => {
  const reply = await fetch(`${server.url}/.well-known/openid-configuration`)
  const { issuer } = (await reply.json()) as { issuer: string } // OpenID's word for the server's address
  expect(new URL(issuer).port).toBe(new URL(server.url).port)
})

test('a fault that nobody caught is logged with the request it may belong to, and ends the server in order', async () => {
  const { port } = new URL(server.url)
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  const head =
    'POST /api/v4/markdown?private_token=secret HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine-1\r\n'
  client.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`)
  // The server has it when it has answered one that came later.
  await fetch(`${server.url}/-/health`)
  server.process.kill('SIGUSR2')
  const [code] = await once(server.process, 'exit')
  expect(code).toBe(70)
  const lines = server
    .said()
    .split('\n')
    .filter((line) => line.includes('nobody caught'))
  expect(lines).toHaveLength(1)
  const said = JSON.parse(lines[0] ?? '')
  expect(said).toMatchObject({ level: 'error', origin: 'unhandledRejection' })
  expect(JSON.stringify(said.error)).toContain('nobody awaits this')
  expect(said.requests).toContainEqual(
    expect.objectContaining({ request_id: 'mine-1', method: 'POST', path: '/api/v4/markdown' }),
  )
}, 30_000)

test('what was said tells where the first password and token are, and neither of them', () => {
  expect(server.said()).toContain(`${data}/root-password`)
  expect(server.said()).toContain(`${data}/root-token`)
  expect(server.said()).not.toMatch(/password {2}\S|token {5}\S/)
})

test('a server whose output nobody reads any more goes on, and stops in order', async () => {
  const unread = await startServerProcess(newFolder())
  unread.process.stdout?.destroy()
  unread.process.stderr?.destroy()
  const headers = { 'PRIVATE-TOKEN': 'root-token-of-this-test' }
  expect((await fetch(`${unread.url}/api/v4/version`, { headers })).status).toBe(200)
  // It says that it stops.
  expect(await unread.stop()).toBe(0)
}, 60_000)
