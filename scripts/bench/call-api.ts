import type { BenchServer } from './server.ts'

/** Calls the API as the one user; throws when it refuses. */
export async function callApi(server: BenchServer, method: string, path: string, body?: object) {
  const reply = await fetch(`${server.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': server.token, 'Content-Type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  // biome-ignore lint/suspicious/noExplicitAny: a benchmark reads whatever the endpoint answers
  return { body: JSON.parse(text) as any, headers: reply.headers }
}
