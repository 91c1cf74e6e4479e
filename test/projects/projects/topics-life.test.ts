import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTransaction } from '../../../src/store/transaction.ts'
import { createProject } from '../../support/create.ts'
import { type Caller, type Reply, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let count = 0
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})
beforeEach(() => {
  count += 1
})

const answer = ({ status, body }: Reply) => [status, body]
const missing = [404, { message: '404 Topic Not Found' }]

/** A new topic whose name is used in this test alone. */
async function topic(name: string, more: object = {}) {
  const made = await root.post('/topics', { name: `${name}${count}`, title: name, ...more })
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
    const reader = world.as(await world.token(root.id, ['read_api']))
    expect(await answers(reader)).toEqual([200, 200, 403, 403, 403, 403])
    expect((await world.nobody.get(`/topics/${made.id}`)).body).toEqual(made)
    expect(await answers(root)).toEqual([200, 200, 201, 200, 201, 204])
  })

  test('one that is not there is not found, and a number that is none is no number', async () => {
    for (const reply of [
      await ana.get('/topics/99999'),
      await root.put('/topics/99999', { title: 'x' }),
      await root.delete('/topics/99999'),
    ])
      expect(answer(reply)).toEqual(missing)
    for (const by of [root, world.nobody])
      expect(answer(await by.get('/topics/x'))).toEqual([400, { error: 'id is invalid' }])
  })
})

describe('changing a topic', () => {
  test('renames it in all of its projects', async () => {
    const made = await topic('old')
    const [one, two] = [await project([made.name, 'kept']), await project(['kept', made.name])]
    const renamed = await root.put(`/topics/${made.id}`, { name: `new${count}` })
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

  test('touches nothing that is not sent, and empties a description by null', async () => {
    const made = await topic('parts', { description: 'All of it' })
    const put = async (changes: object) => (await root.put(`/topics/${made.id}`, changes)).body
    expect(await put({})).toEqual(made)
    expect(await put({ title: 'Parts' })).toEqual({ ...made, title: 'Parts' })
    expect(await put({ description: null })).toEqual({ ...made, title: 'Parts', description: null })
    // Its own name in other letters is no other's.
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
    const reply = await root.put(`/topics/${made.id}`, { description: 'x', ...changes })
    expect(answer(reply)).toEqual([400, { message }])
    expect((await ana.get(`/topics/${made.id}`)).body).toEqual(made)
  })

  test('gives it no name that another has, in whatever letters', async () => {
    const [one, other] = [await topic('one'), await topic('other')]
    const reply = await root.put(`/topics/${one.id}`, { name: other.name.toUpperCase() })
    expect(answer(reply)).toEqual([400, { message: { name: ['has already been taken'] } }])
    const replies = await Promise.all(
      [1, 2, 3].map(() => root.post('/topics', { name: `same${count}`, title: 'x' })),
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

  test('comes with its creation, shows to anybody, and stays while others change', async () => {
    const fields = { name: `pic${count}`, title: 'Picture' }
    const made = await root.post('/topics', undefined, { raw: withPicture(fields, png, 'a.png') })
    expect(made.body.avatar_url).toMatch(
      new RegExp(`/uploads/-/system/topic/avatar/${made.body.id}/a\\.png\\?h=`),
    )
    const path = new URL(made.body.avatar_url).pathname
    const shown = await fetch(`${world.url}${path}`)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
    const changed = await root.put(`/topics/${made.body.id}`, { title: 'Other' })
    expect(changed.body.avatar_url).toBe(made.body.avatar_url)
    expect((await root.delete(`/topics/${made.body.id}`)).status).toBe(204)
    expect((await fetch(`${world.url}${path}`)).status).toBe(404)
  })

  test('is a picture', async () => {
    const made = await topic('text')
    const raw = withPicture({ title: 'Other' }, Buffer.from('plain text'), 'a.txt')
    expect((await root.put(`/topics/${made.id}`, undefined, { raw })).status).toBe(400)
    expect(answer(await root.put(`/topics/${made.id}`, { avatar: 'words' }))).toEqual([
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

  test('is searched in name and title, in any letters, and takes no wildcards', async () => {
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
  test('are made as they are first used, whatever its visibility, and told by both names', async () => {
    const { path } = await project([`fresh${count}`], { visibility: 'private' })
    const [made] = (await world.nobody.get(`/topics?search=fresh${count}`)).body
    expect(made).toMatchObject({ name: `fresh${count}`, title: `fresh${count}`, description: null })
    expect(made.total_projects_count).toBe(1)
    const { body } = await ana.get(path)
    expect([body.topics, body.tag_list]).toEqual([[`fresh${count}`], [`fresh${count}`]])
  })

  test('take the name of the topic there is, and keep the order that was sent', async () => {
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

  test('are counted until the project goes, archived or not', async () => {
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
    root.post('/topics/merge', { source_topic_id: source, target_topic_id: target })

  test('counts projects of both once, and keeps what the target is', async () => {
    const [source, target] = [await topic('source'), await topic('target', { description: 'Kept' })]
    const both = await project([source.name, target.name])
    const one = await project(['first', source.name, 'last'])
    const reply = await merge(source.id, target.id)
    expect(answer(reply)).toEqual([201, { ...target, total_projects_count: 2 }])
    expect(answer(await ana.get(`/topics/${source.id}`))).toEqual(missing)
    expect(await topicsOf(both.path)).toEqual([target.name])
    expect(await topicsOf(one.path)).toEqual(['first', target.name, 'last'])
  })

  test('needs two topics that are there', async () => {
    const { id } = await topic('alone')
    expect(answer(await merge(id, 99999))).toEqual(missing)
    expect(answer(await merge(99999, id))).toEqual(missing)
    expect(answer(await merge(id, id))).toEqual([
      400,
      { message: '400 Bad request - The source topic and the target topic are identical.' },
    ])
    expect(answer(await root.post('/topics/merge', { source_topic_id: 'x' }))).toEqual([
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
