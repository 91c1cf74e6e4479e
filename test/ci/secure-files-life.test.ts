import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../support/members.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mia = useCaller(world, 'mia')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'secured' })
  for (const [user, level] of [
    [mia, 40],
    [dev, 30],
    [rep, 20],
  ] as const) {
    await addMember(world, project.id, user.id, level)
  }
  path = `/projects/${project.id}/secure_files`
})

function upload(name: string | null, content: string | Uint8Array<ArrayBuffer>, by = mia) {
  const form = new FormData()
  if (name !== null) form.set('name', name)
  form.set('file', new Blob([content]), 'local-name')
  return by.post(path, undefined, { raw: form })
}

async function clear() {
  const { body } = await ana.get(`${path}?per_page=100`)
  for (const { id } of body as { id: number }[]) await ana.delete(`${path}/${id}`)
}

describe('a secure file', () => {
  test('comes back byte for byte, with its checksum', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31) % 256)
    const made = await upload('release.keystore', bytes)
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        name: 'release.keystore',
        checksum: createHash('sha256').update(bytes).digest('hex'),
        checksum_algorithm: 'sha256',
        created_at: '2026-05-04T10:00:00.000Z',
        expires_at: null,
        metadata: null,
        file_extension: 'keystore',
      },
    ])
    expect((await dev.get(`${path}/${made.body.id}`)).body).toEqual(made.body)
    const url = `${world.url}/api/v4${path}/${made.body.id}/download`
    const response = await fetch(url, { headers: { 'PRIVATE-TOKEN': dev.token ?? '' } })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(bytes))
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toContain('release.keystore')
    await clear()
  })

  test.each([
    ['a', 201],
    ['.npmrc', 201],
    ['a_b-c.1', 201],
    ['x'.repeat(255), 201],
    ['x'.repeat(256), 400],
    ['', 400],
    [' ', 400],
    ['a b', 400],
    ['a/b', 400],
    ['..\\a', 400],
    ['ä.txt', 400],
    ['a\n', 400],
    [null, 400],
  ])('may be called %j: %i', async (name, status) => {
    const reply = await upload(name, 'x')
    expect(reply.status).toBe(status)
    if (status === 201) expect(reply.body.name).toBe(name)
    else expect(JSON.stringify(reply.body)).toContain('name')
    await clear()
  })

  test('is a file: a text in its place is refused', async () => {
    for (const body of [{ name: 'a' }, { name: 'a', file: 'text' }, { name: 'a', file: null }]) {
      const { status, body: answer } = await mia.post(path, body)
      expect([status, Object.keys(answer)]).toEqual([400, ['error']])
      expect(answer.error).toMatch(/^file is/)
    }
  })

  test('may be empty, and as large as five mebibytes', async () => {
    expect((await upload('empty', '')).status).toBe(201)
    const most = new Uint8Array(5 * 1024 * 1024)
    const made = await upload('most.bin', most)
    expect(made.status).toBe(201)
    const { body } = await mia.get(`${path}/${made.body.id}/download`)
    expect(body).toHaveLength(most.length)
    await clear()
  })

  test('is one of at most a hundred', async () => {
    const { db } = world.ctx
    await upload('first', 'x')
    const { id: _, ...row } = await db
      .selectFrom('ci_secure_files')
      .selectAll()
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: 98 }, (_, at) => ({ ...row, name: `more${at}` }))
    await db.insertInto('ci_secure_files').values(rows).execute()
    expect((await upload('last', 'x')).status).toBe(201)
    const refused = await upload('one-more', 'x')
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { base: ['Maximum number of secure files (100) exceeded'] } },
    ])
    const page = await dev.get(`${path}?per_page=3`)
    expect(page.headers.get('x-total')).toBe('100')
    expect(page.body.map((one: { name: string }) => one.name)).toEqual(['last', 'more97', 'more96'])
    await db.deleteFrom('ci_secure_files').execute()
  })

  test('is made once of several that come with one name at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 4 }, () => upload('raced', 'x')))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    await clear()
    // The name is free again.
    expect((await upload('raced', 'y')).status).toBe(201)
    await clear()
  })

  test('is read by Developers and kept by Maintainers, each role as far as it goes', async () => {
    const { id } = (await upload('role.txt', 'x')).body
    const statuses = async (by: Caller) => [
      (await by.get(path)).status,
      (await by.get(`${path}/${id}`)).status,
      (await by.get(`${path}/${id}/download`)).status,
      (await upload('bad name', 'x', by)).status,
      (await by.delete(`${path}/${by === mia ? 999_999 : id}`)).status,
    ]
    const stranger = await world.user('stranger')
    expect(await statuses(mia)).toEqual([200, 200, 200, 400, 404])
    expect(await statuses(dev)).toEqual([200, 200, 200, 403, 403])
    expect(await statuses(rep)).toEqual([403, 403, 403, 403, 403])
    expect(await statuses(stranger)).toEqual([404, 404, 404, 404, 404])
    await ana.put(`/projects/${project.id}`, { visibility: 'public' })
    expect(await statuses(stranger)).toEqual([403, 403, 403, 403, 403])
    expect(await statuses(world.nobody)).toEqual([401, 401, 401, 401, 401])
    await ana.put(`/projects/${project.id}`, {
      visibility: 'private',
      builds_access_level: 'disabled',
    })
    expect(await statuses(mia)).toEqual([403, 403, 403, 403, 403])
    await ana.put(`/projects/${project.id}`, { builds_access_level: 'enabled' })
    await ana.post(`/projects/${project.id}/archive`)
    expect(await statuses(mia)).toEqual([200, 200, 200, 403, 404])
    await ana.post(`/projects/${project.id}/unarchive`)
    const read = world.as(await world.token(mia.id, ['read_api']))
    expect((await read.get(`${path}/${id}/download`)).status).toBe(200)
    expect((await read.delete(`${path}/${id}`)).status).toBe(403)
    await clear()
  })

  test('is not found below another project', async () => {
    const other = await addProject(world, ana, 'empty', { path: 'elsewhere' })
    const { id } = (await upload('mine.txt', 'x')).body
    const at = `/projects/${other.id}/secure_files/${id}`
    for (const reply of [
      await ana.get(at),
      await ana.get(`${at}/download`),
      await ana.delete(at),
    ]) {
      expect([reply.status, reply.body]).toEqual([404, { message: '404 SecureFile Not Found' }])
    }
    expect((await ana.get(`${path}/${id}`)).status).toBe(200)
    await clear()
  })

  test('is written down for those who audit, with its name and never its content', async () => {
    const { id } = (await upload('audited.txt', 'the content')).body
    await mia.delete(`${path}/${id}`)
    const { body } = await ana.get(`/projects/${project.id}/audit_events?per_page=2`)
    const text = JSON.stringify(body)
    expect(text.match(/audited\.txt/g)?.length).toBeGreaterThanOrEqual(2)
    expect(text).toContain('mia')
    expect(text).not.toContain('the content')
  })
})
