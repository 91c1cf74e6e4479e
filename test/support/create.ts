import type { Caller } from './world.ts'

/** What the API answers about a new project, as far as tests use it. */
export interface CreatedProject {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly path_with_namespace: string
  readonly visibility: string
  readonly default_branch: string
  readonly creator_id: number
  readonly web_url: string
  readonly readme_url: string
}

/** What the API answers about a new group, as far as tests use it. */
export interface CreatedGroup {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly visibility: string
}

/** Creates a project over the API, for tests of something else; `more` can be any of its attributes. */
export async function createProject(
  caller: Caller,
  name: string,
  more: object = {},
): Promise<CreatedProject> {
  return create(caller, '/projects', { name, ...more })
}

/**
 * Creates a group over the API, for tests of something else. Its name is its path with a capital letter, so that a test sees
 * where one stands for the other; `more` can be any of its attributes.
 */
export async function createGroup(
  caller: Caller,
  path: string,
  more: object = {},
): Promise<CreatedGroup> {
  const name = path.charAt(0).toUpperCase() + path.slice(1)
  return create(caller, '/groups', { name, path, ...more })
}

async function create(caller: Caller, endpoint: string, attributes: object) {
  const { status, body } = await caller.post(endpoint, attributes)
  if (status !== 201)
    throw new Error(`POST ${endpoint} answered ${status}: ${JSON.stringify(body)}`)
  return body
}
