import { beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let tags: string

const made = ['v1.10.0', 'v1.9.0', 'v1.9.0-rc1', 'V2', 'alpha', 'rel/1', 'rel/10', 'été']

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project, dev, 30)
  tags = `${project.api}/tags`
  for (const name of project.git('tag').split('\n')) project.git('tag', '-d', name)
  for (const tag_name of made) await ana.post(tags, { tag_name, ref: 'main' })
})

const names = (reply: Reply): string[] => reply.body.map((one: { name: string }) => one.name)
const asked = async (query: string) => names(await ana.get(`${tags}?${query}`))

describe('tags found by their name', () => {
  test.each([
    ['rel', ['rel/1', 'rel/10']],
    ['1.9', ['v1.9.0', 'v1.9.0-rc1']],
    ['^v1', ['v1.10.0', 'v1.9.0', 'v1.9.0-rc1']],
    ['1$', ['rel/1', 'v1.9.0-rc1']],
    ['^rel/1$', ['rel/1']],
    ['é', ['été']],
    ['.*', []],
    ['%', []],
    ['none', []],
  ])('%s', async (search, expected) => {
    const query = `order_by=name&sort=asc&search=${encodeURIComponent(search)}`
    expect(await asked(query)).toEqual(expected)
    const { headers } = await ana.get(`${tags}?${query}&per_page=1`)
    expect(headers.get('x-total')).toBe(String(expected.length))
  })
})

describe('the order of tags', () => {
  test('by name, both ways', async () => {
    const sorted = project.git('tag', '--sort=refname').split('\n')
    expect(await asked('order_by=name&sort=asc')).toEqual(sorted)
    expect(await asked('order_by=name')).toEqual([...sorted].reverse())
  })

  test('by version puts numbers before their digits', async () => {
    const found = await asked('order_by=version&sort=asc&search=v1')
    expect(found.indexOf('v1.9.0')).toBeLessThan(found.indexOf('v1.10.0'))
    expect(await asked('order_by=version&search=v1')).toEqual([...found].reverse())
  })

  test('pages give each once, in any order', async () => {
    for (const order of ['name', 'updated', 'version']) {
      const whole = await asked(`order_by=${order}`)
      const pages = [1, 2, 3].map((page) => asked(`order_by=${order}&per_page=3&page=${page}`))
      expect([order, (await Promise.all(pages)).flat()]).toEqual([order, whole])
      expect([...whole].sort()).toEqual([...made].sort())
    }
  })
})

describe('an annotated tag', () => {
  test('of another tag leads to the commit', async () => {
    await ana.post(tags, { tag_name: 'first', ref: 'main', message: 'One' })
    const second = await ana.post(tags, { tag_name: 'second', ref: 'first', message: 'Two' })
    expect(second.body).toMatchObject({
      name: 'second',
      message: 'Two',
      target: project.git('rev-parse', 'second'),
      commit: { id: project.git('rev-parse', 'main') },
    })
  })

  test('keeps a message of several lines and any script', async () => {
    const message = 'Première\n\n* один\n* 二'
    const reply = await ana.post(tags, { tag_name: 'annotated', ref: 'main', message })
    expect(reply.body.message).toBe(message)
    expect(project.git('for-each-ref', '--format=%(contents)', 'refs/tags/annotated').trim()).toBe(
      message,
    )
  })

  test('names the caller, at that moment', async () => {
    await dev.post(tags, { tag_name: 'by-dev', ref: 'main', message: 'x' })
    const format = '--format=%(taggername) %(taggeremail) %(taggerdate:unix)'
    expect(project.git('for-each-ref', format, 'refs/tags/by-dev')).toBe(
      `dev <dev@example.com> ${Date.parse('2026-05-04T10:00:00Z') / 1000}`,
    )
  })
})

test('a tag with the name of a branch is not mistaken for the branch', async () => {
  await ana.post(tags, { tag_name: 'main', ref: 'v1.9.0' })
  expect((await ana.get(`${tags}/main`)).body.name).toBe('main')
  expect((await ana.get(`${project.api}/branches/main`)).body.name).toBe('main')
  await ana.delete(`${tags}/main`)
  expect((await ana.get(`${project.api}/branches/main`)).status).toBe(200)
})

test('a tag inside another tag’s name is refused, and one below it too', async () => {
  for (const tag_name of ['rel', 'rel/1/x']) {
    const reply = await ana.post(tags, { tag_name, ref: 'main' })
    expect([tag_name, reply.status, reply.body]).toEqual([
      tag_name,
      400,
      { message: 'Tag name invalid' },
    ])
  }
})

test('developers delete tags, and not those that a rule protects', async () => {
  await ana.post(`/projects/${project.id}/protected_tags`, { name: 'safe-*' })
  await ana.post(tags, { tag_name: 'safe-1', ref: 'main' })
  await ana.post(tags, { tag_name: 'loose', ref: 'main' })
  expect((await ana.get(`${tags}/safe-1`)).body.protected).toBe(true)
  expect((await dev.delete(`${tags}/safe-1`)).status).toBe(403)
  expect((await dev.delete(`${tags}/loose`)).status).toBe(204)
  expect((await ana.delete(`${tags}/safe-1`)).status).toBe(204)
})

test('many who make one tag at once make it once', async () => {
  const body = { tag_name: 'raced', ref: 'main', message: 'x' }
  const replies = await Promise.all([1, 2, 3, 4].map(() => ana.post(tags, body)))
  const good = replies.filter((reply) => reply.status === 201)
  const bad = replies.filter((reply) => reply.status === 400)
  expect([good.length, bad.length]).toEqual([1, 3])
  expect(bad.map((reply) => reply.body.message)).toEqual(Array(3).fill('Tag raced already exists'))
  expect(project.git('rev-parse', 'raced')).toBe(good[0]?.body.target)
})
