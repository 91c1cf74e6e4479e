import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, digestOf } from './push-image.ts'

const world = useWorld({ maxProjectPackages: 100 }, { background: false })
const ana = useCaller(world, 'ana')
let name: string

beforeAll(async () => {
  await createProject(ana, 'p')
  name = 'ana/p'
})

const INDEX = 'application/vnd.oci.image.index.v1+json'

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

test('manifests count, and one that is there may get another tag', async () => {
  await createProject(ana, 'q')
  const put = async (tag: string, annotations?: object) => {
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType: INDEX,
      manifests: [],
      annotations,
    })
    const headers = { 'Content-Type': INDEX }
    return (await askRegistry(world, ana, 'PUT', `ana/q/manifests/${tag}`, manifest, headers))
      .status
  }
  expect([await put('a'), await put('b')]).toEqual([201, 201])
  expect(await put('c', { note: 'x' })).toBe(403)
  const blob = `ana/q/blobs/uploads/?digest=${digestOf(piece)}`
  expect((await askRegistry(world, ana, 'POST', blob, piece)).status).toBe(403)
})
