import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeConfig } from '../../src/base/config.ts'
import { localUrl } from '../../src/http/listener/local-url.ts'
import { cloneFrom } from '../../src/runner/clone-url.ts'
import type { Job } from '../../src/runner/job.ts'
import { freePort } from '../support/free-port.ts'
import { type FakeRunner, jobOf, openFakeRunner } from './fake-server.ts'

let runner: FakeRunner
beforeAll(async () => {
  runner = await openFakeRunner()
})
beforeEach(() => {
  runner.server.answer = () => undefined
})
afterAll(() => runner.close())

/** What a runner says first of a server that it cannot work for. */
async function firstWord(url: string): Promise<string | undefined> {
  const stop = new AbortController()
  const said: string[] = []
  const say = (line: string) => {
    said.push(line)
    stop.abort()
  }
  await runner.run([], { url, stop: stop.signal, jobs: 1, say })
  return said[0]
}

describe('a server that cannot be reached', () => {
  test('is named with its address and the cause', async () => {
    const port = await freePort()
    expect(await firstWord(`http://127.0.0.1:${port}`)).toBe(
      `http://127.0.0.1:${port}/api/v4 cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}; trying again`,
    )
    expect(await firstWord('http://nowhere.invalid')).toMatch(
      /^http:\/\/nowhere\.invalid\/api\/v4 cannot be reached: getaddrinfo E\w+ nowhere\.invalid; trying/,
    )
  })

  test('because its certificate is not trusted names the setting for that', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reach-'))
    const key = join(folder, 'key.pem')
    const cert = join(folder, 'cert.pem')
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=x']
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    const server = createServer({ key: await readFile(key), cert: await readFile(cert) })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo // it listens
      expect(await firstWord(`https://127.0.0.1:${port}`)).toMatch(
        /cannot be reached: self-signed certificate, this machine does not trust .*docs\/ci\.md/,
      )
    } finally {
      server.close()
      await rm(folder, { recursive: true })
    }
  })

  test('and one that answers something else is recognized by its answer', async () => {
    runner.server.answer = () => ({ status: 404 })
    expect(await firstWord(runner.url)).toBe(
      `${runner.url}/api/v4 answers 404 when asked whether it knows a runner; trying again`,
    )
  })
})

describe('where jobs clone from', () => {
  const job = (repo_url: string, server?: string): Job => ({
    ...jobOf(['true'], { variables: server ? { CI_SERVER_URL: server } : {} }),
    git_info: { repo_url, ref: '', sha: '', refspecs: [], depth: 0 },
  })
  const near = 'http://127.0.0.1:8080'
  test.each([
    [
      'https://git.example.com',
      'https://u:p@git.example.com/a/b.git',
      `http://u:p@127.0.0.1:8080/a/b.git`,
    ],
    [
      'https://example.com/git',
      'https://u:p@example.com/git/a.git',
      `http://u:p@127.0.0.1:8080/a.git`,
    ],
    [
      'https://example.com:443/',
      'https://u:p@example.com/a.git',
      `http://u:p@127.0.0.1:8080/a.git`,
    ],
    // Nobody has said that this is the same server.
    ['https://other.example.com', 'https://u:p@example.com/a.git', 'https://u:p@example.com/a.git'],
    [undefined, 'https://u:p@example.com/a.git', `http://u:p@127.0.0.1:8080/a.git`],
    ['https://git.example.com', '', ''],
  ])('of a server %s is %s', (server, given, moved) => {
    expect(cloneFrom(near, job(given, server)).git_info.repo_url).toBe(moved)
    expect(cloneFrom(undefined, job(given, server)).git_info.repo_url).toBe(given)
  })

  test.each([
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['192.0.2.7', 'http://192.0.2.7:80'],
    ['fd00::7', 'http://[fd00::7]:80'],
  ])('beside a server that listens on %s is near', (host, url) => {
    expect(localUrl(makeConfig(), { address: host, port: 80 })).toBe(url)
  })

  test('beside a server with a certificate is what the certificate is for', () => {
    const config = makeConfig({ tlsCert: 'cert.pem', externalUrl: 'https://git.example.com' })
    expect(localUrl(config, { address: '0.0.0.0', port: 443 })).toBe('https://git.example.com')
  })
})
