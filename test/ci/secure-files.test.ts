import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const guest = useCaller(world, 'guest')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'sealed' })
  await addMember(world, project, dev, 30)
  await addMember(world, project, guest, 10)
  path = `/projects/${project.id}/secure_files`
})

function upload(name: string, bytes: Uint8Array<ArrayBuffer> | string, by = ana) {
  const form = new FormData()
  form.set('name', name)
  form.set('file', new Blob([bytes]), name)
  return by.post(path, undefined, { raw: form })
}

test('a secure file is kept sealed, told of, downloaded by members and jobs, and deleted', async () => {
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

test('a certificate says whose it is and when it ends', async () => {
  const file = join(world.folder, 'one.pem')
  const words = ['-subj', '/CN=One/O=Two', '-days', '30', '-nodes', '-keyout', '/dev/null']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...words, '-out', file], {
    stdio: 'ignore',
  })
  const { body } = await upload('one.pem', Uint8Array.from(readFileSync(file)))
  expect(body.metadata).toMatchObject({ subject: { CN: 'One', O: 'Two' }, issuer: { CN: 'One' } })
  expect(body.expires_at).toBe(body.metadata.expires_at)
})

test.each([
  ['a name that leads elsewhere', '../key', 'x', 400],
  ['a certificate that is none', 'broken.pem', 'no certificate', 201],
  ['more than 5 MB', 'large.bin', new Uint8Array(5 * 1024 * 1024 + 1), 413],
])('%s is answered clearly', async (_what, name, bytes, status) => {
  expect((await upload(name, bytes)).status).toBe(status)
})

test('a name is taken once, developers only read, and guests see nothing', async () => {
  expect((await upload('twice.txt', 'x')).status).toBe(201)
  const again = await upload('twice.txt', 'y')
  expect(again.status).toBe(400)
  expect(again.body).toEqual({ message: { name: ['has already been taken'] } })
  expect((await upload('mine.txt', 'x', dev)).status).toBe(403)
  expect((await dev.get(path)).status).toBe(200)
  expect((await guest.get(path)).status).toBe(403)
  expect((await world.nobody.get(path)).status).toBe(404)
})
