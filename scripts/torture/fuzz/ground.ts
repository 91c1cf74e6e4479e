import { type Api, asRecords } from '../place/api.ts'
import type { Random } from '../random.ts'
import { findPaths } from './live-paths.ts'
import type { Operation } from './operations.ts'
import { fillUp, makeRecords, makeUser, type Records } from './records.ts'

/** Somebody in whose name requests are sent. */
export interface Caller {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
}

/** What requests are about at the moment: records that are there, and people of each kind. */
export interface Ground {
  /** Makes what has been deleted anew, and looks for what is there now. */
  refresh(): Promise<void>
  readonly commits: readonly string[]
  /** Good values by the name of a parameter. */
  readonly values: Readonly<Record<string, readonly unknown[]>>
  callerFor(operation: Operation, random: Random): Caller
  /** The path of a record that is there, or looks like one. */
  pathFor(operation: Operation, random: Random): string
  /** What of the records and people is not as it was made, if anything. */
  findLoss(): Promise<string | undefined>
}

/** Operations on the record from which the paths of others begin. */
const onFirst = /^\w+ \/(projects|groups|users)\/\{\w+\}(\/(transfer|archive|unarchive|restore))?$/
/** What changes the caller, or the token that is used. */
const changesCaller = /^(POST|PUT|PATCH|DELETE) .*(\/self\b|\/user\b|sign_out)/

export async function makeGround(
  root: Api,
  operations: readonly Operation[],
  random: Random,
): Promise<Ground> {
  const records = await makeRecords(root, random)
  const callers = await makeCallers(root, records, random)
  let paths = await findPaths(root, operations, startPaths(records))
  const [spareProject, spareGroup] = [records.spare.projects[0], records.spare.groups[0]]
  const values = {
    id: [records.projectId],
    project_id: [records.projectId, spareProject],
    target_project_id: [records.projectId],
    to_project_id: [records.projectId, spareProject],
    group_id: [spareGroup],
    namespace_id: [records.groupId, spareGroup],
    parent_id: [spareGroup],
    user_id: records.spare.users,
    assignee_id: records.spare.users,
    reviewer_id: records.spare.users,
    branch: ['main', 'feature-1', 'feature-3'],
    ref: ['main', 'feature-2', 'v1.0.0', records.commits[0]],
    source_branch: ['feature-3'],
    target_branch: ['main'],
    sha: records.commits,
    label: ['bug', 'feature'],
    labels: ['bug', 'bug,feature'],
    milestone: ['One', 'Two'],
    page: [1, 2],
    per_page: [1, 20],
  }
  return {
    commits: records.commits,
    values,
    async refresh() {
      await fillUp(root, records, random)
      paths = await findPaths(root, operations, startPaths(records))
    },
    callerFor: (operation, random) =>
      random.pick(changesCaller.test(operation.name) ? callers.spare : callers.lasting),
    pathFor(operation, random) {
      const spare = onFirst.test(operation.name) && operation.method !== 'GET'
      if (spare) return sparePath(operation, records, random)
      return paths.pathFor(operation.template, random)
    },
    findLoss: () => findLoss(root, records, callers.lasting),
  }
}

function startPaths({ projectId, groupId, spare }: Records): Record<string, string[]> {
  const members = spare.users.slice(1)
  return {
    '/projects/{id}': [`/projects/${projectId}`],
    '/groups/{id}': [`/groups/${groupId}`],
    '/users/{id}': spare.users.map((id) => `/users/${id}`),
    '/users/{user_id}': spare.users.map((id) => `/users/${id}`),
    '/projects/{id}/members/{user_id}': members.map((id) => `/projects/${projectId}/members/${id}`),
    '/groups/{id}/members/{user_id}': members.map((id) => `/groups/${groupId}/members/${id}`),
    '/personal_access_tokens/{id}': spare.tokens.map((id) => `/personal_access_tokens/${id}`),
    '/namespaces/{id}': [`/namespaces/${groupId}`],
  }
}

/** The path of a record upon which nothing else is built. */
function sparePath(operation: Operation, { spare }: Records, random: Random): string {
  const kind = operation.template.split('/')[1]
  const { projects, groups, users } = spare
  const ids = kind === 'projects' ? projects : kind === 'groups' ? groups : users
  return operation.template.replace(/\{\w+\}/, () => String(random.pick(ids)))
}

interface Callers {
  /** Whom the requests are sent by. */
  readonly lasting: readonly Caller[]
  /** Who may lose their token. */
  readonly spare: readonly Caller[]
}

async function makeCallers(root: Api, records: Records, random: Random): Promise<Callers> {
  const person = async (role: string, level: number | undefined, more = {}, scopes = ['api']) => {
    const { id } = await makeUser(root, random, more)
    if (level !== undefined) {
      const member = { user_id: id, access_level: level }
      await root.must('POST', `/groups/${records.groupId}/members`, member)
    }
    return withToken(role, await newToken(root, Number(id), scopes))
  }
  const admin = await person('admin', undefined, { admin: true }, ['api', 'sudo', 'admin_mode'])
  const owner = await person('owner', 50)
  const lasting = [
    // Who may do most gets furthest.
    ...Array.from({ length: 8 }, () => admin),
    ...Array.from({ length: 4 }, () => owner),
    await person('maintainer', 40),
    await person('developer', 30),
    await person('reporter', 20),
    await person('guest', 10),
    await person('stranger', undefined),
    await person('external', undefined, { external: true }),
    await person('reader', 50, {}, ['read_api']),
    { name: 'anonymous', headers: {} },
  ]
  const spare = [
    await person('spare admin', undefined, { admin: true }, ['api', 'sudo', 'admin_mode']),
    await person('spare', 40),
    await person('spare', 40),
  ]
  return { lasting, spare }
}

function withToken(name: string, token: string): Caller {
  return { name, headers: { 'private-token': token } }
}

async function newToken(root: Api, userId: number, scopes: readonly string[]): Promise<string> {
  const body = { name: 'torture', scopes }
  const { token } = await root.must('POST', `/users/${userId}/personal_access_tokens`, body)
  return String(token)
}

async function findLoss(
  root: Api,
  records: Records,
  callers: readonly Caller[],
): Promise<string | undefined> {
  const project = await root.call('GET', `/projects/${records.projectId}/issues`)
  if (asRecords(project.body).length === 0) return 'the project'
  const group = await root.call('GET', `/groups/${records.groupId}/labels`)
  if (group.status !== 200) return 'the group'
  for (const { name, headers } of callers) {
    const token = headers['private-token']
    if (token === undefined) continue
    const { status } = await root.as(token).call('GET', '/user')
    if (status !== 200 && status !== 403) return `the ${name}`
  }
  return undefined
}
