import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')
let projectId: number

beforeAll(async () => {
  projectId = (await createProject(ana, 'demo', { visibility: 'public' })).id
  for (const title of ['one', 'two', 'three']) {
    await ana.post(`/projects/${projectId}/issues`, { title, confidential: title === 'two' })
  }
})

const ask = (caller: Caller, query: string, more: Record<string, unknown> = {}) =>
  caller.post('/api/graphql', { query, ...more }, { host: true })

test('shows who the caller is', async () => {
  const query = '{ currentUser { id username name active } metadata { version } }'
  const own = await ask(ana, query)
  expect([own.status, own.body]).toEqual([
    200,
    {
      data: {
        currentUser: {
          id: `gid://svc/User/${ana.id}`,
          username: 'ana',
          name: 'ana',
          active: true,
        },
        metadata: { version: '18.9.0' },
      },
    },
  ])
  expect((await ask(world.nobody, query)).body).toEqual({
    data: { currentUser: null, metadata: null },
  })
  expect((await ask(world.as('wrong'), query)).status).toBe(401)
})

test('lists what a caller has, as configuration tools ask for it', async () => {
  const namespaces = await ana.get('/namespaces?search=ana')
  await createGroup(ana, 'own-group', { name: 'own' })
  const query =
    'query {currentUser {name, bot, groupCount, id, namespace{id fullPath}, publicEmail, username}}'
  expect((await ask(ana, query)).body.data.currentUser).toEqual({
    id: `gid://svc/User/${ana.id}`,
    username: 'ana',
    name: 'ana',
    bot: false,
    groupCount: 1,
    namespace: {
      id: `gid://svc/Namespaces::UserNamespace/${namespaces.body[0].id}`,
      fullPath: 'ana',
    },
    publicEmail: '',
  })
})

test('walks through the issues that the caller may see', async () => {
  const query = `query Issues($path: ID!, $after: String) {
    project(fullPath: $path) {
      name
      issues(first: 1, after: $after) {
        count nodes { title author { username } } pageInfo { hasNextPage endCursor }
      }
    }
  }`
  const titles: string[] = []
  let after: string | null = null
  for (let more = true; more; ) {
    const { body } = await ask(stranger, query, { variables: { path: 'ana/demo', after } })
    const { issues } = body.data.project
    expect(issues.count).toBe(2)
    titles.push(issues.nodes[0].title)
    after = issues.pageInfo.endCursor
    more = issues.pageInfo.hasNextPage
  }
  expect(titles).toEqual(['three', 'one'])
  const one = '{ project(fullPath: "ana/demo") { issue(iid: "2") { title } } }'
  expect((await ask(stranger, one)).body.data.project.issue).toBeNull()
  expect((await ask(ana, one)).body.data.project.issue).toEqual({ title: 'two' })
})

test('a hidden project is as one that is not there', async () => {
  const hidden = await createProject(ana, 'hidden', { visibility: 'private' })
  const query = (path: string) => `{ project(fullPath: "${path}") { id } }`
  expect((await ask(stranger, query('ana/hidden'))).body).toEqual({ data: { project: null } })
  expect((await ask(stranger, query('ana/nothing'))).body).toEqual({ data: { project: null } })
  expect((await ask(ana, query(String(hidden.id)))).body).toEqual({ data: { project: null } })
  expect((await ask(ana, query('ana/hidden'))).body.data.project.id).toMatch(/\d+$/)
})

test('merge requests and pipelines follow the rights of the project', async () => {
  await ana.put(`/projects/${projectId}`, {
    merge_requests_access_level: 'private',
    builds_access_level: 'private',
  })
  const query = `{ project(fullPath: "ana/demo") {
    mergeRequests { count nodes { iid } } mergeRequest(iid: "1") { iid }
    pipelines { count nodes { id status } }
  } }`
  const { body } = await ask(stranger, query)
  expect(body.data.project).toEqual({
    mergeRequests: { count: 0, nodes: [] },
    mergeRequest: null,
    pipelines: { count: 0, nodes: [] },
  })
  expect((await ask(ana, query)).body.errors).toBeUndefined()
})

test('errors of a query are answered with status 200', async () => {
  for (const query of ['{ nothing }', '{ currentUser { ', 'mutation { x }', '']) {
    const reply = await ask(ana, query)
    expect([reply.status, reply.body.errors.length > 0, reply.body.data ?? null]).toEqual([
      200,
      true,
      null,
    ])
  }
})

test('a query that asks for too much is refused before anything is read', async () => {
  const deep = `{ __schema { types { ${'ofType { '.repeat(25)} name ${'} '.repeat(25)} } } }`
  const many = `{ ${Array.from({ length: 1001 }, (_, at) => `a${at}: metadata { version }`).join(' ')} }`
  const bomb = `query { ...f0 } ${Array.from(
    { length: 30 },
    (_, at) => `fragment f${at} on Query { ...f${at + 1} a${at}: echo(text: "x") ...f${at + 1} }`,
  ).join(' ')} fragment f30 on Query { echo(text: "x") }`
  const circle = '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }'
  const nested = `{ project(fullPath: ${'['.repeat(2400)}${']'.repeat(2400)}) { id } }`
  for (const query of [deep, many, bomb, circle, '{'.repeat(20_000), nested]) {
    const reply = await ask(ana, query)
    expect([reply.status, reply.body.errors.length > 0, reply.body.data ?? null]).toEqual([
      200,
      true,
      null,
    ])
  }
})

test('clients may ask what can be asked', async () => {
  const query = '{ __schema { queryType { name fields { name type { kind name } } } } }'
  const { body } = await ask(world.nobody, query)
  expect(body.data.__schema.queryType.name).toBe('Query')
})
