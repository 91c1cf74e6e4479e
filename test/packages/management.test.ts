import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string
let projectId: number

beforeAll(async () => {
  const group = await createGroup(ana, 'g')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${projectId}/packages`
})

async function publish(name: string, version: string, file = 'f', place = at) {
  const sent = await ana.put(
    `${place}/generic/${name}/${version}/${file}?select=package_file`,
    undefined,
    {
      raw: `${name} ${version}`,
    },
  )
  return sent.body as { id: number; package_id: number }
}

test('packages are listed with every filter and order, of a project and of a group', async () => {
  const sub = (
    await ana.post('/groups', {
      name: 's',
      path: 's',
      parent_id: (await ana.get('/groups/g')).body.id,
    })
  ).body
  const other = await createProject(ana, 'q', { namespace_id: sub.id })
  await publish('list-b', '1.0')
  await publish('list-a', '2.0')
  await publish('list-c', '0.1', 'f', `/projects/${other.id}/packages`)
  const names = async (path: string) =>
    (await ana.get(path)).body.map((one: { name: string }) => one.name)
  const only = 'package_name=LIST-'
  expect(await names(`${at}?${only}`)).toEqual(['list-b', 'list-a'])
  expect(await names(`${at}?${only}&order_by=name`)).toEqual(['list-a', 'list-b'])
  expect(await names(`${at}?${only}&order_by=version&sort=desc`)).toEqual(['list-a', 'list-b'])
  expect(await names(`${at}?${only}&package_version=2.0`)).toEqual(['list-a'])
  expect(await names(`${at}?${only}&package_type=npm`)).toEqual([])
  expect(await names(`/groups/g/packages?${only}&order_by=name`)).toEqual([
    'list-a',
    'list-b',
    'list-c',
  ])
  expect(await names(`/groups/g/packages?${only}&exclude_subgroups=true`)).toEqual([
    'list-b',
    'list-a',
  ])
  const [first] = (await ana.get(`/groups/g/packages?${only}&order_by=project_path&sort=desc`)).body
  expect([first.name, first.project_path]).toEqual(['list-c', 'g/s/q'])
  for (const wrong of ['status=x', 'order_by=x', 'sort=up', 'package_type=x']) {
    expect((await ana.get(`${at}?${wrong}`)).status, wrong).toBe(400)
  }
  const page = await ana.get(`${at}?${only}&per_page=1&page=2`)
  expect([page.body.length, page.headers.get('x-total')]).toEqual([1, '2'])
  const stranger = await world.user('stranger')
  expect((await stranger.get(at)).status).toBe(404)
  expect((await stranger.get('/groups/g/packages')).status).toBe(404)
})

test('one package shows its other versions, and when it was last downloaded', async () => {
  const { package_id: id } = await publish('one', '1.0')
  const second = await publish('one', '2.0')
  const before = (await ana.get(`${at}/${id}`)).body
  expect(before).toMatchObject({
    name: 'one',
    version: '1.0',
    package_type: 'generic',
    status: 'default',
    last_downloaded_at: null,
    pipelines: [],
    tags: [],
    versions: [{ id: second.package_id, version: '2.0' }],
  })
  expect(before._links.delete_api_path).toMatch(new RegExp(`/api/v4${at}/${id}$`))
  await ana.head(`${at}/generic/one/1.0/f`)
  expect((await ana.get(`${at}/${id}`)).body.last_downloaded_at).toBe(null)
  await ana.get(`${at}/generic/one/1.0/f`)
  expect((await ana.get(`${at}/${id}`)).body.last_downloaded_at).toBe(world.ctx.now())
  const reporter = await world.user('reporter')
  await addMember(world, projectId, reporter.id, 20)
  expect((await reporter.get(`${at}/${id}`)).body._links).toEqual({
    web_path: `/g/p/-/packages/${id}`,
  })
})

test('files are listed, downloaded by id, and deleted', async () => {
  const { package_id: id, id: first } = await publish('files', '1', 'a')
  await publish('files', '1', 'b')
  const list = async (query = '') =>
    (await ana.get(`${at}/${id}/package_files${query}`)).body.map(
      (one: { file_name: string }) => one.file_name,
    )
  expect(await list()).toEqual(['a', 'b'])
  expect(await list('?order_by=file_name&sort=desc')).toEqual(['b', 'a'])
  const [file] = (await ana.get(`${at}/${id}/package_files`)).body
  expect(Object.keys(file).sort()).toEqual([
    'created_at',
    'file_md5',
    'file_name',
    'file_sha1',
    'file_sha256',
    'id',
    'package_id',
    'pipelines',
    'size',
  ])
  expect((await ana.get(`${at}/${id}/package_files/${first}/download`)).body).toBe('files 1')
  expect((await ana.delete(`${at}/${id}/package_files/${first}`)).status).toBe(204)
  expect(await list()).toEqual(['b'])
  expect((await ana.delete(`${at}/${id}/package_files/${first}`)).status).toBe(404)
  const other = await publish('files', '2', 'c')
  expect((await ana.get(`${at}/${id}/package_files/${other.id}/download`)).status).toBe(404)
})

test('what is no number is no id of a package, a file or a rule', async () => {
  const { package_id: id } = await publish('numbered', '1')
  for (const [name, path] of [
    ['package_id', 'one'],
    ['package_id', 'one/pipelines'],
    ['package_id', 'one/package_files'],
    ['package_file_id', `${id}/package_files/one/download`],
  ]) {
    const { status, body } = await ana.get(`${at}/${path}`)
    expect([path, status, body]).toEqual([path, 400, { error: `${name} is invalid` }])
  }
  for (const path of ['one', `${id}/package_files/one`, 'protection/rules/one']) {
    expect([path, (await ana.delete(`${at}/${path}`)).status]).toEqual([path, 400])
  }
})

test('a deleted package is gone at once, its name is free, and its rows follow', async () => {
  const { package_id: id } = await publish('gone', '1')
  expect((await ana.delete(`${at}/${id}`)).status).toBe(204)
  expect((await ana.get(`${at}/${id}`)).status).toBe(404)
  expect((await ana.get(`${at}/generic/gone/1/f`)).status).toBe(404)
  const again = await publish('gone', '1')
  expect(again.package_id).not.toBe(id)
  await world.runTasks()
  const rows = await world.ctx.db.selectFrom('packages').select('id').where('id', '=', id).execute()
  expect(rows).toEqual([])
  expect((await ana.get(`${at}/generic/gone/1/f`)).status).toBe(200)
})

test('a public project shows its packages to everybody, and lets nobody delete them', async () => {
  const open = await createProject(ana, 'open', { visibility: 'public' })
  const place = `/projects/${open.id}/packages`
  const { package_id: id } = await publish('open', '1', 'f', place)
  expect((await world.nobody.get(place)).body).toHaveLength(1)
  expect((await world.nobody.get(`${place}/generic/open/1/f`)).status).toBe(200)
  expect((await world.nobody.delete(`${place}/${id}`)).status).toBe(403)
  expect((await world.nobody.get(at)).status).toBe(404)
  expect((await world.nobody.delete(`${at}/1`)).status).toBe(404)
})

test('protection rules decide who publishes and who deletes', async () => {
  const rules = `${at}/protection/rules`
  const made = await ana.post(rules, {
    package_name_pattern: 'Locked-*',
    package_type: 'generic',
    minimum_access_level_for_push: 'maintainer',
  })
  expect(made.status).toBe(201)
  const developer = await world.user('dev')
  await addMember(world, projectId, developer.id, 30)
  const refused = await developer.put(`${at}/generic/locked-a/1/f`, undefined, { raw: 'x' })
  expect([refused.status, refused.body]).toEqual([403, { message: 'Package protected.' }])
  expect((await developer.put(`${at}/generic/free/1/f`, undefined, { raw: 'x' })).status).toBe(201)
  const { package_id: id } = await publish('locked-a', '1')
  const scopes = ['write_package_registry']
  const deploy = await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 't', scopes })
  const byToken = await world.nobody.put(`${at}/generic/locked-b/1/f`, undefined, {
    raw: 'x',
    headers: { 'DEPLOY-TOKEN': deploy.body.token },
  })
  expect(byToken.status).toBe(403)
  const rule = `${rules}/${made.body.id}`
  const changed = await ana.patch(rule, { minimum_access_level_for_delete: 'admin' })
  expect(changed.body).toMatchObject({
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'admin',
  })
  const kept = await ana.delete(`${at}/${id}`)
  expect(kept.body.message).toBe('403 Forbidden - Package is deletion protected.')
  expect((await world.root.delete(`${at}/${id}`)).status).toBe(204)
  const twice = await ana.post(rules, {
    package_name_pattern: 'Locked-*',
    package_type: 'generic',
    minimum_access_level_for_push: 'owner',
  })
  expect([twice.status, typeof twice.body.message.error]).toEqual([422, 'string'])
  const none = await ana.post(rules, { package_name_pattern: 'x', package_type: 'generic' })
  expect(none.status).toBe(422)
  expect((await developer.get(rules)).status).toBe(403)
  expect((await ana.get(rules)).body).toHaveLength(1)
  expect((await ana.delete(rule)).status).toBe(204)
  expect((await ana.get(rules)).body).toEqual([])
})

test('a cleanup policy keeps only the newest files of a name', async () => {
  const { package_id: id } = await publish('tidy', '1', 'f')
  for (let i = 0; i < 3; i += 1) await publish('tidy', '1', 'f')
  await publish('tidy', '1', 'other')
  const policy = `${at}/cleanup/policy`
  expect((await ana.get(policy)).body).toEqual({
    keep_n_duplicated_package_files: 'all',
    next_run_at: null,
  })
  const set = await ana.put(policy, { keep_n_duplicated_package_files: 1 })
  expect(set.body.next_run_at).toBe('2026-05-04T22:00:00.000Z')
  expect((await ana.put(policy, { keep_n_duplicated_package_files: '7' })).status).toBe(400)
  world.setNow('2026-05-04T23:00:00.000Z')
  await world.runTasks()
  const files = (await ana.get(`${at}/${id}/package_files`)).body
  expect(files.map((one: { file_name: string }) => one.file_name)).toEqual(['f', 'other'])
  expect((await ana.get(policy)).body.next_run_at > world.ctx.now()).toBe(true)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('what a job publishes carries its pipeline', async () => {
  const { db } = world.ctx
  const now = world.ctx.now()
  const { package_id: id } = await publish('built', '1')
  const pipeline = await db
    .insertInto('pipelines')
    .values({
      iid: 1,
      project_id: projectId,
      sha: 'a'.repeat(40),
      ref: 'main',
      source: 'push',
      status: 'success',
      user_id: ana.id,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('package_pipelines')
    .values({ package_id: id, pipeline_id: pipeline.id })
    .execute()
  const shown = (await ana.get(`${at}/${id}`)).body
  expect(shown.pipelines).toMatchObject([{ id: pipeline.id, user: { username: 'ana' } }])
  expect(shown.pipeline.id).toBe(pipeline.id)
  expect((await ana.get(`${at}/${id}/pipelines`)).body).toHaveLength(1)
  expect((await ana.get(`${at}/${id}/pipelines?per_page=21`)).status).toBe(400)
})
