import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, pushImage } from './push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const developer = useCaller(world, 'dev')
const guest = useCaller(world, 'guest')
let groupId: number
let projectId: number
let at: string

beforeAll(async () => {
  groupId = (await createGroup(ana, 'g')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/registry/repositories`
  for (const [who, access_level] of [
    [developer, 30],
    [guest, 10],
  ] as const) {
    await ana.post(`/projects/${projectId}/members`, { user_id: who.id, access_level })
  }
})

const names = (body: readonly { readonly name: string }[]) => body.map((one) => one.name)

async function repositoryOf(name: string): Promise<number> {
  const { body } = await ana.get(at)
  return body.find((one: { name: string }) => one.name === name).id
}

test('repositories of images are listed for projects and groups, with tags when asked', async () => {
  expect((await ana.get(at)).body).toEqual([])
  const { digest, config } = await pushImage(world, ana, 'g/p/app', 'v1')
  await pushImage(world, ana, 'g/p/app', 'latest')
  const id = await repositoryOf('app')
  const host = new URL(world.ctx.config.externalUrl).host
  const now = world.ctx.now()
  const row = {
    id,
    name: 'app',
    path: 'g/p/app',
    project_id: projectId,
    location: `${host}/g/p/app`,
    created_at: now,
    cleanup_policy_started_at: null,
    status: null,
  }
  expect((await ana.get(at)).body).toEqual([row])
  const [full] = (await ana.get(`${at}?tags=true&size=true`)).body
  const tags = ['latest', 'v1'].map((name) => ({
    name,
    path: `g/p/app:${name}`,
    location: `${host}/g/p/app:${name}`,
  }))
  expect(full).toEqual({ ...row, tags_count: 2, size: expect.any(Number), tags })
  expect((await ana.get(`/registry/repositories/${id}?tags_count=true`)).body).toEqual({
    ...row,
    tags_count: 2,
  })
  const inGroup = await ana.get(`/groups/${groupId}/registry/repositories?tags_count=true`)
  expect(inGroup.body).toEqual([{ ...row, tags_count: 2 }])
  expect((await ana.get(`${at}/${id}/tags?per_page=1&page=2`)).body).toEqual([tags[1]])
  const one = await ana.get(`${at}/${id}/tags/v1`)
  const revision = config.slice('sha256:'.length)
  expect(one.body).toEqual({
    ...tags[1],
    digest,
    revision,
    short_revision: revision.slice(0, 9),
    created_at: now,
    total_size: expect.any(Number),
  })
  expect((await ana.get(`${at}/${id}/tags/none`)).status).toBe(404)
})

test('guests read what a private project holds, and strangers learn nothing of it', async () => {
  const id = await repositoryOf('app')
  const stranger = await world.user('stranger')
  for (const path of [
    at,
    `${at}/${id}/tags`,
    `${at}/${id}/tags/v1`,
    `/registry/repositories/${id}`,
  ]) {
    expect([(await guest.get(path)).status, (await stranger.get(path)).status]).toEqual([200, 404])
  }
  const other = (await createProject(ana, 'other')).id
  const elsewhere = `/projects/${other}/registry/repositories/${id}`
  expect((await ana.get(`${elsewhere}/tags`)).status).toBe(404)
  expect((await ana.delete(elsewhere)).status).toBe(404)
  await ana.put(`/projects/${projectId}`, { container_registry_access_level: 'disabled' })
  expect((await ana.get(at)).status).toBe(403)
  expect((await ana.get(`/groups/${groupId}/registry/repositories`)).body).toEqual([])
  await ana.put(`/projects/${projectId}`, { container_registry_access_level: 'enabled' })
})

test('developers delete a tag, and with it the image that no other tag is at', async () => {
  const { digest } = await pushImage(world, ana, 'g/p/single', 'a', 'same')
  await pushImage(world, ana, 'g/p/single', 'b', 'other')
  const tag = `${at}/${await repositoryOf('single')}/tags/a`
  expect((await guest.delete(tag)).status).toBe(403)
  expect((await developer.delete(tag)).status).toBe(200)
  expect((await developer.delete(tag)).status).toBe(404)
  const gone = await askRegistry(world, ana, 'GET', `g/p/single/manifests/${digest}`)
  expect(gone.status).toBe(404)
  expect((await askRegistry(world, ana, 'GET', 'g/p/single/manifests/b')).status).toBe(200)
})

test('maintainers delete the tags whose names match, once an hour', async () => {
  for (const tag of ['1.0', '1.1', '1.2', 'keep-1', 'latest']) {
    await pushImage(world, ana, 'g/p/bulk', tag)
  }
  const tags = `${at}/${await repositoryOf('bulk')}/tags`
  expect((await ana.delete(tags)).status).toBe(400)
  expect((await ana.delete(`${tags}?name_regex_delete=(`)).status).toBe(400)
  expect((await ana.delete(`${tags}?name_regex_delete=.*&older_than=soon`)).status).toBe(400)
  const wanted = `${tags}?name_regex_delete=.*&name_regex_keep=keep.*&keep_n=1`
  expect((await developer.delete(wanted)).status).toBe(403)
  expect((await ana.delete(wanted)).status).toBe(202)
  expect((await ana.delete(wanted)).status).toBe(400)
  await world.runTasks()
  expect(names((await ana.get(tags)).body)).toEqual(['1.2', 'keep-1', 'latest'])
  world.setNow('2026-05-04T12:00:00.000Z')
  expect((await ana.delete(`${tags}?name_regex_delete=.*&older_than=1d`)).status).toBe(202)
  await world.runTasks()
  expect((await ana.get(tags)).body).toHaveLength(3)
})

test('a repository is deleted in the background; meanwhile nobody reads or pushes', async () => {
  const { digest } = await pushImage(world, ana, 'g/p/old', 'v1')
  const id = await repositoryOf('old')
  expect((await developer.delete(`${at}/${id}`)).status).toBe(403)
  expect((await ana.delete(`${at}/${id}`)).status).toBe(202)
  const shown = (await ana.get(`/registry/repositories/${id}`)).body
  expect(shown.status).toBe('delete_scheduled')
  const manifest = await askRegistry(world, ana, 'GET', `g/p/old/manifests/${digest}`)
  expect(manifest.status).toBe(404)
  expect((await pushImage(world, ana, 'g/p/old', 'v2')).answer.status).toBe(403)
  await world.runTasks()
  expect((await ana.get(`/registry/repositories/${id}`)).status).toBe(404)
  expect((await pushImage(world, ana, 'g/p/old', 'v2')).answer.status).toBe(201)
})

test('a rule keeps tags to those of a level, whichever way they are pushed or deleted', async () => {
  const rules = `/projects/${projectId}/registry/protection/tag/rules`
  const levels = {
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'owner',
  }
  expect((await developer.get(rules)).status).toBe(403)
  expect((await ana.post(rules, { tag_name_pattern: '(', ...levels })).status).toBe(400)
  const made = await ana.post(rules, { tag_name_pattern: '^v\\d', ...levels })
  expect(made).toMatchObject({ status: 201, body: { tag_name_pattern: '^v\\d', ...levels } })
  expect((await ana.post(rules, { tag_name_pattern: '^v\\d', ...levels })).status).toBe(422)
  const name = 'g/p/ruled'
  expect((await pushImage(world, developer, name, 'v1')).answer.status).toBe(403)
  const { answer, digest } = await pushImage(world, ana, name, 'v1')
  expect(answer.status).toBe(201)
  expect((await pushImage(world, developer, name, 'dev')).answer.status).toBe(201)
  const id = await repositoryOf('ruled')
  expect((await developer.delete(`${at}/${id}/tags/v1`)).status).toBe(403)
  for (const reference of ['v1', digest]) {
    const path = `${name}/manifests/${reference}`
    expect((await askRegistry(world, developer, 'DELETE', path)).status).toBe(403)
  }
  const bulk = `${at}/${id}/tags?name_regex_delete=.*`
  expect((await ana.delete(bulk)).status).toBe(202)
  await world.runTasks()
  expect(names((await ana.get(`${at}/${id}/tags`)).body)).toEqual(['v1'])
  const rule = `${rules}/${made.body.id}`
  const changed = await ana.patch(rule, { minimum_access_level_for_delete: 'admin' })
  expect(changed.body.minimum_access_level_for_delete).toBe('admin')
  expect((await ana.delete(`${at}/${id}`)).status).toBe(403)
  expect((await world.root.delete(`${at}/${id}/tags/v1`)).status).toBe(200)
  for (let i = 1; i < 5; i += 1) await ana.post(rules, { tag_name_pattern: `x${i}`, ...levels })
  expect((await ana.post(rules, { tag_name_pattern: 'x5', ...levels })).status).toBe(422)
  expect((await ana.get(rules)).body).toHaveLength(5)
  expect((await ana.delete(rule)).status).toBe(204)
  expect((await pushImage(world, developer, name, 'v1')).answer.status).toBe(201)
})

test('a rule keeps what its tags are made of, through an index too', async () => {
  const { id } = await createProject(ana, 'whole', { namespace_id: groupId })
  await ana.post(`/projects/${id}/members`, { user_id: developer.id, access_level: 30 })
  const name = 'g/whole'
  const image = await pushImage(world, ana, name, 'loose')
  const type = 'application/vnd.oci.image.index.v1+json'
  const manifests = [{ mediaType: type, digest: image.digest, size: 1 }]
  const index = JSON.stringify({ schemaVersion: 2, mediaType: type, manifests })
  const headers = { 'Content-Type': type }
  const put = await askRegistry(world, ana, 'PUT', `${name}/manifests/v1`, index, headers)
  expect(put.status).toBe(201)
  const levels = {
    minimum_access_level_for_push: 'owner',
    minimum_access_level_for_delete: 'owner',
  }
  const rules = `/projects/${id}/registry/protection/tag/rules`
  const rule = await ana.post(rules, { tag_name_pattern: '^v', ...levels })
  const parts = [`${name}/blobs/${image.config}`, `${name}/manifests/${image.digest}`]
  for (const path of parts) {
    expect((await askRegistry(world, developer, 'DELETE', path)).status).toBe(403)
    expect((await askRegistry(world, developer, 'GET', path)).status).toBe(200)
  }
  expect((await ana.delete(`${rules}/${rule.body.id}`)).status).toBe(204)
  for (const path of parts) {
    expect((await askRegistry(world, developer, 'DELETE', path)).status).toBe(202)
  }
})

test('a cleanup policy deletes old tags by itself at its cadence, and their blobs in the end', async () => {
  world.setNow('2026-05-04T14:00:00.000Z')
  const { body: project } = await ana.post('/projects', { name: 'tidy', namespace_id: groupId })
  expect(project.container_expiration_policy).toEqual({
    enabled: false,
    cadence: '1d',
    keep_n: 10,
    older_than: '90d',
    name_regex: '.*',
    name_regex_keep: null,
    next_run_at: null,
  })
  const path = `/projects/${project.id}`
  const wrong = { container_expiration_policy_attributes: { cadence: '2d' } }
  expect((await ana.put(path, wrong)).status).toBe(400)
  const values = { enabled: true, keep_n: 1, older_than: '7d', name_regex_keep: 'release-.*' }
  const set = await ana.put(path, { container_expiration_policy_attributes: values })
  expect(set.body.container_expiration_policy).toMatchObject({ ...values, cadence: '1d' })
  for (const tag of ['old-1', 'old-2', 'release-1', 'latest']) {
    await pushImage(world, ana, 'g/tidy/app', tag)
  }
  await world.runTasks()
  const planned = (await ana.get(path)).body.container_expiration_policy.next_run_at
  expect(planned > world.ctx.now()).toBe(true)
  world.setNow('2026-05-12T12:00:00.000Z')
  await pushImage(world, ana, 'g/tidy/app', 'new')
  const before = (await ana.get(`${path}?statistics=true`)).body.statistics.container_registry_size
  await world.runTasks()
  const [repository] = (await ana.get(`${path}/registry/repositories?tags=true`)).body
  expect(names(repository.tags)).toEqual(['latest', 'new', 'release-1'])
  expect(repository.cleanup_policy_started_at).not.toBeNull()
  world.setNow('2026-05-14T12:00:00.000Z')
  await world.runTasks()
  const after = (await ana.get(`${path}?statistics=true`)).body.statistics.container_registry_size
  expect(after).toBeLessThan(before)
  const off = { container_expiration_policy_attributes: { enabled: false } }
  const kept = (await ana.put(path, off)).body.container_expiration_policy
  expect(kept).toMatchObject({ enabled: false, keep_n: 1, name_regex_keep: 'release-.*' })
})

test('tags are paged by number or by the last name, in either order', async () => {
  for (const tag of ['b', 'a', 'C', 'd', 'e']) await pushImage(world, ana, 'g/p/paged', tag)
  const tags = `${at}/${await repositoryOf('paged')}/tags`
  const byNumber = await ana.get(`${tags}?per_page=2&page=3&sort=desc`)
  expect([names(byNumber.body), byNumber.headers.get('x-total')]).toEqual([['C'], '5'])
  for (const [sort, expected] of [
    ['asc', ['C', 'a', 'b', 'd', 'e']],
    ['desc', ['e', 'd', 'b', 'a', 'C']],
  ] as const) {
    const seen: string[] = []
    let path: string | undefined = `${tags}?pagination=keyset&order_by=name&sort=${sort}&per_page=2`
    while (path !== undefined) {
      const page: Awaited<ReturnType<Caller['get']>> = await ana.get(path)
      expect([page.status, page.headers.get('x-total')]).toEqual([200, null])
      seen.push(...names(page.body))
      const link = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
      path = link?.slice(link.indexOf('/api/v4') + '/api/v4'.length)
    }
    expect(seen).toEqual(expected)
  }
  const refused = await ana.get(`${tags}?pagination=keyset&order_by=created_at`)
  expect([refused.status, refused.body]).toEqual([
    405,
    { error: 'Keyset pagination is not yet available for this type of request' },
  ])
})

test('the deletion of many tags says that it was taken on, or why not', async () => {
  await pushImage(world, ana, 'g/p/worded', 'a')
  const tags = `${at}/${await repositoryOf('worded')}/tags`
  const asked = async (query: string) => {
    const { status, body } = await ana.delete(tags + query)
    return [status, body]
  }
  expect(await asked('')).toEqual([400, { error: 'name_regex_delete is missing' }])
  expect(await asked('?name_regex_delete=(')).toEqual([
    400,
    { error: 'name_regex_delete is invalid' },
  ])
  expect(await asked('?name_regex_delete=a&keep_n=-1')).toEqual([
    400,
    { error: 'keep_n does not have a valid value' },
  ])
  expect(await asked('?name_regex_delete=a')).toEqual([202, { message: '202 Accepted' }])
})

test('very many tags are counted, and ten thousand shown of all repositories together', async () => {
  const { id } = await createProject(ana, 'many', { namespace_id: groupId })
  const path = `/projects/${id}/registry/repositories`
  for (const name of ['first', 'second']) {
    await pushImage(world, ana, `g/many/${name}`, 'v', 'layer')
    await sql`
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000)
      INSERT INTO container_tags (repository_id, name, digest, total_size, created_at)
      SELECT t.repository_id, 'n' || n, t.digest, 10, t.created_at FROM container_tags t, numbers
      WHERE t.id = (SELECT max(id) FROM container_tags)`.execute(world.ctx.db)
  }
  const both = (await ana.get(`${path}?tags=true`)).body
  expect(both.map((row: { tags: unknown[] }) => row.tags.length)).toEqual([5000, 5000])
  const one = (await ana.get(`/registry/repositories/${both[0].id}?tags=true`)).body
  expect([one.tags_count, one.tags.length]).toEqual([12_001, 10_000])
  expect(names(one.tags.slice(0, 3))).toEqual(['n1', 'n10', 'n100'])
})

test('tags and their sizes are counted as they come, move and go', async () => {
  const name = 'g/p/counted'
  const shown = async () => {
    const path = `/registry/repositories/${await repositoryOf('counted')}`
    const { tags_count, size } = (await ana.get(`${path}?tags_count=true&size=true`)).body
    const { body } = await ana.get(`${at}/${await repositoryOf('counted')}/tags`)
    let sum = 0
    for (const tag of names(body)) {
      const one = await ana.get(`${at}/${await repositoryOf('counted')}/tags/${tag}`)
      sum += one.body.total_size
    }
    expect([tags_count, size]).toEqual([body.length, sum])
    return size
  }
  await pushImage(world, ana, name, 'a')
  await pushImage(world, ana, name, 'b')
  const before = await shown()
  await pushImage(world, ana, name, 'a', 'a longer layer than that of before')
  expect(await shown()).toBeGreaterThan(before)
  await ana.delete(`${at}/${await repositoryOf('counted')}/tags/a`)
  expect(await shown()).toBeLessThan(before)
})
