import { createProject } from '../support/create.ts'
import type { Caller, World } from '../support/world.ts'

/** A project that takes reports, and the ways to report to it. */
export interface Reported {
  readonly id: number
  readonly path: string
  readonly api: string
  readonly key: string
  /** The DSN as a program is given it, at the address where the server listens. */
  readonly dsn: string
  readonly envelope: string
  readonly store: string
  /** Sends one event in an envelope. */
  report(event: Record<string, unknown>): Promise<Response>
}

export async function reportedProject(
  world: World,
  owner: Caller,
  name: string,
  more: Record<string, unknown> = {},
): Promise<Reported> {
  const project = await createProject(owner, name, { visibility: 'private', ...more })
  const api = `/projects/${project.id}`
  const settings = { active: true, integrated: true }
  const saved = await owner.put(`${api}/error_tracking/settings`, settings)
  if (saved.status !== 200) throw new Error(JSON.stringify(saved.body))
  const [key] = (await owner.get(`${api}/error_tracking/client_keys`)).body
  const base = `${world.url}/errortracking/api/v1/projects`
  const envelope = `${base}/api/${project.id}/envelope/`
  const headers = { 'X-Sentry-Auth': `Sentry sentry_version=7, sentry_key=${key.public_key}` }
  return {
    id: project.id,
    path: project.path_with_namespace,
    api,
    key: key.public_key,
    dsn: `${base.replace('://', `://${key.public_key}@`)}/${project.id}`,
    envelope,
    store: `${base}/api/${project.id}/store/`,
    report: (event) => fetch(envelope, { method: 'POST', headers, body: inEnvelope(event) }),
  }
}

/** An event in an envelope of its own. */
export function inEnvelope(event: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const text = JSON.stringify(event)
  const length = Buffer.byteLength(text)
  return [JSON.stringify(more), JSON.stringify({ type: 'event', length }), text, ''].join('\n')
}

let count = 0

/** An event as programs send them. */
export function exampleEvent(more: Record<string, unknown> = {}) {
  count += 1
  return {
    event_id: count.toString(16).padStart(32, '0'),
    platform: 'python',
    level: 'error',
    environment: 'production',
    exception: { values: [exampleException()] },
    ...more,
  }
}

export function exampleException(more: Record<string, unknown> = {}) {
  const frame = {
    filename: 'src/app.py',
    abs_path: '/srv/app/src/app.py',
    function: 'divide',
    module: 'app',
    lineno: 3,
    colno: 5,
    in_app: true,
    pre_context: ['def divide(a, b):', '    # by nothing'],
    context_line: '    return a / b',
    post_context: ['', 'divide(1, 0)'],
  }
  return {
    type: 'ZeroDivisionError',
    value: 'division by zero',
    stacktrace: { frames: [{ filename: 'main.py', function: 'main', lineno: 1 }, frame] },
    ...more,
  }
}
