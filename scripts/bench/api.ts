import { Agent, request as ask } from 'node:http'
import type { BenchServer } from './server.ts'
import type { Timer } from './timer.ts'

/** A project of the server, as the API and as git see it. */
export interface Project {
  readonly server: BenchServer
  readonly timer: Timer
  /** Its path, encoded for the address. */
  readonly id: string
  /** Its id. */
  readonly number: number
  readonly branch: string
  /** Its repository on disk. */
  readonly stored: string
  /** A folder for whatever a measurement makes. */
  readonly folder: string
}

const addressOf = (project: Project, path: string) =>
  `${project.server.url}/api/v4/projects/${project.id}/${path}`

const headersOf = ({ server }: Project) => ({
  'PRIVATE-TOKEN': server.token,
  'content-type': 'application/json',
})

/** Asks for something below a project; with a body it is posted. */
async function request(project: Project, path: string, body?: unknown): Promise<Response> {
  const response = await fetch(addressOf(project, path), {
    headers: headersOf(project),
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

/** Reads the whole answer of something below the repository of a project. */
export async function askWhole(project: Project, path: string, body?: unknown): Promise<void> {
  const response = await request(project, `repository/${path}`, body)
  await response.arrayBuffer()
}

const crowd = new Agent({ keepAlive: true })

/** As `askWhole`, for many clients at once: `fetch` takes about as long for a small answer as the server does. */
export function askCheaply(project: Project, path: string, body?: unknown): Promise<void> {
  const url = addressOf(project, `repository/${path}`)
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const asked = ask(url, { agent: crowd, method, headers: headersOf(project) }, (response) => {
      const good = response.statusCode === (body === undefined ? 200 : 201)
      response.on('error', reject)
      response.on('end', () => {
        if (good) resolve()
        else reject(new Error(`${path}: ${response.statusCode}`))
      })
      response.resume()
    })
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // The server closes connections that nobody has used for a while, perhaps just when one is used.
      if (asked.reusedSocket && error.code === 'ECONNRESET')
        resolve(askCheaply(project, path, body))
      else reject(error)
    })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** The answer as data. */
export async function askJson(project: Project, path: string): Promise<unknown> {
  return (await request(project, `repository/${path}`)).json()
}

/** Makes something below a project and gives the answer as data. */
export async function postJson(project: Project, path: string, body: unknown): Promise<unknown> {
  return (await request(project, path, body)).json()
}

/** Milliseconds of a request below a project, from the small process. */
export function timeOf(project: Project, path: string): Promise<number> {
  return project.timer.http(callOf(project, path))
}

/** The request of something below a project, for the small process. */
export function callOf(project: Project, path: string) {
  return { url: addressOf(project, path), headers: headersOf(project) }
}

/** Milliseconds of some requests below a project, one right after the other. */
export function timesOf(project: Project, paths: readonly string[]): Promise<readonly number[]> {
  return project.timer.block(paths.map((path) => ({ http: callOf(project, path) })))
}

/** Milliseconds of some git programs in the repository of a project, one right after the other. */
export function gitTimesOf(
  project: Project,
  commands: readonly (readonly string[])[],
): Promise<readonly number[]> {
  return project.timer.block(commands.map((args) => ({ git: { folder: project.stored, args } })))
}

/** Milliseconds of a git program in the repository of a project, from the small process. */
export function gitTimeOf(project: Project, args: readonly string[]): Promise<number> {
  return project.timer.git(project.stored, args)
}
