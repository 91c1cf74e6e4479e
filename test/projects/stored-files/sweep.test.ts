import { utimes } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sweepFiles } from '../../../src/projects/stored-files/sweep.ts'
import { createProject } from '../../support/create.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let project = ''
beforeEach(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  project = `/projects/${(await createProject(ana, 'demo')).id}`
})
afterEach(() => world.close())

/** Stores bytes as if that had been in April. */
async function store(text: string): Promise<string> {
  const { sha256 } = await world.ctx.files.put([Buffer.from(text)])
  await age(sha256)
  return sha256
}

async function age(sha256: string): Promise<void> {
  const long = new Date('2026-04-01T00:00:00.000Z')
  await utimes(world.ctx.files.pathOf(sha256), long, long)
}

async function upload(text: string): Promise<{ id: number; sha256: string }> {
  const form = new FormData()
  form.set('file', new Blob([text]), 'notes.txt')
  const { status, body } = await ana.post(`${project}/uploads`, undefined, { raw: form })
  expect(status).toBe(201)
  const row = await world.ctx.db
    .selectFrom('uploads')
    .select(['id', 'file'])
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow()
  return { id: row.id, sha256: row.file }
}

test('a file goes when the last row that names it has gone, and not before', async () => {
  const first = await upload('the same bytes')
  const second = await upload('the same bytes')
  expect(second.sha256).toBe(first.sha256)
  await age(first.sha256)
  await ana.delete(`${project}/uploads/${first.id}`)
  expect(await sweepFiles(world.ctx)).toBe(0)
  await ana.delete(`${project}/uploads/${second.id}`)
  expect(await sweepFiles(world.ctx)).toBe(1)
  expect(await world.ctx.files.sizeOf(first.sha256)).toBeUndefined()
})

test('a file that nothing names yet stays for the days of grace', async () => {
  const { sha256 } = await world.ctx.files.put([Buffer.from('just stored')])
  expect(await sweepFiles(world.ctx)).toBe(0)
  expect(await world.ctx.files.sizeOf(sha256)).toBeDefined()
})

test('a file that is named inside of a text stays, such as in the payload of a task', async () => {
  const sha256 = await store('an archive to import')
  await world.ctx.db
    .insertInto('settings')
    .values({ key: 'import', value: JSON.stringify({ deep: [{ file: `${sha256}` }] }) })
    .execute()
  expect(await sweepFiles(world.ctx)).toBe(0)
  await world.ctx.db.deleteFrom('settings').where('key', '=', 'import').execute()
  expect(await sweepFiles(world.ctx)).toBe(1)
})

test('bytes that are stored again while they are being removed are there in the end', async () => {
  for (let round = 0; round < 30; round += 1) {
    const sha256 = await store(`round ${round}`)
    const before = '2026-05-01T00:00:00.000Z'
    await Promise.all([
      world.ctx.files.deleteOlder(sha256, before),
      world.ctx.files.put([Buffer.from(`round ${round}`)]),
    ])
    expect(await world.ctx.files.sizeOf(sha256)).toBeDefined()
  }
})

test('files of avatars, exports and large objects stay as long as they are wanted', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const form = new FormData()
  form.set('avatar', new Blob([png], { type: 'image/png' }), 'a.png')
  expect((await ana.put(project, undefined, { raw: form })).status).toBe(200)
  const { avatar_file } = await world.ctx.db
    .selectFrom('projects')
    .select('avatar_file')
    .executeTakeFirstOrThrow()
  await age(avatar_file ?? '')
  expect(await sweepFiles(world.ctx)).toBe(0)
  await ana.put(project, { avatar: '' })
  expect(await sweepFiles(world.ctx)).toBe(1)
})
