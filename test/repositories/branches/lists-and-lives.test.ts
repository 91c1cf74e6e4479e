import { beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const guest = useCaller(world, 'guest')
let project: TestProject
let branches: string

const made = ['feat/one', 'feat/two', 'fix-1', 'fix-10', 'Ünï', 'a.json', 'z']

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project, dev, 30)
  await addMember(world, project, guest, 10)
  branches = `${project.api}/branches`
  for (const branch of made) await ana.post(branches, { branch, ref: 'main' })
})

const names = (reply: Reply): string[] => reply.body.map((one: { name: string }) => one.name)
const url = (name: string) => `${branches}/${encodeURIComponent(name)}`

async function commit(branch: string, path: string): Promise<void> {
  const actions = [{ action: 'create', file_path: path, content: path }]
  const body = { branch, commit_message: `Add ${path}`, actions }
  expect((await ana.post(`${project.api}/commits`, body)).status).toBe(201)
}

describe('branches found by their name', () => {
  test.each([
    ['search=feat/', ['feat/one', 'feat/two']],
    ['search=^fix', ['fix-1', 'fix-10']],
    ['search=1$', ['fix-1']],
    ['search=^z$', ['z']],
    ['search=%C3%9Cn', ['Ünï']],
    ['search=.', ['a.json', 'release/1.0']],
    ['search=nothing', []],
    ['regex=^f(eat/|ix).*[eo1]$', ['feat/one', 'feat/two', 'fix-1']],
    ['regex=^fix-%5B0-9%5D%2B$', ['fix-1', 'fix-10']],
  ])('%s', async (query, expected) => {
    const reply = await ana.get(`${branches}?${query}`)
    expect([reply.status, names(reply)]).toEqual([200, expected])
    expect(reply.headers.get('x-total')).toBe(String(expected.length))
  })

  test('a pattern that is none is refused', async () => {
    expect((await ana.get(`${branches}?regex=(`)).status).toBe(400)
  })
})

test('branches in the order of their last commits, both ways', async () => {
  for (const [n, branch] of ['z', 'fix-10', 'feat/two'].entries()) {
    world.setNow(`2026-06-0${n + 1}T10:00:00.000Z`)
    await commit(branch, `dated-${n}`)
  }
  const newest = names(await ana.get(`${branches}?sort=updated_desc&per_page=3`))
  expect(newest).toEqual(['feat/two', 'fix-10', 'z'])
  const oldest = names(await ana.get(`${branches}?sort=updated_asc&per_page=100`))
  expect(oldest.slice(-3)).toEqual([...newest].reverse())
  const by = await ana.get(`${branches}?sort=updated_desc&search=fix`)
  expect(names(by)).toEqual(['fix-10', 'fix-1'])
})

describe('branches by what became of them', () => {
  test('are those with work in the default branch, or the others', async () => {
    const all = await ana.get(`${branches}?per_page=100`)
    const isMerged = (wanted: boolean) =>
      names({ ...all, body: all.body.filter((one: { merged: boolean }) => one.merged === wanted) })
    expect(isMerged(true)).not.toEqual([])
    expect(names(await ana.get(`${branches}?merged=true&per_page=100`))).toEqual(isMerged(true))
    expect(names(await ana.get(`${branches}?merged=false&per_page=100`))).toEqual(isMerged(false))
    expect((await ana.get(`${branches}?merged=some`)).status).toBe(400)
  })

  test('are those that were committed to in a span of time, page by page', async () => {
    const span = (query: string) => `${branches}?${query}&sort=updated_asc`
    const late = names(await ana.get(span('updated_after=2026-06-02T00:00:00Z')))
    expect(late).toEqual(['fix-10', 'feat/two'])
    const between = 'updated_after=2026-06-01&updated_before=2026-06-02T10:00:00Z'
    expect(names(await ana.get(span(between)))).toEqual(['z'])
    const second = await ana.get(span('updated_after=2026-06-02&per_page=1&page=2'))
    expect([names(second), second.headers.get('x-total')]).toEqual([['feat/two'], '2'])
    expect((await ana.get(span('updated_after=yesterday'))).status).toBe(400)
    expect(names(await ana.get(span('updated_after=2027-01-01')))).toEqual([])
  })
})

describe('the life of a branch', () => {
  test.each(['one', 'dir/two', 'drei/ü', 'four.tar.gz', 'with space'.replace(' ', '+')])(
    '%s is made, moved, found and deleted',
    async (branch) => {
      const fresh = await dev.post(branches, { branch, ref: 'main' })
      expect([fresh.status, fresh.body.commit.id]).toEqual([201, project.git('rev-parse', 'main')])
      expect(fresh.body).toMatchObject({
        name: branch,
        merged: false,
        can_push: true,
      })
      await commit(branch, 'moved')
      const moved = await dev.get(url(branch))
      expect(moved.body).toMatchObject({
        merged: false,
        commit: {
          id: project.git('rev-parse', `refs/heads/${branch}`),
          title: 'Add moved',
        },
      })
      expect((await dev.head(url(branch))).status).toBe(204)
      expect((await dev.delete(url(branch))).status).toBe(204)
      expect((await dev.head(url(branch))).status).toBe(404)
      expect((await dev.get(url(branch))).body).toEqual({
        message: '404 Branch Not Found',
      })
      expect((await dev.delete(url(branch))).body).toEqual({
        message: '404 Branch Not Found',
      })
      expect((await dev.post(branches, { branch, ref: 'v1.0.0' })).status).toBe(201)
      await dev.delete(url(branch))
    },
  )

  test('inside the name of another is refused, and so is one below it', async () => {
    for (const branch of ['feat', 'feat/one/more']) {
      const reply = await ana.post(branches, { branch, ref: 'main' })
      expect([branch, reply.status]).toEqual([branch, 400])
    }
    expect((await ana.get(url('feat/one'))).status).toBe(200)
  })

  test('begun by many at once begins once', async () => {
    const body = { branch: 'raced', ref: 'main' }
    const replies = await Promise.all([1, 2, 3, 4].map(() => ana.post(branches, body)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400])
    for (const { body } of replies.filter((reply) => reply.status === 400)) {
      expect(body).toEqual({ message: 'Branch already exists' })
    }
  })
})

describe('what a branch says of the caller', () => {
  test('who may push to it', async () => {
    const rules = `/projects/${project.id}/protected_branches`
    await ana.post(rules, {
      name: 'kept-*',
      push_access_level: 40,
      merge_access_level: 30,
    })
    await ana.post(branches, { branch: 'kept-1', ref: 'main' })
    expect((await ana.get(url('kept-1'))).body).toMatchObject({
      protected: true,
      can_push: true,
      developers_can_push: false,
      developers_can_merge: true,
    })
    expect((await dev.get(url('kept-1'))).body.can_push).toBe(false)
    expect((await dev.get(url('z'))).body.can_push).toBe(true)
    await ana.delete(`${rules}/kept-*`)
    expect((await dev.get(url('kept-1'))).body).toMatchObject({
      protected: false,
      can_push: true,
    })
  })

  test('guests see none in a private project', async () => {
    expect((await guest.get(branches)).status).toBe(403)
    expect((await guest.get(url('z'))).status).toBe(403)
  })

  test('in an archived project nobody changes any', async () => {
    const place = await addProject(world, ana, 'basic', { path: 'archive' })
    await ana.post(`/projects/${place.id}/archive`)
    const at = `${place.api}/branches`
    expect((await ana.get(`${at}/main`)).body.can_push).toBe(false)
    expect((await ana.post(at, { branch: 'new', ref: 'main' })).status).toBe(403)
    expect((await ana.delete(`${at}/old`)).status).toBe(403)
    expect((await ana.delete(`${place.api}/merged_branches`)).status).toBe(403)
    expect(place.git('branch', '--list', 'new')).toBe('')
  })
})

test('the default branch of a project can be changed, and only then be deleted', async () => {
  const place = await addProject(world, ana, 'basic', { path: 'turned' })
  const at = `${place.api}/branches`
  await ana.post(at, { branch: 'trunk', ref: 'main' })
  expect((await ana.delete(`${at}/main`)).status).toBe(400)
  await ana.put(`/projects/${place.id}`, { default_branch: 'trunk' })
  expect((await ana.get(`${at}/trunk`)).body.default).toBe(true)
  expect((await ana.get(`${at}/main`)).body.default).toBe(false)
  expect((await ana.delete(`${at}/main`)).status).toBe(204)
  expect((await ana.delete(`${at}/trunk`)).status).toBe(400)
  expect((await ana.get(`${place.api}/tree`)).status).toBe(200)
})

test('merged branches go all at once; those with commits of their own stay', async () => {
  const place = await addProject(world, ana, 'basic', { path: 'swept' })
  const at = `${place.api}/branches`
  for (const branch of ['done', 'kept', 'wild/1']) {
    await ana.post(at, { branch, ref: 'main~1' })
  }
  await ana.post(at, { branch: 'ahead', ref: 'main' })
  const actions = [{ action: 'create', file_path: 'new', content: 'x' }]
  await ana.post(`${place.api}/commits`, {
    branch: 'ahead',
    commit_message: 'x',
    actions,
  })
  await ana.post(`/projects/${place.id}/protected_branches`, { name: 'kept' })
  await ana.post(`/projects/${place.id}/protected_branches`, {
    name: 'wild/*',
  })
  await addMember(world, place, dev, 30)
  const reply = await dev.delete(`${place.api}/merged_branches`)
  expect([reply.status, reply.body]).toEqual([202, { message: '202 Accepted' }])
  await world.runTasks()
  const left = names(await ana.get(`${at}?per_page=100`))
  expect(left).toEqual(expect.arrayContaining(['main', 'kept', 'wild/1', 'ahead']))
  expect(left).not.toContain('done')
  expect((await ana.get(`${at}/ahead`)).body.merged).toBe(false)
})
