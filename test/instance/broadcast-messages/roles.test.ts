import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, type Reply, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

const path = '/broadcast_messages'
const answer = ({ status, body }: Reply) => [status, body]
const make = async (more: object = {}) => {
  const made = await root.post(path, { message: 'Hello', ...more })
  expect([made.status, made.body.message]).toEqual([201, 'Hello'])
  return made.body
}

describe('broadcast messages', () => {
  test('are read by anybody, and made, changed and deleted by administrators alone', async () => {
    const { id } = await make()
    const answers = async (by: Caller) => {
      const replies = [
        await by.get(path),
        await by.get(`${path}/${id}`),
        await by.post(path, { message: 'x' }),
        await by.put(`${path}/${id}`, { message: 'y' }),
        await by.delete(`${path}/${id}`),
      ]
      return replies.map((reply) => reply.status)
    }
    expect(await answers(world.nobody)).toEqual([200, 200, 401, 401, 401])
    expect(await answers(ana)).toEqual([200, 200, 403, 403, 403])
    const reader = world.as(await world.token(root.id, ['read_api']))
    expect(await answers(reader)).toEqual([200, 200, 403, 403, 403])
    expect((await world.nobody.get(`${path}/${id}`)).body.message).toBe('Hello')
    expect(await answers(root)).toEqual([200, 200, 201, 200, 204])
  })

  test('that do not exist answer 404 to administrators only', async () => {
    for (const call of [
      (by: Caller) => by.put(`${path}/99999`, { message: 'x' }),
      (by: Caller) => by.delete(`${path}/99999`),
    ]) {
      expect(answer(await call(root))).toEqual([404, { message: '404 Not found' }])
      expect((await call(ana)).status).toBe(403)
      expect((await call(world.nobody)).status).toBe(401)
    }
  })

  test('show to anybody whatever their levels, paths and times, newest first, in pages', async () => {
    const ids = [
      (await make({ target_access_levels: [50], target_path: 'secret/*' })).id,
      (await make({ starts_at: '2030-01-01T00:00:00Z', ends_at: '2030-01-02T00:00:00Z' })).id,
      (await make({ starts_at: '2020-01-01T00:00:00Z', ends_at: '2020-01-02T00:00:00Z' })).id,
    ]
    const first = await world.nobody.get(`${path}?per_page=2`)
    expect(first.body.map((one: { id: number }) => one.id)).toEqual([ids[2], ids[1]])
    const second = await world.nobody.get(`${path}?per_page=2&page=2`)
    expect(second.body[0]).toMatchObject({ id: ids[0], target_access_levels: [50] })
    expect((await world.nobody.get(`${path}?per_page=0`)).status).toBe(400)
  })

  test.each([
    'indigo',
    'light-indigo',
    'blue',
    'light-blue',
    'green',
    'light-green',
    'red',
    'light-red',
    'dark',
    'light',
  ])('have the theme %s', async (theme) => {
    const made = await make({ theme })
    expect((await ana.get(`${path}/${made.id}`)).body.theme).toBe(theme)
  })

  test.each(['color', 'font'])('have a %s of three or six digits, and no other', async (name) => {
    const { id } = await make()
    for (const good of ['#abc', '#ABCDEF', '#012345'])
      expect((await root.put(`${path}/${id}`, { [name]: good })).body[name]).toBe(good)
    for (const bad of ['', 'abc', '#ab', '#abcd', '#abcdefa', '#ghi', 'red', '#abc;x', '#abc\n'])
      expect([bad, answer(await root.put(`${path}/${id}`, { [name]: bad }))]).toEqual([
        bad,
        [400, { message: { [name]: ['must be a valid color code'] } }],
      ])
    expect((await ana.get(`${path}/${id}`)).body[name]).toBe('#012345')
  })

  test('name each level once, and end an hour after they are made unless the request says otherwise', async () => {
    const made = await make({ target_access_levels: [40, 10, 40] })
    expect(made.target_access_levels).toEqual([40, 10])
    expect([made.starts_at, made.ends_at]).toEqual([
      '2026-05-04T10:00:00.000Z',
      '2026-05-04T11:00:00.000Z',
    ])
    const ends = await make({ ends_at: '2026-05-04T10:00:01Z' })
    expect([ends.starts_at, ends.active]).toEqual(['2026-05-04T10:00:00.000Z', true])
  })
})
