import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { inTransaction } from '../../../src/store/transaction.ts'
import { createProject } from '../../support/create.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0
beforeEach(() => {
  count += 1
})

const answer = ({ status, body }: Reply) => [status, body]
const missing = [404, { message: '404 Topic Not Found' }]

/** A new topic whose name is used in this test alone. */
async function topic(name: string, more: object = {}) {
  const made = await world.root.post('/topics', { name: `${name}${count}`, title: name, ...more })
  expect([made.status, made.body.message]).toEqual([201, undefined])
  return made.body
}

async function project(topics: readonly string[], more: object = {}) {
  const name = `p${count}-${Math.random().toString(36).slice(2)}`
  const { id } = await createProject(ana, name, { topics, ...more })
  return { id, path: `/projects/${id}` }
}

const topicsOf = async (path: string) => (await ana.get(path)).body.topics
const uses = async (id: number) =>
  (await world.nobody.get(`/topics/${id}`)).body.total_projects_count

test('topics are made by administrators, seen by anybody, the most used first', async () => {
  await createProject(ana, 'one', { topics: ['ruby', 'web'] })
  await createProject(ana, 'two', { topics: ['web'] })
  const list = (await world.nobody.get('/topics')).body
  expect(list).toMatchObject([
    { name: 'web', title: 'web', total_projects_count: 2 },
    { name: 'ruby', total_projects_count: 1 },
  ])
  const made = await world.root.post('/topics', { name: 'git', title: 'Git', description: 'd' })
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: made.body.id,
      name: 'git',
      title: 'Git',
      description: 'd',
      total_projects_count: 0,
      organization_id: 1,
      avatar_url: null,
    },
  ])
  expect((await ana.post('/topics', { name: 'x', title: 'x' })).status).toBe(403)
  expect((await world.nobody.get('/topics?search=GI')).body).toHaveLength(1)
  expect((await world.nobody.get('/topics?without_projects=true')).body).toHaveLength(1)
  const twice = await world.root.post('/topics', { name: 'GIT', title: 'x' })
  expect([twice.status, twice.body]).toEqual([
    400,
    { message: { name: ['has already been taken'] } },
  ])
  const changed = await world.root.put(`/topics/${made.body.id}`, { title: 'New' })
  expect(changed.body).toMatchObject({ title: 'New', description: 'd' })
  expect((await world.root.delete(`/topics/${made.body.id}`)).status).toBe(204)
  expect((await world.root.get(`/topics/${made.body.id}`)).body.message).toBe('404 Topic Not Found')
})

test('merging takes the projects along', async () => {
  const [web, ruby] = (await world.root.get('/topics')).body
  const reply = await world.root.post('/topics/merge', {
    source_topic_id: ruby.id,
    target_topic_id: web.id,
  })
  expect([reply.status, reply.body.total_projects_count]).toEqual([201, 2])
  expect((await ana.get('/projects/ana%2Fone')).body.topics).toEqual(['web'])
  const same = { source_topic_id: web.id, target_topic_id: web.id }
  expect((await world.root.post('/topics/merge', same)).status).toBe(400)
})

test('a topic has a name, a title, a text and a picture, and each of them changes', async () => {
  const { root } = world
  const { body } = await root.post('/topics', { name: 'lisp', title: 'Lisp' })
  const path = `/topics/${body.id}`
  const put = async (changes: Record<string, unknown>) => (await root.put(path, changes)).body
  expect(await put({ name: 'scheme' })).toMatchObject({ name: 'scheme', title: 'Lisp' })
  expect(await put({ description: 'Lots of parentheses' })).toMatchObject({
    name: 'scheme',
    description: 'Lots of parentheses',
  })
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const form = new FormData()
  form.set('avatar', new Blob([png], { type: 'image/png' }), 'lambda.png')
  const shown = await root.put(path, undefined, { raw: form })
  expect(shown.body.avatar_url).toContain(`/uploads/-/system/topic/avatar/${body.id}/lambda.png`)
  const file = await fetch(`${world.url}${new URL(shown.body.avatar_url).pathname}`)
  expect(Buffer.from(await file.arrayBuffer()).equals(png)).toBe(true)
  expect((await put({ avatar: '' })).avatar_url).toBeNull()
  expect((await world.nobody.get(path)).body).toMatchObject({ name: 'scheme', avatar_url: null })
})

test.each([
  [{ title: 'x' }, { error: 'name is missing' }],
  [{ name: 'x' }, { error: 'title is missing' }],
  [{ name: ' ', title: 'x' }, { message: { name: ["can't be blank"] } }],
  [{ name: 'x', title: '' }, { message: { title: ["can't be blank"] } }],
  [
    { name: 'x'.repeat(256), title: 'x' },
    { message: { name: ['is too long (maximum is 255 characters)'] } },
  ],
])('a topic is not made of %j', async (body, answer) => {
  const reply = await world.root.post('/topics', body)
  expect([reply.status, reply.body]).toEqual([400, answer])
})

test('a topic that is deleted leaves its projects, and one of that name may come again', async () => {
  await createProject(ana, 'three', { topics: ['fleeting', 'kept'] })
  const [topic] = (await ana.get('/topics?search=fleeting')).body
  for (const caller of [ana, world.nobody]) {
    expect((await caller.delete(`/topics/${topic.id}`)).status).toBe(caller === ana ? 403 : 401)
    expect((await caller.put(`/topics/${topic.id}`, { title: 'x' })).status).toBe(
      caller === ana ? 403 : 401,
    )
  }
  expect((await world.root.delete(`/topics/${topic.id}`)).status).toBe(204)
  expect((await ana.get('/projects/ana%2Fthree')).body.topics).toEqual(['kept'])
  await ana.put('/projects/ana%2Fthree', { topics: ['fleeting'] })
  expect((await ana.get('/topics?search=fleeting')).body).toMatchObject([
    { total_projects_count: 1 },
  ])
  await ana.delete('/projects/ana%2Fthree')
  expect((await ana.get('/topics?search=fleeting')).body).toMatchObject([
    { total_projects_count: 0 },
  ])
})

describe('who may do what with topics', () => {
  test('anybody reads them, administrators alone make, change, merge and delete them', async () => {
    const made = await topic('role')
    const other = await topic('other')
    const merge = { source_topic_id: made.id, target_topic_id: other.id }
    const answers = async (by: Caller) => {
      const replies = [
        await by.get('/topics'),
        await by.get(`/topics/${made.id}`),
        await by.post('/topics', { name: `new${count}`, title: 'New' }),
        await by.put(`/topics/${made.id}`, { title: 'Changed' }),
        await by.post('/topics/merge', merge),
        await by.delete(`/topics/${other.id}`),
      ]
      return replies.map((reply) => reply.status)
    }
    expect(await answers(ana)).toEqual([200, 200, 403, 403, 403, 403])
    expect(await answers(world.nobody)).toEqual([200, 200, 401, 401, 401, 401])
    const reader = world.as(await world.token(world.root.id, ['read_api']))
    expect(await answers(reader)).toEqual([200, 200, 403, 403, 403, 403])
    expect((await world.nobody.get(`/topics/${made.id}`)).body).toEqual(made)
    expect(await answers(world.root)).toEqual([200, 200, 201, 200, 201, 204])
  })

  test('an unknown number answers 404, and an invalid one 400', async () => {
    for (const reply of [
      await ana.get('/topics/99999'),
      await world.root.put('/topics/99999', { title: 'x' }),
      await world.root.delete('/topics/99999'),
    ])
      expect(answer(reply)).toEqual(missing)
    for (const by of [world.root, world.nobody])
      expect(answer(await by.get('/topics/x'))).toEqual([400, { error: 'id is invalid' }])
  })
})

describe('changing a topic', () => {
  test('renames it in all of its projects', async () => {
    const made = await topic('old')
    const [one, two] = [await project([made.name, 'kept']), await project(['kept', made.name])]
    const renamed = await world.root.put(`/topics/${made.id}`, { name: `new${count}` })
    expect(answer(renamed)).toEqual([
      200,
      { ...made, name: `new${count}`, total_projects_count: 2 },
    ])
    expect(await topicsOf(one.path)).toEqual([`new${count}`, 'kept'])
    expect(await topicsOf(two.path)).toEqual(['kept', `new${count}`])
    const found = async (name: string) =>
      (await ana.get(`/projects?topic=${name}&simple=true`)).body.length
    expect([await found(`new${count}`), await found(made.name)]).toEqual([2, 0])
  })

  test('keeps what is not sent, and clears a description by null', async () => {
    const made = await topic('parts', { description: 'All of it' })
    const put = async (changes: object) =>
      (await world.root.put(`/topics/${made.id}`, changes)).body
    expect(await put({})).toEqual(made)
    expect(await put({ title: 'Parts' })).toEqual({ ...made, title: 'Parts' })
    expect(await put({ description: null })).toEqual({ ...made, title: 'Parts', description: null })
    // Its own name in upper case is not taken by another.
    expect((await put({ name: made.name.toUpperCase() })).name).toBe(made.name.toUpperCase())
  })

  test.each([
    [{ name: '' }, { name: ["can't be blank"] }],
    [{ title: ' ' }, { title: ["can't be blank"] }],
    [{ title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
    [
      { name: ' ', title: ' ' },
      { name: ["can't be blank"], title: ["can't be blank"] },
    ],
  ])('is refused with %j', async (changes, message) => {
    const made = await topic('good')
    const reply = await world.root.put(`/topics/${made.id}`, { description: 'x', ...changes })
    expect(answer(reply)).toEqual([400, { message }])
    expect((await ana.get(`/topics/${made.id}`)).body).toEqual(made)
  })

  test('refuses a name that another has, in upper or lower case', async () => {
    const [one, other] = [await topic('one'), await topic('other')]
    const reply = await world.root.put(`/topics/${one.id}`, { name: other.name.toUpperCase() })
    expect(answer(reply)).toEqual([400, { message: { name: ['has already been taken'] } }])
    const replies = await Promise.all(
      [1, 2, 3].map(() => world.root.post('/topics', { name: `same${count}`, title: 'x' })),
    )
    expect(replies.map((one) => one.status).sort()).toEqual([201, 400, 400])
  })
})

describe('the picture of a topic', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const withPicture = (fields: Record<string, string>, bytes: Buffer, name: string) => {
    const form = new FormData()
    for (const [key, value] of Object.entries(fields)) form.set(key, value)
    form.set('avatar', new Blob([new Uint8Array(bytes)]), name)
    return form
  }

  test('is sent with its creation, shown to anybody, and kept by other changes', async () => {
    const fields = { name: `pic${count}`, title: 'Picture' }
    const made = await world.root.post('/topics', undefined, {
      raw: withPicture(fields, png, 'a.png'),
    })
    expect(made.body.avatar_url).toMatch(
      new RegExp(`/uploads/-/system/topic/avatar/${made.body.id}/a\\.png\\?h=`),
    )
    const path = new URL(made.body.avatar_url).pathname
    const shown = await fetch(`${world.url}${path}`)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
    const changed = await world.root.put(`/topics/${made.body.id}`, { title: 'Other' })
    expect(changed.body.avatar_url).toBe(made.body.avatar_url)
    expect((await world.root.delete(`/topics/${made.body.id}`)).status).toBe(204)
    expect((await fetch(`${world.url}${path}`)).status).toBe(404)
  })

  test('is refused when it is no picture', async () => {
    const made = await topic('text')
    const raw = withPicture({ title: 'Other' }, Buffer.from('plain text'), 'a.txt')
    expect((await world.root.put(`/topics/${made.id}`, undefined, { raw })).status).toBe(400)
    expect(answer(await world.root.put(`/topics/${made.id}`, { avatar: 'text' }))).toEqual([
      400,
      { error: 'avatar is invalid' },
    ])
    expect((await ana.get(`/topics/${made.id}`)).body).toEqual(made)
  })
})

describe('the list of topics', () => {
  test('has the most used first, then the oldest, in pages', async () => {
    const mark = `rank${count}`
    const made = []
    for (const name of ['a', 'b', 'c']) made.push(await topic(name, { title: mark }))
    const [a, b, c] = made
    await project([c.name, b.name])
    await project([c.name])
    const ids = async (query: string) =>
      (await world.nobody.get(`/topics?search=${mark}${query}`)).body.map(
        (one: { id: number }) => one.id,
      )
    expect(await ids('')).toEqual([c.id, b.id, a.id])
    expect(await ids('&per_page=2&page=2')).toEqual([a.id])
    expect(await ids('&without_projects=true')).toEqual([a.id])
    expect(await ids('&without_projects=false')).toEqual([c.id, b.id, a.id])
    const head = await world.nobody.get(`/topics?search=${mark}&per_page=1`)
    expect(head.headers.get('x-total')).toBe('3')
    expect((await world.nobody.get('/topics?without_projects=x')).status).toBe(400)
  })

  test('is searched in name and title, in upper or lower case, without wildcards', async () => {
    const made = await topic('Quick_Sort', { title: '100% sure' })
    const found = async (search: string) =>
      (await ana.get(`/topics?search=${encodeURIComponent(search)}`)).body.map(
        (one: { id: number }) => one.id,
      )
    expect(await found('quick_')).toEqual([made.id])
    expect(await found('00% S')).toEqual([made.id])
    expect(await found('quick%sort')).toEqual([])
    expect(await found('quickXsort')).toEqual([])
  })
})

describe('the topics of a project', () => {
  test('are made when they are first used, and shown as topics and as tag_list', async () => {
    const { path } = await project([`fresh${count}`], { visibility: 'private' })
    const [made] = (await world.nobody.get(`/topics?search=fresh${count}`)).body
    expect(made).toMatchObject({ name: `fresh${count}`, title: `fresh${count}`, description: null })
    expect(made.total_projects_count).toBe(1)
    const { body } = await ana.get(path)
    expect([body.topics, body.tag_list]).toEqual([[`fresh${count}`], [`fresh${count}`]])
  })

  test('take the name of an existing topic, and keep the order that was sent', async () => {
    const made = await topic('Ruby')
    const { path } = await project([`z${count}`, made.name.toLowerCase(), ` a${count} `])
    expect(await topicsOf(path)).toEqual([`z${count}`, made.name, `a${count}`])
    await ana.put(path, { topics: [`a${count}`, `z${count}`] })
    expect(await topicsOf(path)).toEqual([`a${count}`, `z${count}`])
    expect(await uses(made.id)).toBe(0)
  })

  test('are a hundred at most, of 255 letters at most, or nothing changes', async () => {
    const { path } = await project(['kept'])
    const many = Array.from({ length: 101 }, (_, index) => `n${index}`)
    for (const [topics, text] of [
      [many, 'is too long (maximum is 100 topics)'],
      [['x'.repeat(256)], 'is too long (maximum is 255 characters)'],
    ]) {
      const reply = await ana.put(path, { topics, description: 'changed' })
      expect(answer(reply)).toEqual([400, { message: { topics: [text] } }])
    }
    expect((await ana.get(path)).body).toMatchObject({ topics: ['kept'], description: null })
    const most = await ana.put(path, { topics: many.slice(1) })
    expect(most.body.topics).toHaveLength(100)
  })

  test('are counted until the project is deleted, archived or not', async () => {
    const made = await topic('counted')
    const { path } = await project([made.name])
    await ana.post(`${path}/archive`)
    expect(await uses(made.id)).toBe(1)
    await ana.post(`${path}/unarchive`)
    await ana.delete(path)
    expect(await uses(made.id)).toBe(0)
    await world.runTasks()
    expect(await uses(made.id)).toBe(0)
  })

  test('are set by maintainers, not by developers', async () => {
    const { path } = await project(['kept'])
    const ben = await world.user(`ben${count}`)
    await ana.post(`${path}/members`, { user_id: ben.id, access_level: 30 })
    expect((await ben.put(path, { topics: ['mine'] })).status).toBe(403)
    expect(await topicsOf(path)).toEqual(['kept'])
    await ana.put(`${path}/members/${ben.id}`, { access_level: 40 })
    expect((await ben.put(path, { topics: ['mine'] })).body.topics).toEqual(['mine'])
  })
})

describe('merging topics', () => {
  const merge = (source: number, target: number) =>
    world.root.post('/topics/merge', { source_topic_id: source, target_topic_id: target })

  test('counts projects of both once, and keeps the attributes of the target', async () => {
    const [source, target] = [await topic('source'), await topic('target', { description: 'Kept' })]
    const both = await project([source.name, target.name])
    const one = await project(['first', source.name, 'last'])
    const reply = await merge(source.id, target.id)
    expect(answer(reply)).toEqual([201, { ...target, total_projects_count: 2 }])
    expect(answer(await ana.get(`/topics/${source.id}`))).toEqual(missing)
    expect(await topicsOf(both.path)).toEqual([target.name])
    expect(await topicsOf(one.path)).toEqual(['first', target.name, 'last'])
  })

  test('needs two different topics that exist', async () => {
    const { id } = await topic('alone')
    expect(answer(await merge(id, 99999))).toEqual(missing)
    expect(answer(await merge(99999, id))).toEqual(missing)
    expect(answer(await merge(id, id))).toEqual([
      400,
      { message: '400 Bad request - The source topic and the target topic are identical.' },
    ])
    expect(answer(await world.root.post('/topics/merge', { source_topic_id: 'x' }))).toEqual([
      400,
      { error: 'source_topic_id is invalid, target_topic_id is missing' },
    ])
    expect(await uses(id)).toBe(0)
  })

  test('of two into each other that no project has keeps one', async () => {
    const [one, other] = [await topic('idle'), await topic('unused')]
    const merges = () => Promise.all([merge(one.id, other.id), merge(other.id, one.id)])
    // Both have come while somebody else writes.
    const coming = await inTransaction(world.ctx, async () => {
      const replies = merges()
      await sleep(200)
      return { replies }
    })
    expect((await coming.replies).map((reply) => reply.status).sort()).toEqual([201, 404])
    const left = [one, other].map(async ({ id }) => (await ana.get(`/topics/${id}`)).status)
    expect((await Promise.all(left)).sort()).toEqual([200, 404])
  })

  test('of two into each other, asked for at the same time, keeps one with all projects', async () => {
    const [one, other] = [await topic('one'), await topic('two')]
    const places = [await project([one.name]), await project([other.name])]
    const tries = [1, 2, 3].flatMap(() => [merge(one.id, other.id), merge(other.id, one.id)])
    const replies = await Promise.all(tries)
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 404, 404, 404, 404, 404])
    const kept = replies.find((reply) => reply.status === 201)?.body
    expect(kept.total_projects_count).toBe(2)
    for (const { path } of places) expect(await topicsOf(path)).toEqual([kept.name])
  })
})
