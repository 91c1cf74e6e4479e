import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mia = useCaller(world, 'mia')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
const guest = useCaller(world, 'guest')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'secured' })
  for (const [user, level] of [
    [mia, 40],
    [dev, 30],
    [rep, 20],
    [guest, 10],
  ] as const) {
    await addMember(world, project, user, level)
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
    ['../a', 400],
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

  test('is made once of several uploads with one name at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 4 }, () => upload('raced', 'x')))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    const refused = replies.find(({ status }) => status === 400)
    expect(refused?.body).toEqual({ message: { name: ['has already been taken'] } })
    await clear()
    // The name is free again.
    expect((await upload('raced', 'y')).status).toBe(201)
    await clear()
  })

  test('is read by Developers, and made and deleted by Maintainers', async () => {
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
    expect(await statuses(guest)).toEqual([403, 403, 403, 403, 403])
    for (const by of [stranger, world.nobody]) {
      expect(await statuses(by)).toEqual([404, 404, 404, 404, 404])
    }
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

  test('is audited by its name, without its content', async () => {
    const { id } = (await upload('audited.txt', 'the content')).body
    await mia.delete(`${path}/${id}`)
    const { body } = await ana.get(`/projects/${project.id}/audit_events?per_page=2`)
    const text = JSON.stringify(body)
    expect(text.match(/audited\.txt/g)?.length).toBeGreaterThanOrEqual(2)
    expect(text).toContain('mia')
    expect(text).not.toContain('the content')
  })
})

test('a secure file is sealed on disk, and read by members and jobs until it is deleted', async () => {
  const made = await upload('key.jks', 'the very secret bytes')
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    name: 'key.jks',
    checksum_algorithm: 'sha256',
    metadata: null,
    expires_at: null,
    file_extension: 'jks',
  })
  const { id } = made.body
  expect((await dev.get(`${path}/${id}/download`)).body).toBe('the very secret bytes')
  const { sealed_file } = await world.ctx.db
    .selectFrom('ci_secure_files')
    .select('sealed_file')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const onDisk = readFileSync(world.ctx.files.pathOf(sealed_file), 'latin1')
  expect(onDisk).not.toContain('secret')
  expect(onDisk).not.toContain(Buffer.from('the very secret').toString('base64'))
  await ana.post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add a job',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: 'one: {script: echo}' }],
  })
  await world.runTasks()
  const job = await (await addRunner(world, ana, project.id)).request()
  const asJob = world.withHeader('JOB-TOKEN', job?.token ?? '')
  expect((await asJob.get(path)).body).toEqual([made.body])
  expect((await asJob.get(`${path}/${id}/download`)).body).toBe('the very secret bytes')
  expect((await asJob.delete(`${path}/${id}`)).status).toBeGreaterThanOrEqual(401)
  expect((await ana.delete(`${path}/${id}`)).status).toBe(204)
  expect((await ana.get(`${path}/${id}`)).status).toBe(404)
})

test('a certificate has its subject, issuer and end as metadata', async () => {
  const file = join(world.folder, 'one.pem')
  const subject = ['-subj', '/CN=One/O=Two', '-days', '30', '-nodes', '-keyout', '/dev/null']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-out', file], {
    stdio: 'ignore',
  })
  const { body } = await upload('one.pem', Uint8Array.from(readFileSync(file)))
  expect(body.metadata).toMatchObject({ subject: { CN: 'One', O: 'Two' }, issuer: { CN: 'One' } })
  expect(body.expires_at).toBe(body.metadata.expires_at)
})

test.each([
  ['a certificate that cannot be read', 201, 'broken.pem', 'no certificate'],
  ['more than 5 MB', 413, 'large.bin', new Uint8Array(5 * 1024 * 1024 + 1)],
])('%s answers %i', async (_what, status, name, bytes) => {
  expect((await upload(name, bytes)).status).toBe(status)
})
