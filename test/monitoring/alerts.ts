import { createProject } from '../support/create.ts'
import type { Caller, Reply, World } from '../support/world.ts'

/** A project with an integration, and the ways of its sender. */
export interface Monitored {
  readonly id: number
  readonly path: string
  readonly api: string
  readonly integration: { readonly id: number; readonly token: string; readonly url: string }
  /** Delivers a body with the integration's key, or with other headers. */
  send(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
}

/** Makes a project whose alerts come in at an integration of its own. */
export async function monitoredProject(
  world: World,
  owner: Caller,
  name: string,
  more: { readonly type?: 'http' | 'prometheus' } = {},
): Promise<Monitored> {
  const project = await createProject(owner, name, { visibility: 'private' })
  const api = `/projects/${project.id}`
  const integration = await must(
    owner.post(`${api}/alert_management/http_integrations`, {
      name: 'My tool',
      active: true,
      type: more.type ?? 'http',
    }),
  )
  const url = world.url + new URL(integration.url).pathname
  return {
    id: project.id,
    path: project.path_with_namespace,
    api,
    integration: { ...integration, url },
    send: (body, headers = { Authorization: `Bearer ${integration.token}` }) =>
      deliver(url, body, headers),
  }
}

/** Posts a body as a monitoring tool does; bytes go as they are. */
export function deliver(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
  })
}

async function must(asked: Promise<Reply>) {
  const reply = await asked
  if (reply.status >= 300) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body
}

/** A delivery in the metrics format. */
export function metrics(alerts: readonly Record<string, unknown>[], status = 'firing') {
  return {
    version: '4',
    groupKey: '{}:{}',
    status,
    receiver: 'gitstead',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://am.example',
    alerts,
  }
}

/** One element of it. */
export function metric(title: string, more: Record<string, unknown> = {}) {
  return {
    status: 'firing',
    labels: { alertname: title, severity: 'warning' },
    annotations: {},
    startsAt: '2026-05-04T09:00:00.000Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prom.example/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
    ...more,
  }
}
