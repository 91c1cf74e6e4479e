import { describe, expect, test } from 'vitest'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

const others = {
  message: 'Down for an hour',
  starts_at: '2026-05-04T09:00:00.000Z',
  ends_at: '2026-05-04T12:00:00.000Z',
  color: '#000000',
  font: '#abc',
  target_access_levels: [10, 15, 20, 30, 40, 50],
  target_path: '*/docs',
  broadcast_type: 'notification',
  dismissable: true,
  theme: 'light-red',
}

describe('every attribute of a broadcast message', () => {
  test('is given at creation, and changed alone', async () => {
    const made = await world.root.post('/broadcast_messages', others)
    expect([made.status, made.body]).toEqual([201, { id: made.body.id, ...others, active: true }])
    const plain = (await world.root.post('/broadcast_messages', { message: 'Plain' })).body
    let expected = plain
    for (const [name, value] of Object.entries(others)) {
      expected = { ...expected, [name]: value }
      const changed = await world.root.put(`/broadcast_messages/${plain.id}`, { [name]: value })
      expect([changed.status, changed.body]).toEqual([200, expected])
    }
    expect((await world.nobody.get(`/broadcast_messages/${plain.id}`)).body).toEqual(expected)
  })

  test('can be sent as a form, and lists be emptied', async () => {
    const form = new URLSearchParams({ message: 'By form', dismissable: 'on', theme: 'dark' })
    form.append('target_access_levels[]', '30')
    form.append('target_access_levels[]', '40')
    const made = await world.root.post('/broadcast_messages', undefined, { raw: form })
    expect(made.body).toMatchObject({
      dismissable: true,
      theme: 'dark',
      target_access_levels: [30, 40],
    })
    const path = `/broadcast_messages/${made.body.id}`
    const emptied = await world.root.put(path, { target_access_levels: [], target_path: '' })
    expect(emptied.body).toMatchObject({ target_access_levels: [], target_path: '' })
  })

  test.each([
    [{ broadcast_type: 'poster' }, { error: 'broadcast_type does not have a valid value' }],
    [{ theme: 'pink' }, { error: 'theme does not have a valid value' }],
    [{ target_access_levels: 'x' }, { error: 'target_access_levels is invalid' }],
    [{ target_access_levels: [60] }, { error: 'target_access_levels does not have a valid value' }],
    [{ starts_at: 'soon' }, { error: 'starts_at is invalid' }],
    [{ dismissable: 'perhaps' }, { error: 'dismissable is invalid' }],
    [{ message: ' ' }, { message: { message: ["can't be blank"] } }],
  ])('is not %j', async (changes, answer) => {
    const made = (await world.root.post('/broadcast_messages', { message: 'Kept' })).body
    const path = `/broadcast_messages/${made.id}`
    const reply = await world.root.put(path, { theme: 'dark', ...changes })
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect((await world.root.get(path)).body).toEqual(made)
  })

  test('says by itself whether the message is shown now', async () => {
    const active = async (starts_at: string, ends_at: string) =>
      (await world.root.post('/broadcast_messages', { message: 'x', starts_at, ends_at })).body
        .active
    expect(await active('2026-05-04T10:00:00Z', '2026-05-04T10:00:00Z')).toBe(true)
    expect(await active('2026-05-04T10:00:01Z', '2026-05-05T10:00:00Z')).toBe(false)
    expect(await active('2026-05-03T10:00:00Z', '2026-05-04T09:59:59Z')).toBe(false)
    // Nobody minds an end before the beginning: it is never shown.
    expect(await active('2026-05-06T10:00:00Z', '2026-05-05T10:00:00Z')).toBe(false)
  })
})
