import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string
let projectId: number

beforeAll(async () => {
  const group = await createGroup(ana, 'g')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${projectId}/packages`
})

const put = (caller: Caller, path: string, raw: string | Uint8Array<ArrayBuffer>) =>
  caller.put(path, undefined, { raw })

test('a file is published and downloaded, whole, in part, and not again when it is known', async () => {
  const text = 'some bytes of a build'
  const sent = await put(ana, `${at}/generic/tool/1.0.0/tool.tgz`, text)
  expect([sent.status, sent.body]).toEqual([201, { message: '201 Created' }])
  const got = await ana.get(`${at}/generic/tool/1.0.0/tool.tgz`)
  expect([got.status, got.body]).toEqual([200, text])
  const sha256 = createHash('sha256').update(text).digest('hex')
  expect(got.headers.get('x-checksum-sha256')).toBe(sha256)
  expect(got.headers.get('content-type')).toBe('application/gzip')
  expect(got.headers.get('content-disposition')).toBe('attachment; filename="tool.tgz"')
  const etag = got.headers.get('etag') ?? ''
  const again = { headers: { 'If-None-Match': etag } }
  expect((await ana.get(`${at}/generic/tool/1.0.0/tool.tgz`, again)).status).toBe(304)
  const part = { headers: { Range: 'bytes=5-9' } }
  const some = await ana.get(`${at}/generic/tool/1.0.0/tool.tgz`, part)
  expect([some.status, some.body]).toEqual([206, 'bytes'])
  const head = await ana.head(`${at}/generic/tool/1.0.0/tool.tgz`)
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(text.length)])
})

test('the record of the file is answered when it is asked for, with an address that downloads it', async () => {
  const sent = await put(ana, `${at}/generic/record/1/a/b.txt?select=package_file`, 'x')
  expect(sent.status).toBe(200)
  expect(sent.body).toMatchObject({ file_name: 'a%2Fb.txt', size: 1, file_store: 1 })
  const path = new URL(sent.body.file.url).pathname.replace('/api/v4', '')
  const got = await ana.get(path)
  expect([got.status, got.body]).toEqual([200, 'x'])
  expect(got.headers.get('content-disposition')).toBe('attachment; filename="b.txt"')
  expect((await ana.get(`${at}/generic/record/1/a/b.txt`)).body).toBe('x')
})

test('a form with a part called file is taken, too', async () => {
  const form = new FormData()
  form.set('file', new Blob(['from a form']), 'whatever.bin')
  const sent = await ana.put(`${at}/generic/form/1/f.bin`, undefined, { raw: form })
  expect(sent.status).toBe(201)
  expect((await ana.get(`${at}/generic/form/1/f.bin`)).body).toBe('from a form')
  const empty = new FormData()
  empty.set('other', 'x')
  const refused = await ana.put(`${at}/generic/form/2/f.bin`, undefined, { raw: empty })
  expect(refused.status).toBe(400)
})

test('the newest file of a name wins, unless the group forbids duplicates', async () => {
  const path = `${at}/generic/twice/1.0/f`
  await put(ana, path, 'first')
  await put(ana, path, 'second')
  expect((await ana.get(path)).body).toBe('second')
  const settings = '/groups/g/packages/settings'
  const changed = await ana.put(settings, {
    generic_duplicates_allowed: false,
    generic_duplicate_exception_regex: 'snap.*',
  })
  expect(changed.body.generic_duplicates_allowed).toBe(false)
  const refused = await put(ana, path, 'third')
  expect(refused.status).toBe(400)
  expect(refused.body.message).toContain('Duplicate package is not allowed')
  expect((await ana.get(path)).body).toBe('second')
  await put(ana, `${at}/generic/twice/snapshot/f`, 'one')
  expect((await put(ana, `${at}/generic/twice/snapshot/f`, 'two')).status).toBe(201)
  expect((await ana.put(settings, { generic_duplicate_exception_regex: '(' })).status).toBe(400)
  await ana.put(settings, {
    generic_duplicates_allowed: true,
    generic_duplicate_exception_regex: '',
  })
})

test('a hidden package can be downloaded, and is not listed', async () => {
  await put(ana, `${at}/generic/secret/1/f?status=hidden`, 'x')
  expect((await ana.get(`${at}/generic/secret/1/f`)).status).toBe(200)
  expect((await ana.get(`${at}?package_name=secret`)).body).toEqual([])
  expect((await ana.get(`${at}?package_name=secret&status=hidden`)).body).toHaveLength(1)
})

test.each([
  'generic/tool/1/..%2f..%2fetc%2fpasswd',
  'generic/tool/1/%2e%2e/x',
  'generic/tool/1/a/%2e%2e%2fx',
  'generic/tool/1/a%5cb',
  'generic/tool/1/~x',
  'generic/tool/1/x@',
  'generic/tool/1/a%252e%252e',
  'generic/tool/1/caf%C3%A9',
  'generic/tool/1..2/x',
  'generic/..%2fx/1/x',
  'generic/a%2fb/1/x',
  `generic/${'n'.repeat(256)}/1/x`,
  'generic/tool/1/a%00b',
  'generic/tool/1/a//%20',
])('the name %s is refused, and nothing is kept of it', async (name) => {
  const before = (await ana.get(`${at}?status=default`)).body.length
  expect([400, 404]).toContain((await put(ana, `${at}/${name}`, 'x')).status)
  expect([400, 404]).toContain((await ana.get(`${at}/${name}`)).status)
  expect((await ana.get(`${at}?status=default`)).body).toHaveLength(before)
})

test('an upload that ends too early leaves nothing', async () => {
  const { port, hostname } = new URL(world.url)
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const head = [
        `PUT /api/v4${at}/generic/cut/1/f HTTP/1.1`,
        'Host: x',
        `PRIVATE-TOKEN: ${ana.token}`,
        'Content-Length: 1000',
        '',
        'only this',
      ]
      socket.end(head.join('\r\n'))
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.resume()
  })
  expect((await ana.get(`${at}/generic/cut/1/f`)).status).toBe(404)
  expect((await ana.get(`${at}?package_name=cut`)).body).toEqual([])
})

test('a file beyond the limit of the plan is refused, whether or not its size is announced', async () => {
  await world.root.put('/application/plan_limits', {
    plan_name: 'default',
    generic_packages_max_file_size: 10,
  })
  const announced = await put(ana, `${at}/generic/large/1/f`, 'more than ten bytes')
  expect([announced.status, announced.body.message]).toEqual([
    400,
    '400 Bad request - File is too large',
  ])
  const body = new ReadableStream({
    start(controller) {
      for (let i = 0; i < 5; i += 1) controller.enqueue(new TextEncoder().encode('12345'))
      controller.close()
    },
  })
  const unannounced = await fetch(`${world.url}/api/v4${at}/generic/large/1/f`, {
    method: 'PUT',
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    body,
    duplex: 'half',
  } as RequestInit)
  expect([unannounced.status, await unannounced.json()]).toEqual([
    400,
    { message: '400 Bad request - File is too large' },
  ])
  expect(readdirSync(join(world.folder, 'files', 'tmp'))).toEqual([])
  expect((await ana.get(`${at}/generic/large/1/f`)).status).toBe(404)
  await world.root.put('/application/plan_limits', {
    plan_name: 'default',
    generic_packages_max_file_size: 0,
  })
})

describe('who signs in', () => {
  test('by Basic with a token, by a deploy token, and by nothing else', async () => {
    const path = `${at}/generic/tool/1.0.0/tool.tgz`
    const basic = (user: string, password: string) => ({
      headers: { Authorization: `Basic ${btoa(`${user}:${password}`)}` },
    })
    const { nobody } = world
    expect((await nobody.get(path, basic('any', ana.token ?? ''))).status).toBe(200)
    const bearer = { headers: { Authorization: `Bearer ${ana.token}` } }
    expect((await nobody.get(path, bearer)).status).toBe(200)
    expect((await nobody.get(path)).status).toBe(401)
    const wrong = await nobody.get(path, basic('any', 'wrong'))
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('www-authenticate')).toBe('Basic realm="svc Packages Registry"')
    const deploy = async (scopes: string[]) =>
      (await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 't', scopes })).body.token
    const reader = { headers: { 'DEPLOY-TOKEN': await deploy(['read_package_registry']) } }
    expect((await nobody.get(path, reader)).status).toBe(200)
    const raw = { ...reader, raw: 'x' }
    expect((await nobody.put(`${at}/generic/d/1/f`, undefined, raw)).status).toBe(401)
    const writer = { headers: { 'DEPLOY-TOKEN': await deploy(['write_package_registry']) } }
    const written = await nobody.put(`${at}/generic/d/1/f`, undefined, { ...writer, raw: 'x' })
    expect(written.status).toBe(201)
  })

  test('decides what they may: guests read, developers publish, maintainers delete', async () => {
    const guest = await world.user('guest')
    const developer = await world.user('developer')
    await addMember(world, projectId, guest.id, 10)
    await addMember(world, projectId, developer.id, 30)
    const path = `${at}/generic/roles/1/f`
    expect((await put(guest, path, 'x')).status).toBe(403)
    expect((await put(developer, path, 'x')).status).toBe(201)
    expect((await guest.get(path)).status).toBe(200)
    const { id } = (await ana.get(`${at}?package_name=roles`)).body[0]
    expect((await developer.delete(`${at}/${id}`)).status).toBe(403)
    expect((await ana.delete(`${at}/${id}`)).status).toBe(204)
    const stranger = await world.user('stranger')
    expect((await put(stranger, path, 'x')).status).toBe(404)
  })
})
