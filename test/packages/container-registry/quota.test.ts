import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Caller, openWorld, type World } from '../../support/world.ts'
import { askRegistry, digestOf } from './push-image.ts'

let world: World
let ana: Caller
let name: string

beforeAll(async () => {
  world = await openWorld({ maxProjectPackages: 100 }, { background: false })
  ana = await world.user('ana')
  await ana.post('/projects', { name: 'p' })
  name = 'ana/p'
})
afterAll(() => world.close())

const piece = 'x'.repeat(40)

async function begin(): Promise<string> {
  const { headers } = await askRegistry(world, ana, 'POST', `${name}/blobs/uploads/`, '')
  return new URL(headers.get('location') ?? '').pathname.replace(/^\/v2\//, '')
}

const send = async (at: string) => (await askRegistry(world, ana, 'PATCH', at, piece)).status

test('pieces of uploads that nobody finishes count, until they are given up or a blob', async () => {
  const first = await begin()
  expect([await send(first), await send(first), await send(first)]).toEqual([202, 202, 403])
  const second = await begin()
  expect(await send(second)).toBe(403)
  // What is whole counts once: its pieces go as it comes.
  const whole = `${first}?digest=${digestOf(piece + piece)}`
  expect((await askRegistry(world, ana, 'PUT', whole, '')).status).toBe(201)
  expect(await send(second)).toBe(403)
  const blob = `${name}/blobs/${digestOf(piece + piece)}`
  expect((await askRegistry(world, ana, 'DELETE', blob)).status).toBe(202)
  expect([await send(second), await send(second)]).toEqual([202, 202])
  expect((await askRegistry(world, ana, 'DELETE', second)).status).toBe(204)
  expect(await send(await begin())).toBe(202)
})
