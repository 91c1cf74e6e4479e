import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { pushImage } from './push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let repositoryId: number
let at: string

beforeAll(async () => {
  const group = { name: 'acme', path: 'acme', visibility: 'public' }
  groupId = (await ana.post('/groups', group)).body.id
  projectId = await newProject('p')
  await pushImage(world, ana, 'acme/p/app', 'v1')
  at = `/projects/${projectId}/registry/repositories`
  repositoryId = await repositoryOf(projectId, 'app')
})

async function newProject(path: string, more: object = {}): Promise<number> {
  const body = { name: path, namespace_id: groupId, visibility: 'private', ...more }
  const made = await ana.post('/projects', body)
  expect(made.status).toBe(201)
  return made.body.id
}

async function repositoryOf(project: number, name: string): Promise<number> {
  const { body } = await ana.get(`/projects/${project}/registry/repositories?per_page=100`)
  return body.find((one: { name: string }) => one.name === name).id
}

const rule = {
  tag_name_pattern: '^none',
  minimum_access_level_for_push: 'maintainer',
  minimum_access_level_for_delete: 'maintainer',
}
const rules = () => `/projects/${projectId}/registry/protection/tag/rules`

const reads = () => [
  at,
  `/registry/repositories/${repositoryId}`,
  `${at}/${repositoryId}/tags`,
  `${at}/${repositoryId}/tags/v1`,
]
/** What Maintainers do; refused to all others, it changes nothing. */
const changes = () =>
  [
    ['DELETE', `${at}/${repositoryId}/tags?name_regex_delete=none`, undefined],
    ['GET', rules(), undefined],
    ['POST', rules(), rule],
    ['PATCH', `${rules()}/1`, rule],
    ['DELETE', `${rules()}/1`, undefined],
    ['DELETE', `${at}/${repositoryId}`, undefined],
  ] as const

describe('repositories of images', () => {
  test.each([
    ['Guest', 10],
    ['Planner', 15],
    ['Reporter', 20],
    ['Developer', 30],
  ])('are read by a %s, and managed by Maintainers', async (name, level) => {
    const who = await world.user(name.toLowerCase())
    await addMember(world, projectId, who.id, level)
    for (const path of reads()) expect([path, (await who.get(path)).status]).toEqual([path, 200])
    for (const [method, path, body] of changes()) {
      const { status } = await who.call(method, path, body)
      expect([method, path, status]).toEqual([method, path, 403])
    }
    await pushImage(world, ana, 'acme/p/app', `of-${level}`)
    const one = await who.delete(`${at}/${repositoryId}/tags/of-${level}`)
    expect(one.status).toBe(level < 30 ? 403 : 200)
  })

  test('of a private project are nothing to strangers and to nobody', async () => {
    const stranger = await world.user('stranger')
    for (const path of reads()) {
      expect([path, (await stranger.get(path)).status]).toEqual([path, 404])
      expect([path, (await world.nobody.get(path)).status]).toEqual([path, 404])
    }
    for (const [method, path, body] of changes()) {
      expect([path, (await stranger.call(method, path, body)).status]).toEqual([path, 404])
      const { status } = await world.nobody.call(method, path, body)
      expect([path, status === 401 || status === 404]).toEqual([path, true])
    }
  })

  test('of a public project are everybody’s to read', async () => {
    const id = await newProject('open', { visibility: 'public' })
    await pushImage(world, ana, 'acme/open/app', 'v1')
    const repository = await repositoryOf(id, 'app')
    const root = `/projects/${id}/registry/repositories`
    const stranger = await world.user('openstranger')
    for (const path of [
      root,
      `/registry/repositories/${repository}`,
      `${root}/${repository}/tags/v1`,
    ]) {
      expect([path, (await world.nobody.get(path)).status]).toEqual([path, 200])
    }
    expect((await stranger.delete(`${root}/${repository}/tags/v1`)).status).toBe(403)
    expect((await world.nobody.delete(`${root}/${repository}/tags/v1`)).status).toBe(401)
    expect((await world.nobody.delete(`${root}/${repository}`)).status).toBe(401)
    await ana.put(`/projects/${id}`, { container_registry_access_level: 'private' })
    expect((await stranger.get(root)).status).toBe(403)
    expect((await stranger.get(`/registry/repositories/${repository}`)).status).toBe(403)
    expect((await ana.get(root)).status).toBe(200)
  })

  test('of an archived project are read, and nobody deletes from them', async () => {
    const id = await newProject('old')
    await pushImage(world, ana, 'acme/old/app', 'v1')
    const repository = await repositoryOf(id, 'app')
    await ana.post(`/projects/${id}/archive`)
    const root = `/projects/${id}/registry/repositories`
    expect((await ana.get(`${root}/${repository}/tags/v1`)).status).toBe(200)
    for (const path of [
      `${root}/${repository}/tags/v1`,
      `${root}/${repository}/tags?name_regex_delete=.*`,
      `${root}/${repository}`,
    ]) {
      expect([path, (await ana.delete(path)).status]).toEqual([path, 403])
    }
  })

  test('are asked for by tokens that may read images, and deleted by those for everything', async () => {
    const as = async (scopes: readonly string[]) => world.as(await world.token(ana.id, scopes))
    for (const [scopes, read] of [
      [['read_api'], 200],
      [['read_registry'], 200],
      [['write_registry'], 403],
      [['read_repository'], 403],
    ] as const) {
      const who = await as(scopes)
      for (const path of reads()) {
        expect([scopes, path, (await who.get(path)).status]).toEqual([scopes, path, read])
      }
      expect((await who.delete(`${at}/${repositoryId}/tags/v1`)).status).toBe(403)
      expect((await who.delete(`${at}/${repositoryId}`)).status).toBe(403)
    }
    const scopes = ['read_registry', 'write_registry']
    const { token } = (
      await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 'd', scopes })
    ).body
    for (const path of reads()) {
      expect((await world.withHeader('DEPLOY-TOKEN', token).get(path)).status).toBe(401)
    }
  })

  test('are found by their number in their own project alone', async () => {
    const other = await newProject('other')
    const elsewhere = `/projects/${other}/registry/repositories`
    for (const path of [
      `${elsewhere}/${repositoryId}/tags`,
      `${elsewhere}/${repositoryId}/tags/v1`,
      `${at}/999999/tags`,
      '/registry/repositories/999999',
    ]) {
      const answer = await ana.get(path)
      expect([path, answer.status, answer.body]).toEqual([
        path,
        404,
        { message: '404 Repository Not Found' },
      ])
    }
    for (const id of ['x', '-1', '1.5']) {
      expect([400, 404]).toContain((await ana.get(`${at}/${id}/tags`)).status)
      expect([400, 404]).toContain((await ana.get(`/registry/repositories/${id}`)).status)
    }
    const missing = await ana.get(`${at}/${repositoryId}/tags/none`)
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Tag Not Found' }])
    expect((await ana.delete(`${at}/${repositoryId}/tags/none`)).status).toBe(404)
  })
})

describe('the list', () => {
  test('comes in pages, the older before the newer, with as much as is asked for', async () => {
    const id = await newProject('many')
    for (const name of ['c', 'a', 'b']) await pushImage(world, ana, `acme/many/${name}`, 'v1', name)
    await pushImage(world, ana, 'acme/many', 'root', 'r')
    const root = `/projects/${id}/registry/repositories`
    const first = await ana.get(`${root}?per_page=3`)
    expect(first.body.map((one: { name: string }) => one.name)).toEqual(['c', 'a', 'b'])
    expect([first.headers.get('x-total'), first.headers.get('x-next-page')]).toEqual(['4', '2'])
    const [last] = (await ana.get(`${root}?per_page=3&page=2&tags=1&tags_count=1&size=1`)).body
    const host = new URL(world.ctx.config.externalUrl).host
    expect(last).toMatchObject({
      name: '',
      path: 'acme/many',
      location: `${host}/acme/many`,
      tags_count: 1,
      tags: [{ name: 'root', path: 'acme/many:root', location: `${host}/acme/many:root` }],
    })
    expect(last.size).toBeGreaterThan(0)
    const plain = (await ana.get(`${root}?per_page=1`)).body[0]
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(['tags']))
    expect([plain.tags_count, plain.size, plain.tags]).toEqual([undefined, undefined, undefined])
    expect((await ana.get(`${root}?tags=maybe`)).status).toBe(400)
  })

  test('of a group holds what its reader sees of the projects below it', async () => {
    const group = { name: 'tree', path: 'tree', visibility: 'public' }
    const top = (await ana.post('/groups', group)).body.id
    const below = { name: 'low', path: 'low', parent_id: top, visibility: 'public' }
    const sub = (await ana.post('/groups', below)).body.id
    const shown = await newProject('shown', { namespace_id: sub, visibility: 'public' })
    const hidden = await newProject('hidden', { namespace_id: top })
    const off = await newProject('off', { namespace_id: top, visibility: 'public' })
    await pushImage(world, ana, 'tree/low/shown', 'v1')
    await pushImage(world, ana, 'tree/hidden', 'v1')
    await pushImage(world, ana, 'tree/off', 'v1')
    await ana.put(`/projects/${off}`, { container_registry_access_level: 'disabled' })
    const list = async (who: Caller) => {
      const { body, headers } = await who.get(
        `/groups/${top}/registry/repositories?tags_count=true`,
      )
      const ids = body.map((one: { project_id: number }) => one.project_id)
      expect(headers.get('x-total')).toBe(String(ids.length))
      return ids
    }
    expect(await list(ana)).toEqual([shown, hidden])
    const reader = await world.user('treereader')
    expect(await list(reader)).toEqual([shown])
    await addMember(world, hidden, reader.id, 10)
    expect(await list(reader)).toEqual([shown, hidden])
    await ana.delete(`/projects/${shown}`)
    expect(await list(ana)).toEqual([hidden])
  })
})
