import { expect, test } from 'vitest'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

test('a message is made with the defaults of the spec, and read by anybody, newest first', async () => {
  const first = await world.root.post('/broadcast_messages', { message: 'Hello' })
  expect([first.status, first.body]).toEqual([
    201,
    {
      id: first.body.id,
      message: 'Hello',
      starts_at: '2026-05-04T10:00:00.000Z',
      ends_at: '2026-05-04T11:00:00.000Z',
      color: '#E75E40',
      font: '#FFFFFF',
      target_access_levels: [],
      target_path: '',
      broadcast_type: 'banner',
      dismissable: false,
      theme: 'indigo',
      active: true,
    },
  ])
  const second = await world.root.post('/broadcast_messages', {
    message: 'Later',
    starts_at: '2026-06-01T00:00:00Z',
    target_access_levels: '30,40',
  })
  expect(second.body).toMatchObject({ active: false, target_access_levels: [30, 40] })
  const list = (await world.nobody.get('/broadcast_messages')).body
  expect(list.map((one: { id: number }) => one.id)).toEqual([second.body.id, first.body.id])
  expect((await world.nobody.get(`/broadcast_messages/${first.body.id}`)).status).toBe(200)
})

test('active turns with the clock', async () => {
  const made = (await world.root.post('/broadcast_messages', { message: 'x' })).body
  world.setNow('2026-05-04T11:00:00.001Z')
  expect((await world.nobody.get(`/broadcast_messages/${made.id}`)).body.active).toBe(false)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('parameters are looked at before the caller', async () => {
  const user = await world.user('plain')
  for (const caller of [world.nobody, user]) {
    const wrong = await caller.post('/broadcast_messages', { theme: 'pink' })
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { error: 'message is missing, theme does not have a valid value' },
    ])
  }
  expect((await world.nobody.post('/broadcast_messages', { message: 'x' })).status).toBe(401)
  expect((await user.post('/broadcast_messages', { message: 'x' })).status).toBe(403)
})

test('errors are answered by field', async () => {
  const blank = await world.root.post('/broadcast_messages', { message: '' })
  expect(blank.body).toEqual({ message: { message: ["can't be blank"] } })
  const font = await world.root.post('/broadcast_messages', { message: 'x', font: 'red' })
  expect([font.status, Object.keys(font.body.message)]).toEqual([400, ['font']])
  const color = await world.root.post('/broadcast_messages', { message: 'x', color: '#12' })
  expect([color.status, Object.keys(color.body.message)]).toEqual([400, ['color']])
  const level = await world.root.post('/broadcast_messages', {
    message: 'x',
    target_access_levels: [5],
  })
  expect(level.body).toEqual({ error: 'target_access_levels does not have a valid value' })
})

test('a change touches what was sent only, and a delete honours If-Unmodified-Since', async () => {
  const made = (await world.root.post('/broadcast_messages', { message: 'x', theme: 'red' })).body
  const path = `/broadcast_messages/${made.id}`
  world.setNow('2026-05-04T10:30:00.000Z')
  expect((await world.root.put(path, { color: '#444444' })).body.color).toBe('#444444')
  const changed = await world.root.put(path, { message: 'y' })
  expect(changed.body).toEqual({ ...made, color: '#444444', message: 'y' })
  const since = (time: string) => ({ headers: { 'If-Unmodified-Since': time } })
  const early = since('Mon, 04 May 2026 10:00:00 GMT')
  expect((await world.root.delete(path, undefined, early)).status).toBe(412)
  expect((await world.root.delete(path, undefined, since('whenever'))).status).toBe(204)
  expect((await world.root.get(path)).body).toEqual({ message: '404 Not found' })
  expect((await world.root.get('/broadcast_messages/x')).body).toEqual({ error: 'id is invalid' })
})
