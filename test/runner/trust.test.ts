import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { machineEnvironment } from '../../src/runner/shell-executor.ts'

const program = join(import.meta.dirname, '../../scripts/gitstead')
let folder: string
let server: Server
let url: string
let certificate: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trust-'))
  const key = join(folder, 'key.pem')
  certificate = join(folder, 'authority.pem')
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=x']
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', [...made, ...names, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  // A server that knows no runner.
  const given = { key: readFileSync(key), cert: readFileSync(certificate) }
  server = createServer(given, (request, response) => {
    request.resume()
    response.writeHead(403).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens
})
afterEach(() => void vi.unstubAllEnvs())
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

function start(env: NodeJS.ProcessEnv) {
  const args = ['runner', '--url', url, '--token', 'none', '--folder', join(folder, 'runner')]
  return spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

test.each(['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'])(
  'a runner trusts what %s names, and says in one line that its token is none',
  async (name) => {
    const child = start({ [name]: certificate })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect(said).toBe(
      `gitstead: the server at ${url} does not know this token: POST /user/runners gives one for GITSTEAD_RUNNER_TOKEN\n`,
    )
    expect(code).toBe(1)
  },
  60_000,
)

test('a runner says of a server which nobody here vouches for what to do', async () => {
  const child = start({})
  const [first] = await once(child.stderr, 'data')
  child.kill('SIGKILL')
  expect(String(first)).toMatch(/cannot be reached: self-signed certificate, .*docs\/ci\.md/)
}, 60_000)

test('the git of a job trusts what the other programs of the machine do', () => {
  for (const name of ['GIT_SSL_CAINFO', 'SSL_CERT_FILE']) vi.stubEnv(name, undefined)
  expect(machineEnvironment()).not.toHaveProperty('GIT_SSL_CAINFO')
  vi.stubEnv('SSL_CERT_FILE', '/etc/own.pem')
  expect(machineEnvironment()).toMatchObject({ GIT_SSL_CAINFO: '/etc/own.pem' })
  vi.stubEnv('GIT_SSL_CAINFO', '/etc/of-git.pem')
  expect(machineEnvironment()).toMatchObject({ GIT_SSL_CAINFO: '/etc/of-git.pem' })
})
