import { beforeAll, describe, expect, test } from 'vitest'
import { parseCodeQuery } from '../../../src/instance/search/code-query.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')
let group: { id: number }
let open: { id: number }
let secret: { id: number }

beforeAll(async () => {
  group = await createGroup(ana, 'ng', { name: 'Needle group', visibility: 'public' })
  open = await projectIn('open', 'public')
  secret = await projectIn('secret', 'private')
  // Whether the merge requests can be merged is known from here on, so that two answers can be compared.
  await world.runTasks()
})

async function projectIn(path: string, visibility: string) {
  const project = await createProject(ana, `Needle ${path}`, {
    path,
    namespace_id: group.id,
    visibility,
    initialize_with_readme: true,
  })
  await ana.post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: `Hide the needle of ${path}`,
    actions: [
      {
        action: 'create',
        file_path: 'src/hay.c',
        content: 'one\ntwo\na NEEDLE here\nfour\nfive\n',
      },
      { action: 'create', file_path: 'doc/hay.md', content: 'needle\n' },
    ],
  })
  const issue = await ana.post(`/projects/${project.id}/issues`, { title: `A needle in ${path}` })
  await ana.post(`/projects/${project.id}/issues`, { title: 'A needle unseen', confidential: true })
  await ana.post(`/projects/${project.id}/issues/${issue.body.iid}/notes`, {
    body: 'See the needle',
  })
  await ana.post(`/projects/${project.id}/milestones`, { title: `Needle ${path}` })
  await ana.post(`/projects/${project.id}/repository/branches`, { branch: 'side', ref: 'main' })
  await ana.post(`/projects/${project.id}/repository/commits`, {
    branch: 'side',
    commit_message: 'Aside',
    actions: [{ action: 'create', file_path: 'side.txt', content: 'aside\n' }],
  })
  await ana.post(`/projects/${project.id}/merge_requests`, {
    title: `Needle request ${path}`,
    source_branch: 'side',
    target_branch: 'main',
  })
  await ana.post(`/projects/${project.id}/wikis`, { title: 'Page', content: 'wiki needle' })
  return project
}

const everywhere = (scope: string, by: Caller, more = ''): Promise<Reply> =>
  by.get(`/search?scope=${scope}&search=needle${more}`)

describe('searching everything', () => {
  test.each([
    ['projects', 2, 1],
    ['issues', 4, 1],
    ['merge_requests', 2, 1],
    ['milestones', 2, 1],
    ['notes', 2, 1],
    ['commits', 2, 1],
    ['blobs', 6, 3],
    ['wiki_blobs', 2, 1],
  ])('%s finds what the caller may see', async (scope, all, visible) => {
    expect((await everywhere(scope, ana)).body).toHaveLength(all)
    expect((await everywhere(scope, stranger)).body).toHaveLength(visible)
    expect((await everywhere(scope, world.nobody)).body).toHaveLength(visible)
  })

  test('finds people for those who are signed in', async () => {
    const found = await ana.get('/search?scope=users&search=stran')
    expect(found.body).toMatchObject([{ username: 'stranger' }])
    expect((await world.nobody.get('/search?scope=users&search=ana')).status).toBe(403)
  })

  test('finds titles of snippets', async () => {
    await ana.post('/snippets', {
      title: 'Needle snippet',
      visibility: 'private',
      file_name: 'a.txt',
      content: 'x',
    })
    expect((await everywhere('snippet_titles', ana)).body).toHaveLength(1)
    expect((await everywhere('snippet_titles', stranger)).body).toEqual([])
  })

  test('needs a scope that it knows, and something to look for', async () => {
    expect((await ana.get('/search')).body).toEqual({
      error: 'scope is missing, search is missing',
    })
    expect((await ana.get('/search?scope=stars&search=x')).body).toEqual({
      error: 'scope does not have a valid value',
    })
    expect((await ana.get('/search?scope=issues&search=')).status).toBe(400)
    const inProject = await ana.get(`/projects/${open.id}/search?scope=projects&search=x`)
    expect(inProject.body).toEqual({ error: 'scope does not have a valid value' })
  })

  test('narrows issues by state, confidentiality and field, and pages', async () => {
    const count = async (more: string) => (await everywhere('issues', ana, more)).body.length
    expect(await count('&state=closed')).toBe(0)
    expect(await count('&state=opened')).toBe(4)
    expect(await count('&confidential=true')).toBe(2)
    expect(await count('&fields=description')).toBe(0)
    const page = await everywhere('issues', ana, '&per_page=1&page=2&sort=asc')
    expect(page.body).toHaveLength(1)
    expect(page.headers.get('x-total')).toBe('4')
  })
})

describe('searching a group or project', () => {
  test.each(['projects', 'issues', 'merge_requests', 'milestones', 'notes', 'commits', 'blobs'])(
    '%s of a group',
    async (scope) => {
      const here = await ana.get(`/groups/${group.id}/search?scope=${scope}&search=needle`)
      expect(here.status).toBe(200)
      expect(here.body.length).toBeGreaterThanOrEqual(2)
      const dashed = await ana.get(`/groups/${group.id}/search?scope=${scope}&search=needle`)
      expect(dashed.body).toEqual(here.body)
      const other = await createGroup(ana, `other-${scope.replace('_', '-')}`, { name: scope })
      const none = await ana.get(`/groups/${other.id}/search?scope=${scope}&search=needle`)
      expect(none.body).toEqual([])
    },
  )

  test('lines of a project, with what is around them', async () => {
    const found = await ana.get(`/projects/${open.id}/search?scope=blobs&search=a%20needle`)
    expect(found.body).toEqual([
      {
        basename: 'src/hay',
        data: 'two\na NEEDLE here\nfour\n',
        path: 'src/hay.c',
        filename: 'src/hay.c',
        id: null,
        ref: 'main',
        startline: 2,
        project_id: open.id,
        group_id: null,
      },
    ])
    const wider = await ana.get(
      `/projects/${open.id}/search?scope=blobs&search=a%20needle&num_context_lines=5`,
    )
    expect(wider.body[0].data).toBe('one\ntwo\na NEEDLE here\nfour\nfive\n')
    const paths = async (search: string) => {
      const reply = await ana.get(
        `/projects/${open.id}/search?scope=blobs&search=${encodeURIComponent(search)}`,
      )
      return (reply.body as { path: string }[]).map((hit) => hit.path)
    }
    expect(await paths('needle')).toEqual(['README.md', 'doc/hay.md', 'src/hay.c'])
    expect(await paths('needle extension:md')).toEqual(['README.md', 'doc/hay.md'])
    expect(await paths('needle filename:hay.c')).toEqual(['src/hay.c'])
    expect(await paths('needle path:doc')).toEqual(['doc/hay.md'])
    expect(await paths('needle filename:h*')).toEqual(['doc/hay.md', 'src/hay.c'])
    expect(await paths('--open-files-in-pager')).toEqual([])
  })

  test('on another ref, and on none', async () => {
    const at = `/projects/${open.id}/search?scope=blobs&search=aside`
    expect((await ana.get(at)).body).toEqual([])
    expect((await ana.get(`${at}&ref=side`)).body).toMatchObject([
      { path: 'side.txt', ref: 'side' },
    ])
    expect((await ana.get(`${at}&ref=none`)).body).toEqual([])
  })

  test('of a hidden project is not found', async () => {
    const at = `/projects/${secret.id}/search?scope=issues&search=needle`
    expect((await stranger.get(at)).status).toBe(404)
    expect((await ana.get(at)).body).toHaveLength(2)
  })

  test('has a second path, as that of a group', async () => {
    for (const at of [`/projects/${open.id}`, `/groups/${group.id}`]) {
      const query = 'search?scope=issues&search=needle'
      const reply = await stranger.get(`${at}/-/${query}`)
      expect(reply.body).toHaveLength(1)
      expect(reply.body).toEqual((await stranger.get(`${at}/${query}`)).body)
    }
  })

  test('people are its members', async () => {
    const reply = await ana.get(`/projects/${open.id}/search?scope=users&search=a`)
    expect(reply.body).toMatchObject([{ username: 'ana' }])
    const inGroup = await ana.get(`/groups/${group.id}/search?scope=users&search=stranger`)
    expect(inGroup.body).toEqual([])
  })
})

test('words that narrow a search for code are taken out of it', () => {
  expect(parseCodeQuery('a b filename:*.c extension:.md path:/x/')).toEqual({
    text: 'a b',
    paths: ['**/*.c', '**/*.md', '**/x/**', '**/*/x/*'],
  })
})
