import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')

test('an export goes where it was asked to go, under the description that was given', async () => {
  const got: { method: string; type: string; size: number; bytes: Uint8Array<ArrayBuffer> }[] = []
  const other = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', headers } = request
    const bytes = new Uint8Array(Buffer.concat(chunks))
    const size = Number(headers['content-length'])
    got.push({ method, type: headers['content-type'] ?? '', size, bytes })
    response.end()
  })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/put?signature=secret`
  const source = await createProject(ana, 'sent', { description: 'Old words' })
  const path = `/projects/${source.id}/export`
  const upload = { 'upload[url]': url, 'upload[http_method]': 'POST', description: 'New words' }
  const raw = new URLSearchParams(upload)
  expect((await ana.post(path, undefined, { raw })).status).toBe(202)
  const tasks = await world.ctx.db.selectFrom('tasks').select('payload').execute()
  expect(JSON.stringify(tasks)).not.toContain('signature')
  await world.runTasks()
  await ana.post(path, { upload: { url } })
  await world.runTasks()
  other.close()
  expect(got.map(({ method, type }) => [method, type])).toEqual([
    ['POST', 'application/gzip'],
    ['PUT', 'application/gzip'],
  ])
  const [first] = got
  expect(first?.bytes.length).toBe(first?.size)
  const back = new FormData()
  back.set('path', 'sent-back')
  back.set('file', new Blob([first?.bytes ?? '']), 'export.tar.gz')
  const made = await ana.post('/projects/import', undefined, { raw: back })
  await world.runTasks()
  expect((await ana.get(`/projects/${made.body.id}`)).body.description).toBe('New words')
  const inside = await ana.post(path, { upload: { url: 'http://10.0.0.1/x' } })
  expect([inside.status, inside.body]).toEqual([
    400,
    { message: { 'upload[url]': [expect.stringContaining('GITSTEAD_OUTBOUND_ALLOW')] } },
  ])
  expect((await ana.post(path, { upload: {} })).status).toBe(202)
  const odd = await ana.post(path, { upload: { url, http_method: 'GET' } })
  expect([odd.status, odd.body.error]).toEqual([
    400,
    'upload[http_method] does not have a valid value',
  ])
})
