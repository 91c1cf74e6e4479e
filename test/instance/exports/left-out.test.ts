import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { storeLfsObject } from '../../../src/repositories/lfs/objects.ts'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { archiveOf, projectFile, upload } from './archives.ts'

const world = useWorld({ maxLfsObject: 1000 })
const ana = useCaller(world, 'ana')
beforeAll(async () => {
  const unlimited = { project_export_limit: 0, project_import_limit: 0 }
  await world.root.put('/application/settings', unlimited)
})

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function exported(id: number): Promise<Uint8Array<ArrayBuffer>> {
  expect((await ana.post(`/projects/${id}/export`)).status).toBe(202)
  await world.runTasks()
  const headers = { 'PRIVATE-TOKEN': ana.token ?? '' }
  const reply = await fetch(`${world.url}/api/v4/projects/${id}/export/download`, { headers })
  expect(reply.status).toBe(200)
  return new Uint8Array(await reply.arrayBuffer())
}

async function imported(archive: Uint8Array<ArrayBuffer>, path: string) {
  const made = await ana.post('/projects/import', undefined, { raw: upload(archive, { path }) })
  expect([made.status, made.body.failed_relations]).toEqual([201, []])
  await world.runTasks()
  return (await ana.get(`/projects/${made.body.id}/import`)).body
}

const relations = (body: { failed_relations: { relation_name: string }[] }) =>
  body.failed_relations.map((one) => one.relation_name)

test('large files go with a project, and lost ones end the export', async () => {
  const source = await createProject(ana, 'large', { initialize_with_readme: true })
  const oid = sha256('large file')
  await storeLfsObject(world.ctx, source, { oid, size: 10 }, bytesOf('large file'))
  const archive = await exported(source.id)
  expect((await ana.get(`/projects/${source.id}/export`)).body.failed_relations).toEqual([])
  await world.ctx.db.deleteFrom('lfs_objects').execute()
  rmSync(world.ctx.files.pathOf(oid))
  const status = await imported(archive, 'large-copy')
  expect(status).toMatchObject({ import_status: 'finished', failed_relations: [] })
  const rows = await world.ctx.db.selectFrom('lfs_objects').selectAll().execute()
  expect(rows).toMatchObject([{ project_id: status.id, oid, size: 10 }])
  expect(readFileSync(world.ctx.files.pathOf(oid), 'utf8')).toBe('large file')
  rmSync(world.ctx.files.pathOf(oid))
  await ana.post(`/projects/${status.id}/export`)
  await world.runTasks()
  expect((await ana.get(`/projects/${status.id}/export/download`)).status).toBe(404)
})

test('what an export does not carry is named by its status and by that of the import', async () => {
  const source = await createProject(ana, 'full', { initialize_with_readme: true })
  const at = `/projects/${source.id}`
  await ana.post(`${at}/issues`, { title: 'one' })
  await ana.post(`${at}/issues`, { title: 'two' })
  await ana.post(`${at}/issues/1/notes`, { body: 'said' })
  await ana.post(`${at}/releases`, { tag_name: 'v1', ref: 'main' })
  await ana.post(`${at}/variables`, { key: 'A', value: 'b' })
  const ben = await world.user('ben')
  await ana.post(`${at}/members`, { user_id: ben.id, access_level: 30 })
  const archive = await exported(source.id)
  const { body } = await ana.get(`${at}/export`)
  const names = ['issues', 'notes', 'releases', 'project_members', 'variables']
  expect(relations(body).filter((name) => name !== 'ci_pipelines')).toEqual(names)
  expect(body.failed_relations[0]).toEqual({
    id: 1,
    created_at: '2026-05-04T10:00:00.000Z',
    exception_class: 'NotExported',
    exception_message: '2 issues are not in the archive: exports do not carry them',
    source: 'export',
    relation_name: 'issues',
    line_number: 0,
  })
  const status = await imported(archive, 'full-copy')
  expect(status.import_status).toBe('finished')
  expect(status.failed_relations).toEqual(body.failed_relations)
})

test('an archive of an older program, which names nothing, counts as one that lacks it all', async () => {
  const archive = await archiveOf([['project.json', projectFile()]])
  const status = await imported(archive, 'old')
  expect(status.import_status).toBe('finished')
  expect(relations(status)).toEqual(expect.arrayContaining(['issues', 'lfs_objects']))
})

test.each([
  ['other bytes than its name says', 'other', 'does not match its id'],
  ['more bytes than are allowed', 'x'.repeat(1001), 'more than 1000 bytes'],
])('a large file with %s ends the import', async (_, content, said) => {
  const entry = [`lfs-objects/${sha256('mine')}`, content] as const
  const archive = await archiveOf([['project.json', projectFile()], entry])
  const status = await imported(archive, `bad-${content.length}`)
  expect(status).toMatchObject({ import_status: 'failed' })
  expect(status.import_error).toContain(said)
  const { rows } = await sql`SELECT 1 FROM lfs_objects WHERE project_id = ${status.id}`.execute(
    world.ctx.db,
  )
  expect(rows).toEqual([])
})
