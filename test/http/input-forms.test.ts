import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let projectId: number
beforeAll(async () => {
  projectId = (await createProject(ana, 'p')).id
})

const values = {
  name: 'Straße + 1',
  description: 'a & b = 100%\nand more 🦊',
  wiki_access_level: 'disabled',
  lfs_enabled: 'false',
}

const form = (fields: object) => new URLSearchParams(Object.entries(fields))
const multipart = (fields: object) => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, String(value))
  return data
}

describe('the same words are understood', () => {
  const expected = {
    name: values.name,
    wiki_access_level: 'disabled',
    lfs_enabled: false,
  }
  const ways: Readonly<Record<string, (path: string) => ReturnType<Caller['put']>>> = {
    'as JSON': (path) => ana.put(path, values),
    'as a form': (path) => ana.put(path, undefined, { raw: form(values) }),
    'in parts': (path) => ana.put(path, undefined, { raw: multipart(values) }),
    'in the query': (path) => ana.put(`${path}?${form(values)}`),
  }
  test.each(Object.keys(ways))('%s', async (way) => {
    const path = `/projects/${projectId}`
    const before = { name: 'p', description: '', wiki_access_level: 'enabled', lfs_enabled: true }
    expect((await ana.put(path, before)).body).toMatchObject(before)
    const reply = await ways[way]?.(path)
    expect([reply?.status, reply?.body]).toMatchObject([200, expected])
    expect(reply?.body.description.replaceAll('\r\n', '\n')).toBe(values.description)
  })
})

describe('a flag', () => {
  const set = async (value: unknown) => {
    const { status, body } = await ana.put(`/projects/${projectId}`, { lfs_enabled: value })
    return status === 200 ? body.lfs_enabled : body.error
  }
  test.each([true, 1, '1', 'true', 'TRUE', 'True', 't', 'T', 'yes', 'y', 'on', 'ON'])(
    'is on by %j',
    async (value) => {
      await set(false)
      expect(await set(value)).toBe(true)
    },
  )
  test.each([false, 0, '0', 'false', 'FALSE', 'f', 'no', 'n', 'off'])(
    'is off by %j',
    async (value) => {
      await set(true)
      expect(await set(value)).toBe(false)
    },
  )
  test.each(['maybe', 2, 'truee', [true], { a: true }])('is none by %j', async (value) => {
    expect(await set(value)).toBe('lfs_enabled is invalid')
  })
})

describe('a list of words', () => {
  test.each([
    ['JSON', () => ana.put(`/projects/${projectId}`, { topics: ['a', 'b c'] })],
    ['commas', () => ana.put(`/projects/${projectId}`, { topics: 'a,b c' })],
    [
      'a repeated name',
      () =>
        ana.put(`/projects/${projectId}`, undefined, {
          raw: new URLSearchParams([
            ['topics[]', 'a'],
            ['topics[]', 'b c'],
          ]),
        }),
    ],
    ['a query', () => ana.put(`/projects/${projectId}?topics[]=a&topics[]=b+c`)],
  ])('comes by %s', async (_, send) => {
    await ana.put(`/projects/${projectId}`, { topics: [] })
    expect((await send()).body.topics).toEqual(['a', 'b c'])
  })
})

describe('a moment in a query', () => {
  test('has its time zone when the plus is encoded, and is none when it is a blank', async () => {
    const path = `/projects/${projectId}/issues`
    const good = await ana.get(`${path}?created_after=2026-05-04T12:00:00%2B02:00`)
    expect(good.status).toBe(200)
    const bad = await ana.get(`${path}?created_after=2026-05-04T12:00:00+02:00`)
    expect([bad.status, bad.body]).toEqual([400, { error: 'created_after is invalid' }])
  })
})

describe('several faults', () => {
  test('are told together, in the order of the parameters', async () => {
    const reply = await ana.get('/users?active=maybe&order_by=age&created_after=then')
    expect(reply.status).toBe(400)
    expect(reply.body.error.split(', ').sort()).toEqual([
      'active is invalid',
      'created_after is invalid',
      'order_by does not have a valid value',
    ])
  })
  test('unknown parameters are none', async () => {
    expect((await ana.get('/users?nothing=1&simple=true')).status).toBe(200)
    expect((await ana.put(`/projects/${projectId}`, { name: 'p', nothing: 1 })).status).toBe(200)
  })
})

test('a path is found encoded in any way, and not at all when its slash is bare', async () => {
  for (const name of ['ana%2Fp', 'ana%2fp', '%61na%2Fp', 'ANA%2FP'])
    expect([name, (await ana.get(`/projects/${name}`)).body.id]).toEqual([name, projectId])
  expect((await ana.get('/projects/ana/p')).body).toEqual({ error: '404 Not Found' })
  expect((await ana.get('/projects/p')).body).toEqual({ message: '404 Project Not Found' })
})
