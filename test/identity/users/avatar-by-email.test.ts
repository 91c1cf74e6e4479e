import { expect, test } from 'vitest'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

test('an avatar is found by a public address, and only by that', async () => {
  const ana = await world.user('ana')
  const form = new FormData()
  form.append('avatar', new Blob([PNG], { type: 'image/png' }), 'me.png')
  const { body } = await ana.put('/user/avatar', undefined, { raw: form })
  const find = async (email: string) =>
    (await world.nobody.get(`/avatar?email=${email}&size=32`)).body
  expect(await find('ana@example.com')).toEqual({ avatar_url: null })
  await world.root.put(`/users/${ana.id}`, { public_email: 'ana@example.com' })
  expect(await find('ana@example.com')).toEqual({ avatar_url: body.avatar_url })
  expect(await find('nobody@example.com')).toEqual({ avatar_url: null })
  expect((await world.nobody.get('/avatar')).body).toEqual({ error: 'email is missing' })
})
