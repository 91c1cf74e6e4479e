import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
})

function url(name: string): string {
  return `${project.api}/tags/${encodeURIComponent(name)}`
}

function names(reply: Reply): string[] {
  return reply.body.map((tag: { name: string }) => tag.name)
}

describe('reading tags', () => {
  test('shows which are annotated and which are lightweight', async () => {
    const annotated = (await ana.get(url('v1.0.0'))).body
    expect(annotated).toMatchObject({
      name: 'v1.0.0',
      message: 'Release 1.0.0',
      target: project.git('rev-parse', 'v1.0.0'),
      release: null,
      protected: false,
      created_at: '2024-01-01T15:00:00.000+09:00',
    })
    expect(annotated.commit.id).toBe(project.git('rev-parse', 'v1.0.0^{commit}'))
    const light = (await ana.get(url('v0.1.0'))).body
    expect(light).toMatchObject({
      message: null,
      target: project.git('rev-parse', 'v0.1.0'),
      created_at: null,
    })
  })

  test.each([
    ['', ['v1.0.0', 'v0.1.0']],
    ['?sort=asc', ['v0.1.0', 'v1.0.0']],
    ['?order_by=name', ['v1.0.0', 'v0.1.0']],
    ['?order_by=name&sort=asc', ['v0.1.0', 'v1.0.0']],
    ['?search=%5Ev1', ['v1.0.0']],
    ['?search=1.0$', ['v0.1.0']],
  ])('in the order of %s', async (query, expected) => {
    const reply = await ana.get(`${project.api}/tags${query}`)
    expect(names(reply)).toEqual(expected)
  })

  test('by version', async () => {
    for (const name of ['v1.10.0', 'v1.9.0', 'v1.9.1']) project.git('tag', name, 'main')
    const reply = await ana.get(`${project.api}/tags?order_by=version`)
    expect(names(reply)).toEqual(['v1.10.0', 'v1.9.1', 'v1.9.0', 'v1.0.0', 'v0.1.0'])
  })

  test('behind the last name seen', async () => {
    const first = await ana.get(
      `${project.api}/tags?pagination=keyset&order_by=name&sort=asc&per_page=1`,
    )
    const [, next] =
      /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? []
    const second = await ana.get(next ?? '')
    expect([names(first), names(second)]).toEqual([['v0.1.0'], ['v1.0.0']])
    expect(second.headers.get('link')).toBeNull()
  })

  test('that are not there is 404', async () => {
    for (const name of ['v9', 'main', 'a b', '../x']) {
      const reply = await ana.get(url(name))
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Tag Not Found' }])
    }
    const wrong = await ana.get(`${project.api}/tags?order_by=size`)
    expect(wrong.body).toEqual({ error: 'order_by does not have a valid value' })
  })
})

describe('creating a tag', () => {
  test('without a message makes a lightweight one', async () => {
    const reply = await dev.post(`${project.api}/tags`, { tag_name: 'my/tag.1', ref: 'old' })
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ name: 'my/tag.1', message: null, created_at: null })
    expect(project.git('cat-file', '-t', 'my/tag.1')).toBe('commit')
    expect(project.git('rev-parse', 'my/tag.1')).toBe(project.git('rev-parse', 'old'))
  })

  test('with a message makes an annotated one by the caller', async () => {
    const reply = await dev.post(`${project.api}/tags`, {
      tag_name: 'v2',
      ref: 'main',
      message: 'Two\n\nand more',
    })
    expect(reply.body).toMatchObject({ name: 'v2', message: 'Two\n\nand more' })
    expect(reply.body.commit.id).toBe(project.git('rev-parse', 'main'))
    expect(
      project.git('for-each-ref', '--format=%(taggername) %(taggeremail)', 'refs/tags/v2'),
    ).toBe('dev <dev@example.com>')
    project.git('fsck', '--strict')
  })

  test.each([
    [{ tag_name: 'v1.0.0', ref: 'main' }, 400, { message: 'Tag v1.0.0 already exists' }],
    [{ tag_name: 'v2', ref: 'nowhere' }, 400, { message: 'Target nowhere is invalid' }],
    [{ tag_name: 'a b', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{ tag_name: 'refs/tags/x', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{ ref: 'main' }, 400, { error: 'tag_name is missing' }],
    [{ tag_name: 'v2' }, 400, { error: 'ref is missing' }],
  ])('with %j is refused', async (body, status, answer) => {
    const reply = await dev.post(`${project.api}/tags`, body)
    expect([reply.status, reply.body]).toEqual([status, answer])
  })

  test('that is protected is for those whom the rule names', async () => {
    const now = world.ctx.now()
    const rule = await world.ctx.db
      .insertInto('protected_tags')
      .values({ project_id: project.id, name: 'v*', created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    await world.ctx.db
      .insertInto('protected_tag_levels')
      .values({ protected_tag_id: rule.id, access_level: 40 })
      .execute()
    expect((await dev.get(url('v1.0.0'))).body.protected).toBe(true)
    const body = { tag_name: 'v3', ref: 'main' }
    const refused = await dev.post(`${project.api}/tags`, body)
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - You are not allowed to create this tag as it is protected.' },
    ])
    expect((await ana.post(`${project.api}/tags`, body)).status).toBe(201)
    expect((await dev.delete(url('v1.0.0'))).status).toBe(403)
  })
})

describe('deleting a tag', () => {
  test('removes it, unless it changed since', async () => {
    const headers = { 'if-unmodified-since': 'Sun, 31 Dec 2023 00:00:00 GMT' }
    expect((await dev.delete(url('v1.0.0'), undefined, { headers })).status).toBe(412)
    expect((await dev.delete(url('v1.0.0'))).status).toBe(204)
    expect((await dev.delete(url('v1.0.0'))).body).toEqual({ message: '404 Tag Not Found' })
    const reporter = await world.user(`rep${count}`)
    await addMember(world, project, reporter, 20)
    expect((await reporter.delete(url('v0.1.0'))).status).toBe(403)
  })
})
