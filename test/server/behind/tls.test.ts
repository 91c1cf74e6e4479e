import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { makeLog } from '../../../src/base/log.ts'
import { newFolder } from '../../support/database.ts'
import { git } from '../../support/git.ts'
import { gitClient } from '../../support/git-client.ts'
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts'
import { newTestFolder } from '../../support/test-folder.ts'
import { openWorld } from '../../support/world.ts'
import { ask } from './ask.ts'
import { makeCertificate } from './certificate.ts'

const folder = newFolder()
const first = makeCertificate(folder, 'first')
const second = makeCertificate(folder, 'second')
let server: ServerProcess

beforeAll(async () => {
  server = await startServerProcess(join(folder, 'data'), {
    GITSTEAD_TLS_CERT: first.cert,
    GITSTEAD_TLS_KEY: first.key,
  })
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const ca = [first, second].map(({ cert }) => readFileSync(cert, 'utf8')).join('\n')
const token = { 'private-token': 'root-token-of-this-test' }

test('a server with a certificate speaks TLS and HTTP/1.1, and its links and cookies are those of TLS', async () => {
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const me = await ask(ca, `${server.url}/api/v4/user`, { headers: token })
  expect(me).toMatchObject({ status: 200, name: 'first', alpn: 'http/1.1' })
  expect(JSON.parse(me.body).web_url).toBe(`${server.url}/root`)
  const page = await ask(ca, `${server.url}/users/sign_in`)
  expect(page.headers['set-cookie']?.[0]).toMatch(/^__Host-_svc_form=.*; Secure/)
})

test('git clones and pushes over it', async () => {
  const headers = { ...token, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'demo' })
  const made = await ask(ca, `${server.url}/api/v4/projects`, { method: 'POST', headers, body })
  expect(made.status).toBe(201)
  const work = join(folder, 'work')
  git(folder, ['init', '-q', '-b', 'main', work])
  // More than curl sends before it asks whether it may go on.
  writeFileSync(join(work, 'large.bin'), Buffer.alloc(3_000_000, 'a line that compresses badly?'))
  git(work, ['add', '.'])
  git(work, ['-c', 'core.compression=0', 'commit', '-qm', 'first'])
  const url = server.url.replace('//', '//root:root-token-of-this-test@')
  const env = { GIT_SSL_CAINFO: first.cert }
  await gitClient(work, ['push', '-q', `${url}/root/demo.git`, 'main'], env)
  await gitClient(folder, ['clone', '-q', `${url}/root/demo.git`, 'copy'], env)
  expect(git(join(folder, 'copy'), ['rev-parse', 'HEAD'])).toBe(git(work, ['rev-parse', 'HEAD']))
})

test('who speaks no TLS is hung up on, and the others are served', async () => {
  const { port, hostname } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  expect((await ask(ca, `${server.url}/-/health`)).status).toBe(200)
})

test('a certificate that was renewed is used by new connections; until both files fit, the one before goes on', async () => {
  const renewed = { cert: join(folder, 'renewed.pem'), key: join(folder, 'renewed.key') }
  copyFileSync(first.cert, renewed.cert)
  copyFileSync(first.key, renewed.key)
  const said: string[] = []
  const log = makeLog({ level: 'info', write: (line) => void said.push(line) })
  // The files are looked at every five seconds.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const world = await openWorld({ tlsCert: renewed.cert, tlsKey: renewed.key }, { log })
  onTestFinished(() => world.close())
  const name = async () => (await ask(ca, `${world.url.replace('http:', 'https:')}/-/health`)).name
  copyFileSync(second.cert, join(folder, 'next.pem'))
  renameSync(join(folder, 'next.pem'), renewed.cert)
  expect(await name()).toBe('first')
  vi.advanceTimersByTime(5000)
  expect(said.join('')).toContain('certificate before goes on')
  expect(await name()).toBe('first')
  copyFileSync(second.key, renewed.key)
  vi.advanceTimersByTime(5000)
  expect(await name()).toBe('second')
  expect(said.join('')).toContain('the certificate was read anew')
})

test.each([
  [{ tlsCert: first.cert }, 'GITSTEAD_TLS_CERT needs GITSTEAD_TLS_KEY'],
  [
    { tlsCert: join(folder, 'none.pem'), tlsKey: first.key },
    'GITSTEAD_TLS_CERT cannot be read (no such file',
  ],
  [
    { tlsCert: first.cert, tlsKey: second.key },
    'GITSTEAD_TLS_CERT and GITSTEAD_TLS_KEY must be PEM files of a certificate and its key (',
  ],
])(
  'a server without a certificate that fits does not start, and names the setting: %#',
  async (given, text) => {
    await expect(openWorld({ data: newTestFolder(), ...given })).rejects.toThrow(text)
  },
)
