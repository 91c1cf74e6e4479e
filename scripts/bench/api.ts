import type { BenchServer } from './server.ts'

/** A project of the server, as the API and as git see it. */
export interface Project {
  readonly server: BenchServer
  /** Its path, encoded for the address. */
  readonly id: string
  readonly branch: string
  /** Its repository on disk. */
  readonly stored: string
  /** A folder for whatever a measurement makes. */
  readonly folder: string
}

/** Asks for something below the repository of a project; with a body it is posted. */
async function request(project: Project, path: string, body?: unknown): Promise<Response> {
  const { url, token } = project.server
  const response = await fetch(`${url}/api/v4/projects/${project.id}/repository/${path}`, {
    headers: { 'PRIVATE-TOKEN': token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

/** Reads the whole answer. */
export async function askWhole(project: Project, path: string, body?: unknown): Promise<void> {
  const response = await request(project, path, body)
  await response.arrayBuffer()
}

/** The answer as data. */
export async function askJson(project: Project, path: string): Promise<unknown> {
  return (await request(project, path)).json()
}
