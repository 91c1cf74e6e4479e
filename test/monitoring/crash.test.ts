import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { afterAll, expect, test, vi } from 'vitest'
import { newFolder } from '../support/database.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { metric, metrics } from './alerts.ts'
import { exampleEvent, inEnvelope } from './errors.ts'

const folder = newFolder()
let server: ServerProcess | undefined
afterAll(async () => {
  server?.process.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const env = { GITSTEAD_ERROR_EVENTS_PER_MINUTE: '0' }

async function api(method: string, path: string, body?: unknown) {
  const reply = await fetch(`${server?.url}/api/v4${path}`, {
    method,
    headers: {
      'PRIVATE-TOKEN': 'root-token-of-this-test',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return JSON.parse(text)
}

/** Sends until the server is gone; gives how many were sent, and how many of them answered well. */
async function storm(senders: number, send: () => Promise<Response>) {
  const counts = { sent: 0, answered: 0 }
  const one = async () => {
    for (;;) {
      counts.sent += 1
      try {
        const reply = await send()
        if (reply.status === 200) counts.answered += 1
        await reply.arrayBuffer()
      } catch {
        return
      }
    }
  }
  await Promise.all(Array.from({ length: senders }, one))
  return counts
}

test('SIGKILL in the middle of a storm loses no alert and no event that was acknowledged', async () => {
  server = await startServerProcess(folder, env)
  const { id } = await api('POST', '/projects', { name: 'stormy' })
  const project = `/projects/${id}`
  await api('PUT', `${project}/incident_management_settings`, { create_issue: true })
  await api('PUT', `${project}/error_tracking/settings`, { active: true, integrated: true })
  const integrations = `${project}/alert_management/http_integrations`
  const integration = await api('POST', integrations, { name: 'tool', active: true })
  const [key] = await api('GET', `${project}/error_tracking/client_keys`)
  const { url } = server
  const alertUrl = url + new URL(integration.url).pathname
  const alerts = storm(4, () =>
    fetch(alertUrl, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${integration.token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(metrics(['a', 'b', 'c', 'd', 'e'].map((name) => metric(name)))),
    }),
  )
  const envelope = `${url}/errortracking/api/v1/projects/api/${id}/envelope/`
  const errors = storm(4, () =>
    fetch(`${envelope}?sentry_key=${key.public_key}`, {
      method: 'POST',
      body: inEnvelope(exampleEvent()),
    }),
  )
  const countOf = async () => (await api('GET', `${project}/error_tracking/errors`))[0]?.count ?? 0
  await vi.waitUntil(async () => (await countOf()) > 100, {
    timeout: 120_000,
    interval: 50,
  })
  const gone = once(server.process, 'exit')
  server.process.kill('SIGKILL')
  await gone
  const [alertCounts, errorCounts] = await Promise.all([alerts, errors])

  server = await startServerProcess(folder, env)
  // Each sender was refused nothing, and cut off once.
  for (const { sent, answered } of [alertCounts, errorCounts]) expect(sent - answered).toBe(4)
  // What waited to be counted is counted now.
  const counted = async () => (await countOf()) >= errorCounts.answered
  await vi.waitUntil(counted, { timeout: 60_000, interval: 50 })
  expect(await countOf()).toBeLessThanOrEqual(errorCounts.sent)
  const rows = await api('GET', `${project}/alert_management_alerts`)
  expect(rows).toHaveLength(5)
  for (const row of rows) {
    expect(row.event_count).toBeGreaterThanOrEqual(alertCounts.answered)
    expect(row.event_count).toBeLessThanOrEqual(alertCounts.sent)
  }
  // What was to follow, follows: one incident for each.
  await vi.waitUntil(
    async () => (await api('GET', `${project}/issues?issue_type=incident`)).length === 5,
    { timeout: 60_000, interval: 100 },
  )
}, 300_000)
