import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Caller, openWorld, type World } from '../support/world.ts'
import { type Monitored, monitoredProject } from './alerts.ts'

let world: World
let ana: Caller
let one: Monitored
let manager: ChildProcess
let folder: string
let url: string

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  one = await monitoredProject(world, ana, 'managed', { type: 'prometheus' })
  await ana.put(`${one.api}/incident_management_settings`, { create_issue: true })
  folder = mkdtempSync(join(tmpdir(), 'alertmanager-'))
  writeFileSync(
    join(folder, 'alertmanager.yml'),
    `route:
  receiver: gitstead
  group_by: [alertname]
  group_wait: 1s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: gitstead
    webhook_configs:
      - url: ${one.integration.url}
        send_resolved: true
        http_config:
          authorization:
            credentials: ${one.integration.token}
`,
  )
  const port = await freePort()
  url = `http://127.0.0.1:${port}/api/v2`
  manager = spawn(
    'prometheus-alertmanager',
    [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    { stdio: 'ignore' },
  )
  await new Promise<void>((resolve, reject) => {
    manager.once('error', reject)
    manager.once('spawn', resolve)
  })
  await vi.waitUntil(
    () =>
      fetch(`${url}/status`).then(
        (reply) => reply.ok,
        () => false,
      ),
    {
      timeout: 20_000,
      interval: 100,
    },
  )
}, 60_000)
afterAll(async () => {
  manager?.kill('SIGKILL')
  await world?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const startsAt = new Date(Date.now() - 60_000).toISOString()

async function post(alerts: readonly Record<string, unknown>[]): Promise<void> {
  const reply = await fetch(`${url}/alerts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(alerts),
  })
  expect(reply.status).toBe(200)
}

const disk = (host: string, more: Record<string, unknown> = {}) => ({
  labels: { alertname: 'DiskFull', severity: 'page', host },
  annotations: { title: `Disk of ${host} is full`, description: 'No room' },
  generatorURL: 'http://prometheus.example/graph?g0.expr=disk_free+%3C+1',
  startsAt,
  ...more,
})

const alerts = async () =>
  (await ana.get(`${one.api}/alert_management_alerts?sort=created_at_asc`)).body
const eventually = (check: () => Promise<boolean>) =>
  vi.waitUntil(check, { timeout: 30_000, interval: 200 })

test("Debian's alert manager fires, groups and resolves alerts, and an incident opens and closes with them", async () => {
  await post([disk('a'), disk('b')])
  await eventually(async () => (await alerts()).length === 2)
  expect(await alerts()).toMatchObject([
    { severity: 'high', status: 'triggered', monitoring_tool: 'Prometheus', event_count: 1 },
    { severity: 'high', status: 'triggered' },
  ])
  await eventually(async () => (await alerts()).every((alert: { issue: unknown }) => alert.issue))
  // A third joins the group: the two that are known are delivered again, and counted.
  await post([disk('c')])
  await eventually(async () => (await alerts()).length === 3)
  const [first] = await alerts()
  expect(first.event_count).toBe(2)
  expect((await ana.get(`${one.api}/issues/${first.issue.iid}`)).body).toMatchObject({
    issue_type: 'incident',
    state: 'opened',
  })
  const endsAt = new Date().toISOString()
  await post(['a', 'b', 'c'].map((host) => disk(host, { endsAt })))
  await eventually(async () =>
    (await alerts()).every((alert: { status: string }) => alert.status === 'resolved'),
  )
  const issue = `${one.api}/issues/${first.issue.iid}`
  await eventually(async () => (await ana.get(issue)).body.state === 'closed')
}, 120_000)
