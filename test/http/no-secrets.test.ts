import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashPassword } from '../../src/access/authentication/password.ts'
import { makeLog } from '../../src/base/log.ts'
import { createProject } from '../support/create.ts'
import { gitClient, openClientFolders, runGitClient } from '../support/git-client.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

/** Faults 54: nothing that lets somebody in stands in the log, in what is told of faults, in the trail or in metrics. */
const PASSWORD = 'correct-horse-battery-staple'
const UPSTREAM = 'upstream-password-4711-hush'
const HOOK = 'hook-token-0815-hush-hush'
const VARIABLE = 'variable-value-hush-hush-42'

let world: World
let ana: Caller
let upstream: Server
let port: number
const lines: string[] = []
const secrets = new Map<string, string>()

beforeAll(async () => {
  const log = makeLog({ level: 'debug', write: (line) => void lines.push(line) })
  upstream = createServer((_request, response) => response.writeHead(500).end('no'))
  upstream.listen(0, '127.0.0.1')
  await new Promise((resolve) => upstream.once('listening', resolve))
  port = (upstream.address() as AddressInfo).port
  world = await openWorld({ outboundAllow: [`127.0.0.1:${port}`], smtpUrl: undefined }, { log })
  ana = await world.user('ana')
  const password_hash = await hashPassword(PASSWORD)
  await world.ctx.db.updateTable('users').set({ password_hash }).where('id', '=', ana.id).execute()
  secrets.set('token', ana.token ?? '').set('root', world.root.token ?? '')
  for (const [name, value] of Object.entries({ PASSWORD, UPSTREAM, HOOK, VARIABLE }))
    secrets.set(name, value)
})
afterAll(async () => {
  await world.close()
  upstream.close()
})

const seen: string[] = []

async function call(what: Promise<{ status: number; body: unknown }>) {
  const { status, body } = await what
  if (status >= 400) seen.push(JSON.stringify(body))
  return body
}

test('secrets of requests, of projects and of other servers are told to nobody', async () => {
  const basic = (user: string, secret: string) =>
    `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
  // Each place in which a secret comes in, with a request that goes well and one that does not.
  const project = await createProject(ana, 'p', { initialize_with_readme: true })
  const at = `/projects/${project.id}`
  for (const query of [
    `/user?private_token=${ana.token}`,
    `/user?access_token=${ana.token}`,
    `/none?private_token=${ana.token}`,
    `/projects?per_page=0&private_token=${ana.token}`,
    `/user?job_token=${ana.token}`,
    `/user?sudo=${ana.token}&private_token=${world.root.token}`,
    `${at}/repository/commits/none?private_token=${ana.token}`,
  ])
    await call(world.nobody.get(query))
  for (const [name, value] of [
    ['Authorization', `Bearer ${ana.token}`],
    ['Authorization', basic('ana', PASSWORD)],
    ['JOB-TOKEN', ana.token ?? ''],
    ['DEPLOY-TOKEN', ana.token ?? ''],
    ['Cookie', `_session=${ana.token}`],
  ] as const) {
    await call(world.withHeader(name, value).get('/user'))
    await call(world.withHeader(name, value).post(at, { private_token: [ana.token] }))
  }
  const form = { grant_type: 'password', username: 'ana', password: PASSWORD }
  for (const more of [{}, { password: `${PASSWORD}x` }, { scope: 'none' }])
    await call(world.nobody.post('/oauth/token', { ...form, ...more }, { host: true }))
  await call(world.root.put(`/users/${ana.id}`, { password: PASSWORD, admin: [PASSWORD] }))
  const broken = {
    raw: `{"password":"${PASSWORD}"`,
    headers: { 'Content-Type': 'application/json' },
  }
  await call(world.root.put(`/users/${ana.id}`, undefined, broken))
  // What a project keeps.
  const hook = { url: `http://hook:${UPSTREAM}@127.0.0.1:${port}/x`, token: HOOK }
  const { id: hookId } = (await call(ana.post(`${at}/hooks`, hook))) as { id: number }
  await call(ana.post(`${at}/hooks/${hookId}/test/push_events`))
  await call(ana.post(`${at}/variables`, { key: 'SECRET', value: VARIABLE, masked: true }))
  await call(ana.put(`${at}/variables/SECRET`, { value: `${VARIABLE}!`, environment_scope: ['x'] }))
  const mirror = { url: `http://me:${UPSTREAM}@127.0.0.1:${port}/x.git`, enabled: true }
  await call(ana.post(`${at}/remote_mirrors`, mirror))
  await call(ana.post('/projects', { name: 'imported', import_url: mirror.url }))
  // Tokens that are made here.
  const made = { name: 't', scopes: ['api'], access_level: 40 }
  const bot = (await call(ana.post(`${at}/access_tokens`, made))) as { id: number; token: string }
  const next = (await call(ana.post(`${at}/access_tokens/${bot.id}/rotate`))) as { token: string }
  const deploy = (await call(
    ana.post(`${at}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] }),
  )) as { token: string; username: string }
  const trigger = (await call(ana.post(`${at}/triggers`, { description: 'x' }))) as {
    token: string
  }
  const entries = { bot, next, deploy, trigger }
  for (const [name, { token }] of Object.entries(entries)) secrets.set(name, token)
  await call(world.nobody.post(`${at}/trigger/pipeline`, { token: trigger.token, ref: 'none' }))
  await call(world.nobody.post(`${at}/ref/main/trigger/pipeline?token=${trigger.token}`))
  await call(world.as(bot.token).get('/user'))
  // git
  const folders = openClientFolders()
  const remote = (user: string, secret: string, path = 'ana/p') =>
    `${world.url.replace('://', `://${user}:${secret}@`)}/${path}.git`
  const folder = await folders.folder()
  await gitClient(folder, ['clone', '-q', remote('ana', PASSWORD), 'a'])
  await gitClient(folder, ['clone', '-q', remote(deploy.username, deploy.token), 'b'])
  await runGitClient(folder, ['clone', remote('ana', ana.token ?? '', 'ana/none'), 'c'])
  await runGitClient(folder, ['clone', remote('ana', bot.token), 'd'])
  await folders.clear()
  await fetch(`${world.url}/ana/p.git/info/lfs/objects/batch`, {
    method: 'POST',
    headers: { Authorization: basic('ana', PASSWORD), 'Content-Type': 'text/plain' },
    body: PASSWORD,
  }).then(async (reply) => seen.push(await reply.text()))
  await world.runTasks()
  // What people are shown of what happened.
  const trail = await world.root.get('/audit_events?per_page=100')
  expect(trail.body.length).toBeGreaterThan(5)
  const metrics = await world.nobody.get('/-/metrics', { host: true })
  const shown = [
    JSON.stringify(trail.body),
    JSON.stringify((await ana.get(`${at}/audit_events`)).body),
    JSON.stringify((await ana.get(`${at}/remote_mirrors`)).body),
    JSON.stringify((await ana.get(`${at}/access_tokens`)).body),
    JSON.stringify((await ana.get(`${at}/events`)).body),
    String(metrics.body),
  ]
  expect(lines.length).toBeGreaterThan(40)
  // Whoever keeps a hook reads its address as it was given, and never its token.
  for (const rest of ['', '/events']) {
    const { status, body } = await ana.get(`${at}/hooks/${hookId}${rest}`)
    expect([status, JSON.stringify(body).includes(HOOK)]).toEqual([200, false])
  }
  for (const [name, secret] of secrets) {
    expect(secret.length, name).toBeGreaterThan(15)
    const encoded = Buffer.from(`ana:${secret}`).toString('base64')
    for (const one of [secret, encodeURIComponent(secret), encoded]) {
      expect([name, lines.filter((line) => line.includes(one))]).toEqual([name, []])
      expect([name, shown.filter((text) => text.includes(one))]).toEqual([name, []])
      // Whoever asks to act as a token is told so by name; nobody else sees that.
      const refusals = seen.filter((text) => text.includes(one) && !text.includes('User with ID'))
      expect([name, refusals]).toEqual([name, []])
    }
  }
  // No row of the database holds one that can be used again either, but sealed or as a digest.
  const database = await import('node:fs').then((fs) =>
    ['gitstead.db', 'gitstead.db-wal'].map((file) => {
      const path = `${world.folder}/${file}`
      return fs.existsSync(path) ? fs.readFileSync(path).toString('latin1') : ''
    }),
  )
  for (const [name, secret] of secrets)
    expect([name, database.some((text) => text.includes(secret))]).toEqual([name, false])
}, 120_000)
