import { beforeAll, expect, test } from 'vitest'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, digestOf } from '../container-registry/push-image.ts'

const world = useWorld({ maxPackageFile: 50, maxProjectPackages: 200 }, { background: false })
const ana = useCaller(world, 'ana')
const NAME = 'ana/p/app'

beforeAll(async () => {
  for (const name of ['p', 'q']) await ana.post('/projects', { name })
})

const v2 = (method: string, path: string, raw?: string) =>
  askRegistry(world, ana, method, path, raw)
const codeOf = (answer: Reply) => [answer.status, answer.body.errors[0].code]
const blob = (content: string, name = NAME) =>
  v2('POST', `${name}/blobs/uploads/?digest=${digestOf(content)}`, content)

async function begin(): Promise<string> {
  const { headers } = await v2('POST', `${NAME}/blobs/uploads/`, '')
  return new URL(headers.get('location') ?? '').pathname.replace(/^\/v2\//, '')
}

test('a blob is as large as the server lets it be, at once and in pieces', async () => {
  expect((await blob('x'.repeat(50))).status).toBe(201)
  expect(codeOf(await blob('y'.repeat(51)))).toEqual([400, 'SIZE_INVALID'])
  const at = await begin()
  expect((await v2('PATCH', at, 'a'.repeat(30))).status).toBe(202)
  expect(codeOf(await v2('PATCH', at, 'b'.repeat(21)))).toEqual([400, 'SIZE_INVALID'])
  expect((await v2('GET', at)).headers.get('range')).toBe('0-29')
  expect((await v2('PATCH', at, 'b'.repeat(20))).status).toBe(202)
  const digest = digestOf('a'.repeat(30) + 'b'.repeat(20))
  expect((await v2('PUT', `${at}?digest=${digest}`)).status).toBe(201)
})

test('a project keeps as much as it may, whichever way a blob comes to it', async () => {
  const contents = ['1', '2', '3', '4', '5'].map((one) => one.repeat(50))
  const name = 'ana/q/app'
  const statuses: number[] = []
  for (const content of contents) statuses.push((await blob(content, name)).status)
  expect(statuses).toEqual([201, 201, 201, 201, 403])
  // What was refused counts no more: nobody can reach it.
  const uploads = await world.ctx.db.selectFrom('container_upload_chunks').selectAll().execute()
  expect(uploads).toEqual([])
  await blob('to mount', NAME)
  const mount = `${name}/blobs/uploads/?mount=${digestOf('to mount')}&from=${NAME}`
  expect(codeOf(await v2('POST', mount, ''))).toEqual([403, 'DENIED'])
  expect((await v2('DELETE', `${name}/blobs/${digestOf(contents[0] ?? '')}`)).status).toBe(202)
  expect((await v2('POST', mount, '')).status).toBe(201)
})
