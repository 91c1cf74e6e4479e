import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')
const stranger = useCaller(world, 'stranger')
let project: TestProject
let at: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'asked', visibility: 'private' })
  at = `/projects/${project.id}`
  await addMember(world, project.id, guest.id, 10)
  for (const title of ['i1', 'i2', 'i3']) await ana.post(`${at}/issues`, { title })
  await ana.put(`${at}/issues/2`, { state_event: 'close' })
  for (const branch of ['m1', 'm2', 'm3']) {
    await ana.post(`${at}/repository/branches?branch=${branch}&ref=main`)
    const request = { title: branch, source_branch: branch, target_branch: 'main' }
    await ana.post(`${at}/merge_requests`, request)
  }
  await ana.put(`${at}/merge_requests/1`, { state_event: 'close' })
  for (const [n, visibility] of ['private', 'internal', 'public'].entries()) {
    const snippet = { title: `s${n + 1}`, visibility, file_name: `f${n}.txt`, content: 'x' }
    expect((await ana.post(`${at}/snippets`, snippet)).status).toBe(201)
  }
})

const ask = (caller: Caller, query: string, more: Record<string, unknown> = {}) =>
  caller.post('/api/graphql', { query, ...more }, { host: true })

/** What a project answers to these fields. */
async function asked(fields: string, by = ana, variables: Record<string, unknown> = {}) {
  const needs = fields.includes('$') ? '($first: Int, $after: String)' : ''
  const query = `query A${needs} { project(fullPath: "ana/asked") { ${fields} } }`
  const { status, body } = await ask(by, query, { variables })
  expect([status, body.errors]).toEqual([200, undefined])
  return body.data.project
}

interface Connection {
  readonly count: number
  readonly nodes: readonly { readonly title: string }[]
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly title: string } }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

describe.each([
  ['issues', ['i3', 'i2', 'i1']],
  ['mergeRequests', ['m3', 'm2', 'm1']],
  ['snippets', ['s3', 's2', 's1']],
] as const)('the connection %s', (name, titles) => {
  const fields = `${name}(first: $first, after: $after) {
    count
    nodes { id title }
    edges { cursor node { title } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }`

  test('is walked through to its end, the newest first', async () => {
    const seen: string[] = []
    let after: string | null = null
    for (let page = 0; page < 5; page += 1) {
      const found: Connection = (await asked(fields, ana, { first: 2, after }))[name]
      expect(found.count).toBe(3)
      seen.push(...found.nodes.map((node) => node.title))
      expect(found.edges.map((edge) => edge.node.title)).toEqual(
        found.nodes.map((node) => node.title),
      )
      const { hasNextPage, hasPreviousPage, startCursor, endCursor } = found.pageInfo
      expect(hasPreviousPage).toBe(page > 0)
      expect([startCursor, endCursor]).toEqual([found.edges[0]?.cursor, found.edges.at(-1)?.cursor])
      after = endCursor
      if (!hasNextPage) break
    }
    expect(seen).toEqual(titles)
  })

  test('behind its last is empty, and without a number is whole', async () => {
    const whole = (await asked(fields))[name]
    expect(whole.nodes.map((node: { title: string }) => node.title)).toEqual(titles)
    const after = whole.pageInfo.endCursor
    expect((await asked(fields, ana, { after }))[name]).toEqual({
      count: 3,
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    })
    const none = (await asked(fields, ana, { first: 0 }))[name]
    expect([none.nodes, none.pageInfo.hasNextPage]).toEqual([[], true])
    expect((await asked(fields, ana, { first: 1000 }))[name].nodes).toHaveLength(3)
  })

  test.each([
    ['first: -1', 'first must not be negative'],
    ['after: "x"', 'after is no cursor'],
    ['after: "MS41"', 'after is no cursor'],
  ])('with %s is an error of that field only', async (argument, message) => {
    const query = `{ project(fullPath: "ana/asked") { name ${name}(${argument}) { count } } }`
    const { status, body } = await ask(ana, query)
    expect([status, body.errors]).toMatchObject([
      200,
      [{ message, path: ['project', name], locations: [{ line: 1 }] }],
    ])
  })
})

describe('a state', () => {
  test.each([
    ['issues', 'opened', ['i3', 'i1']],
    ['issues', 'closed', ['i2']],
    ['issues', 'locked', []],
    ['issues', 'all', ['i3', 'i2', 'i1']],
    ['mergeRequests', 'opened', ['m3', 'm2']],
    ['mergeRequests', 'closed', ['m1']],
    ['mergeRequests', 'merged', []],
    ['mergeRequests', 'locked', []],
    ['mergeRequests', 'all', ['m3', 'm2', 'm1']],
  ])('narrows %s to those that are %s', async (name, state, titles) => {
    const found = (await asked(`${name}(state: ${state}) { count nodes { title } }`))[name]
    expect(found.nodes.map((node: { title: string }) => node.title)).toEqual(titles)
    expect(found.count).toBe(titles.length)
  })

  test('that there is not is an error of the query', async () => {
    const { body } = await ask(
      ana,
      '{ project(fullPath: "ana/asked") { issues(state: gone) { count } } }',
    )
    expect(body.data).toBeUndefined()
    expect(body.errors[0].message).toContain('gone')
  })
})

describe('what is shown', () => {
  test('of an issue is as in the API', async () => {
    const { body: issue } = await ana.get(`${at}/issues/2`)
    const { issue: shown } = await asked(
      `issue(iid: "2") { id iid title description state confidential webUrl createdAt updatedAt
        closedAt dueDate author { username webUrl active } }`,
    )
    expect(shown).toEqual({
      id: `gid://svc/Issue/${issue.id}`,
      iid: '2',
      title: 'i2',
      description: null,
      state: 'closed',
      confidential: false,
      webUrl: issue.web_url,
      createdAt: issue.created_at,
      updatedAt: issue.updated_at,
      closedAt: issue.closed_at,
      dueDate: null,
      author: { username: 'ana', webUrl: issue.author.web_url, active: true },
    })
  })

  test('of a merge request is as in the API', async () => {
    const { body: request } = await ana.get(`${at}/merge_requests/2`)
    const { mergeRequest: shown } = await asked(
      `mergeRequest(iid: "2") { id iid title description state draft sourceBranch targetBranch
        diffHeadSha mergeCommitSha webUrl createdAt mergedAt author { id name } }`,
    )
    expect(shown).toEqual({
      id: `gid://svc/MergeRequest/${request.id}`,
      iid: '2',
      title: 'm2',
      description: request.description,
      state: 'opened',
      draft: false,
      sourceBranch: 'm2',
      targetBranch: 'main',
      diffHeadSha: request.sha,
      mergeCommitSha: null,
      webUrl: request.web_url,
      createdAt: request.created_at,
      mergedAt: null,
      author: { id: `gid://svc/User/${ana.id}`, name: 'ana' },
    })
  })

  test('of a snippet is as in the API', async () => {
    const [snippet] = (await ana.get(`${at}/snippets`)).body
    const { snippets } = await asked(
      `snippets(first: 1) { nodes { id title description fileName visibilityLevel webUrl rawUrl
        httpUrlToRepo sshUrlToRepo createdAt updatedAt author { username } } }`,
    )
    expect(snippets.nodes).toEqual([
      {
        id: `gid://svc/ProjectSnippet/${snippet.id}`,
        title: 's3',
        description: null,
        fileName: 'f2.txt',
        visibilityLevel: 'public',
        webUrl: snippet.web_url,
        rawUrl: snippet.raw_url,
        httpUrlToRepo: snippet.http_url_to_repo,
        sshUrlToRepo: snippet.ssh_url_to_repo,
        createdAt: snippet.created_at,
        updatedAt: snippet.updated_at,
        author: { username: 'ana' },
      },
    ])
  })

  test('of a project is as in the API', async () => {
    const { body } = await ana.get(at)
    const shown = await asked(
      `id name path fullPath description visibility archived webUrl httpUrlToRepo sshUrlToRepo
        starCount createdAt lastActivityAt repository { rootRef empty }`,
    )
    expect(shown).toEqual({
      id: `gid://svc/Project/${project.id}`,
      name: body.name,
      path: 'asked',
      fullPath: 'ana/asked',
      description: body.description,
      visibility: 'private',
      archived: false,
      webUrl: body.web_url,
      httpUrlToRepo: body.http_url_to_repo,
      sshUrlToRepo: body.ssh_url_to_repo,
      starCount: 0,
      createdAt: body.created_at,
      lastActivityAt: body.last_activity_at,
      repository: { rootRef: 'main', empty: false },
    })
  })
})

describe('the rights of the caller', () => {
  const counts = `repository { rootRef } issues { count } mergeRequests { count nodes { id } }
    mergeRequest(iid: "1") { id } pipelines { count } snippets { count nodes { title } }`

  test('are those of the API: a guest of a private project sees no code', async () => {
    const shown = await asked(counts, guest)
    expect(shown).toEqual({
      repository: { rootRef: null },
      issues: { count: 3 },
      mergeRequests: { count: 0, nodes: [] },
      mergeRequest: null,
      pipelines: { count: 0 },
      snippets: { count: 3, nodes: [{ title: 's3' }, { title: 's2' }, { title: 's1' }] },
    })
    for (const who of [stranger, world.nobody]) expect(await asked('id', who)).toBeNull()
  })

  test('decide which snippets are seen in an open project', async () => {
    await ana.put(at, { visibility: 'public' })
    const seen = async (by: Caller) =>
      (await asked('snippets { count nodes { title } }', by)).snippets.nodes.map(
        (node: { title: string }) => node.title,
      )
    const external = await world.user('external', { external: true })
    expect(await seen(stranger)).toEqual(['s3', 's2'])
    expect(await seen(external)).toEqual(['s3'])
    expect(await seen(world.nobody)).toEqual(['s3'])
    expect(await seen(world.root)).toEqual(['s3', 's2', 's1'])
    await ana.put(at, { snippets_access_level: 'private' })
    expect(await seen(stranger)).toEqual([])
    expect(await seen(guest)).toEqual(['s3', 's2', 's1'])
    await ana.put(at, { snippets_access_level: 'enabled', visibility: 'private' })
  })

  test('are those of the token', async () => {
    const with_ = async (scopes: readonly string[]) =>
      await ask(world.as(await world.token(ana.id, scopes)), '{ currentUser { username } }')
    expect((await with_(['read_api'])).body.data.currentUser.username).toBe('ana')
    for (const scopes of [['read_user'], ['read_repository'], []]) {
      const refused = await with_(scopes)
      expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
    }
    const bearer = await ask(
      world.withHeader('Authorization', `Bearer ${ana.token}`),
      '{ currentUser { username bot } }',
    )
    expect(bearer.body.data.currentUser).toEqual({ username: 'ana', bot: false })
    const made = await ana.post(`${at}/access_tokens`, {
      name: 'reader',
      scopes: ['read_api'],
      access_level: 20,
      expires_at: '2026-06-01',
    })
    const bot = await ask(world.as(made.body.token), '{ currentUser { bot } }')
    expect(bot.body.data.currentUser).toEqual({ bot: true })
  })
})

describe('a request', () => {
  const call = async (body: unknown, more: Record<string, unknown> = {}) =>
    await ana.post('/api/graphql', body, { host: true, ...more })

  test('may come as a form, with its variables as JSON', async () => {
    const query = 'query E($t: String!) { echo(text: $t) }'
    const raw = new URLSearchParams({ query, variables: '{"t":"hi"}', operationName: 'E' })
    const sent = await call(undefined, { raw })
    expect([sent.status, sent.body]).toEqual([200, { data: { echo: '"ana" says: hi' } }])
    const nobody = await ask(world.nobody, '{ echo(text: "x") }')
    expect(nobody.body.data.echo).toBe('"nil" says: x')
  })

  test.each([
    [{}, 'query is missing'],
    [{ query: 7 }, undefined],
    [{ query: ['{ echo }'] }, 'query is invalid'],
    [{ query: '{ __typename }', variables: 'x' }, 'variables is invalid'],
    [{ query: '{ __typename }', variables: [1] }, 'variables is invalid'],
    [{ query: '{ __typename }', operationName: {} }, 'operationName is invalid'],
    [{ query: `# ${'x'.repeat(100_000)}` }, 'query is too long (maximum is 100000 characters)'],
  ])('of %j is refused before it is read', async (body, error) => {
    const reply = await call(body)
    if (error === undefined) return expect(reply.body.errors).toHaveLength(1)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('names one of several operations, and variables of the right kind', async () => {
    const query = 'query A { echo(text: "a") } query B($t: String!) { echo(text: $t) }'
    expect((await call({ query, operationName: 'A' })).body.data.echo).toContain('says: a')
    const missing = await call({ query })
    expect(missing.body.errors[0].message).toContain('operation name')
    const unknown = await call({ query, operationName: 'C' })
    expect(unknown.body.errors[0].message).toContain('C')
    const wrong = await call({ query, operationName: 'B', variables: { t: 7 } })
    expect([wrong.status, wrong.body.data ?? null]).toEqual([200, null])
    expect(wrong.body.errors[0].message).toContain('$t')
    const none = { query: '{ __typename }', variables: null, operationName: null }
    expect((await call(none)).body).toEqual({ data: { __typename: 'Query' } })
  })

  test('is posted: any other method is refused', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await ana.call(method, '/api/graphql', undefined, { host: true })
      expect([method, reply.status]).toEqual([method, 405])
    }
  })

  test('may use aliases, fragments, directives and what a type is called', async () => {
    const query = `query Q($no: Boolean!) {
      a: project(fullPath: "ana/asked") { ...F }
      b: project(fullPath: "ana/none") { ...F }
      currentUser { __typename ... on CurrentUser { bot } ... on User { username } state @skip(if: true)
        name @include(if: $no) }
    }
    fragment F on Project { __typename issue(iid: "1") { author { __typename username } } }`
    expect((await call({ query, variables: { no: false } })).body).toEqual({
      data: {
        a: {
          __typename: 'Project',
          issue: { author: { __typename: 'UserCore', username: 'ana' } },
        },
        b: null,
        currentUser: { __typename: 'CurrentUser', bot: false, username: 'ana' },
      },
    })
  })
})

test.each([
  ['of a hundred records', '', 10],
  ['that are only counted', '(first: 0)', 100],
])('a query may hold so many lists %s and no more', async (_, slice, most) => {
  const lists = (count: number) =>
    Array.from({ length: count }, (_, at) => `l${at}: mergeRequests${slice} { count }`).join(' ')
  const query = (count: number) => `{ project(fullPath: "ana/asked") { ${lists(count)} } }`
  const fits = await ask(ana, query(most))
  expect([fits.status, fits.body.errors]).toEqual([200, undefined])
  expect(fits.body.data.project[`l${most - 1}`]).toEqual({ count: 3 })
  const { status, body } = await ask(ana, query(most + 1))
  expect(status).toBe(200)
  expect(body.errors[0].message).toBe('Query lists more than 1000 records')
})
