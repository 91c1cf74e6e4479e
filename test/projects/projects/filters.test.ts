import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const ids: Record<string, number> = {}
let top: { id: number; full_path: string }
let sub: { id: number; full_path: string }

async function make(caller: Caller, name: string, more: Record<string, unknown> = {}) {
  const { id } = await createProject(caller, name, more)
  ids[name] = id
}

beforeAll(async () => {
  top = await createGroup(ana, 'top')
  sub = await createGroup(ana, 'sub', { parent_id: top.id })
  await make(ana, 'alpha', { visibility: 'public', initialize_with_readme: true })
  await make(ana, 'beta', { namespace_id: top.id })
  await make(ana, 'gamma', { namespace_id: sub.id, merge_requests_enabled: false })
  await make(ana, 'delta', { topics: ['Tea'] })
  await make(ben, 'omega', { visibility: 'public' })
})

const namesOf = (body: { name: string }[]) => body.map((one) => one.name)

/** The names of a list, as text in its order. */
async function names(caller: Caller, query: string, path = '/projects'): Promise<string[]> {
  const { status, body } = await caller.get(`${path}?${query}`)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return namesOf(body)
}

describe('projects are listed', () => {
  test('by what one is in them', async () => {
    await ben.post(`/projects/${ids.alpha}/star`)
    await ana.post(`/projects/${ids.beta}/members`, { user_id: ben.id, access_level: 20 })
    expect(await names(ben, 'sort=asc')).toEqual(['alpha', 'beta', 'omega'])
    expect(await names(ben, 'membership=true&sort=asc')).toEqual(['beta', 'omega'])
    expect(await names(ben, 'owned=true')).toEqual(['omega'])
    expect(await names(ben, 'starred=true')).toEqual(['alpha'])
    expect(await names(ben, 'min_access_level=20&sort=asc')).toEqual(['beta', 'omega'])
    expect(await names(ben, 'min_access_level=30')).toEqual(['omega'])
    const odd = await ben.get('/projects?min_access_level=7')
    expect(odd.body).toEqual({ error: 'min_access_level does not have a valid value' })
    await ana.delete(`/projects/${ids.beta}/members/${ben.id}`)
    expect(await names(ben, 'membership=true')).toEqual(['omega'])
  })

  test('by features, ids and topics', async () => {
    const all = ['alpha', 'beta', 'gamma', 'delta']
    expect(await names(ana, 'membership=true&with_merge_requests_enabled=true&sort=asc')).toEqual(
      all.filter((name) => name !== 'gamma'),
    )
    expect(await names(ana, `membership=true&id_after=${ids.beta}&sort=asc`)).toEqual([
      'gamma',
      'delta',
    ])
    expect(await names(ana, `membership=true&id_before=${ids.beta}`)).toEqual(['alpha'])
    const [topic] = (await ana.get('/topics?search=tea')).body
    expect(await names(ana, `topic_id=${topic.id}`)).toEqual(['delta'])
    expect(await names(ana, 'topic_id=999999')).toEqual([])
    expect(await names(ana, 'topic=tea,none')).toEqual([])
  })

  test('by the language of their code', async () => {
    await ana.post(`/projects/${ids.alpha}/repository/commits`, {
      branch: 'main',
      commit_message: 'Code',
      actions: [{ action: 'create', file_path: 'main.rb', content: 'puts 1\n'.repeat(20) }],
    })
    await world.runTasks()
    expect((await ana.get(`/projects/${ids.alpha}/languages`)).body).toEqual({ Ruby: 100 })
    expect(await names(ana, 'with_programming_language=ruby')).toEqual(['alpha'])
    expect(await names(ana, 'with_programming_language=Rust')).toEqual([])
  })

  test('while they are archived, or by that', async () => {
    await ana.post(`/projects/${ids.delta}/archive`)
    expect(await names(ana, 'archived=true')).toEqual(['delta'])
    expect(await names(ana, 'archived=false&membership=true&sort=asc')).toEqual([
      'alpha',
      'beta',
      'gamma',
    ])
    expect(await names(ana, 'membership=true')).toContain('delta')
    expect(await names(ana, 'active=true')).not.toContain('delta')
    expect(await names(ana, 'active=false')).toEqual(['delta'])
    await ana.post(`/projects/${ids.delta}/unarchive`)
  })

  test('while they wait for their deletion, by its day', async () => {
    await world.root.put('/application/settings', { delayed_project_removal: true })
    await ana.delete(`/projects/${ids.delta}`)
    expect(await names(ana, 'marked_for_deletion_on=2026-05-04')).toEqual(['delta'])
    expect(await names(ana, 'marked_for_deletion_on=2026-05-05')).toEqual([])
    expect(await names(ana, 'active=false')).toEqual(['delta'])
    await ana.post(`/projects/${ids.delta}/restore`)
    expect(await names(ana, 'active=false')).toEqual([])
    await world.root.put('/application/settings', { delayed_project_removal: false })
  })

  test('none by failed checksums, as nothing checks them', async () => {
    for (const filter of ['wiki_checksum_failed', 'repository_checksum_failed']) {
      expect(await names(ana, `${filter}=true`)).toEqual([])
      expect(await names(ana, `${filter}=false`)).toHaveLength(5)
    }
  })

  test('by attributes and storage only for administrators', async () => {
    const { root } = world
    await root.put(`/projects/${ids.beta}/custom_attributes/team`, { value: 'red' })
    expect(await names(root, 'custom_attributes[team]=red')).toEqual(['beta'])
    expect(await names(root, 'custom_attributes[team]=blue')).toEqual([])
    expect(await names(ana, 'custom_attributes[team]=red')).toHaveLength(5)
    expect(await names(root, 'repository_storage=elsewhere')).toEqual([])
    expect(await names(root, 'repository_storage=default')).toHaveLength(5)
    const [shown] = (await root.get('/projects?search=beta&with_custom_attributes=true')).body
    expect(shown.custom_attributes).toEqual([{ key: 'team', value: 'red' }])
    const [hidden] = (await ana.get('/projects?search=beta&with_custom_attributes=true')).body
    expect(hidden.custom_attributes).toBeUndefined()
    expect([shown.repository_storage, hidden.repository_storage]).toEqual(['default', undefined])
  })

  test('by their sizes in the statistics, for administrators', async () => {
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(200_000)]), 'large.bin')
    await ana.post(`/projects/${ids.beta}/uploads`, undefined, { raw: form })
    const body = 'y'.repeat(1000)
    await ana.put(`/projects/${ids.gamma}/packages/generic/a/1/b.bin`, undefined, { raw: body })
    const sorted = async (order: string) =>
      (await world.root.get(`/projects?statistics=true&order_by=${order}`)).body
    const sizes = async (order: string) =>
      (await sorted(order)).map(
        (one: { statistics: Record<string, number> }) => one.statistics[order],
      )
    for (const order of ['storage_size', 'repository_size', 'packages_size', 'wiki_size']) {
      const found = await sizes(order)
      expect(found).toEqual(found.toSorted((one: number, other: number) => other - one))
    }
    expect(namesOf(await sorted('storage_size'))[0]).toBe('beta')
    expect(namesOf(await sorted('packages_size'))[0]).toBe('gamma')
    // Others get the usual order.
    expect(await names(ana, 'order_by=storage_size')).toEqual(await names(ana, ''))
  })

  test('with statistics for those who may read them', async () => {
    const [own] = (await ana.get('/projects?statistics=true&search=beta')).body
    expect(own.statistics.uploads_size).toBe(200_000)
    const [foreign] = (await ben.get('/projects?statistics=true&search=alpha')).body
    expect(foreign.statistics).toBeUndefined()
    expect((await ana.get('/projects?search=beta')).body[0].statistics).toBeUndefined()
  })

  test.each([
    ['order_by=size', 'order_by does not have a valid value'],
    ['sort=up', 'sort does not have a valid value'],
    ['visibility=hidden', 'visibility does not have a valid value'],
    ['archived=maybe', 'archived is invalid'],
    ['id_after=x', 'id_after is invalid'],
    ['last_activity_after=yesterday', 'last_activity_after is invalid'],
    ['per_page=0', 'per_page has a value not allowed'],
    ['page=x', 'page is invalid'],
  ])('not with %s', async (query, error) => {
    const reply = await ana.get(`/projects?${query}`)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })
})

describe('the projects of somebody', () => {
  test('are those in the own namespace, that the caller sees', async () => {
    expect(await names(ana, 'sort=asc', '/users/ana/projects')).toEqual(['alpha', 'delta'])
    expect(await names(ben, '', `/users/${ana.id}/projects`)).toEqual(['alpha'])
    expect(await names(world.nobody, '', '/users/ana/projects')).toEqual(['alpha'])
    expect(await names(ana, 'search=del', '/users/ANA/projects')).toEqual(['delta'])
    expect((await ana.get('/users/nobody-here/projects')).body).toEqual({
      message: '404 User Not Found',
    })
  })

  test('are those contributed to, and those starred', async () => {
    expect(await names(ana, 'sort=asc', '/users/ana/contributed_projects')).toEqual([
      'alpha',
      'beta',
      'gamma',
      'delta',
    ])
    expect(await names(ben, '', '/users/ana/contributed_projects')).toEqual(['alpha'])
    expect(await names(ana, '', '/users/ben/starred_projects')).toEqual(['alpha'])
  })

  test('are kept from others by a private profile', async () => {
    await world.root.put(`/users/${ben.id}`, { private_profile: true })
    for (const list of ['projects', 'starred_projects', 'contributed_projects']) {
      expect((await ana.get(`/users/ben/${list}`)).status).toBe(404)
      expect((await ben.get(`/users/ben/${list}`)).status).toBe(200)
      expect((await world.root.get(`/users/ben/${list}`)).status).toBe(200)
    }
    await world.root.put(`/users/${ben.id}`, { private_profile: false })
  })
})

describe('the projects of a group', () => {
  test('may be those below, above and shared with it', async () => {
    const of = (group: { id: number }, query: string) =>
      names(ana, `order_by=name&sort=asc&${query}`, `/groups/${group.id}/projects`)
    expect(await of(top, '')).toEqual(['beta'])
    expect(await of(top, 'include_subgroups=true')).toEqual(['beta', 'gamma'])
    expect(await of(sub, 'include_ancestor_groups=true')).toEqual(['beta', 'gamma'])
    await ana.post(`/projects/${ids.delta}/share`, { group_id: sub.id, group_access: 30 })
    expect(await of(sub, '')).toEqual(['delta', 'gamma'])
    expect(await of(sub, 'with_shared=false')).toEqual(['gamma'])
    expect(await of(sub, 'with_security_reports=true')).toEqual([])
    expect(await of(sub, 'search=delta&simple=true')).toEqual(['delta'])
    expect(await of(sub, 'min_access_level=50')).toEqual(['delta', 'gamma'])
    expect(await names(ana, '', `/groups/${sub.id}/projects/shared`)).toEqual(['delta'])
    const detail = (await ana.get(`/groups/${sub.id}`)).body
    expect([namesOf(detail.projects), namesOf(detail.shared_projects)]).toEqual([
      ['gamma'],
      ['delta'],
    ])
    await ana.delete(`/projects/${ids.delta}/share/${sub.id}`)
    expect(await of(sub, '')).toEqual(['gamma'])
  })

  test('are no longer those whose share is over', async () => {
    const share = { group_id: sub.id, group_access: 30, expires_at: '2026-05-06' }
    await ana.post(`/projects/${ids.delta}/share`, share)
    world.setNow('2026-05-06T00:00:00.000Z')
    expect(await names(ana, '', `/groups/${sub.id}/projects/shared`)).toEqual([])
    expect(await names(ana, '', `/groups/${sub.id}/projects`)).toEqual(['gamma'])
    const { body } = await ana.get(`/projects/${ids.delta}`)
    expect(body.shared_with_groups).toEqual([])
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.delete(`/projects/${ids.delta}/share/${sub.id}`)
  })
})

describe('forks of a project', () => {
  test('are listed with the filters of projects, as far as the caller sees them', async () => {
    const fork = await ben.post(`/projects/${ids.alpha}/fork`, { name: 'fork', path: 'fork' })
    expect(fork.status).toBe(201)
    await ben.put(`/projects/${fork.body.id}`, { visibility: 'private' })
    const path = `/projects/${ids.alpha}/forks`
    expect(await names(ben, '', path)).toEqual(['fork'])
    expect(await names(ana, '', path)).toEqual([])
    expect(await names(ben, 'visibility=public', path)).toEqual([])
    expect(await names(ben, 'owned=true', path)).toEqual(['fork'])
  })
})

describe('a page of projects', () => {
  test('names its place in headers, and links to the next page with every parameter', async () => {
    const reply = await ana.get('/projects?per_page=2&page=2&order_by=name&sort=asc&simple=true')
    expect(namesOf(reply.body)).toEqual(['delta', 'gamma'])
    const header = (name: string) => reply.headers.get(name)
    expect([header('x-page'), header('x-per-page'), header('x-total')]).toEqual(['2', '2', '5'])
    expect([header('x-prev-page'), header('x-next-page'), header('x-total-pages')]).toEqual([
      '1',
      '3',
      '3',
    ])
    const links = header('link')?.split(', ') ?? []
    expect(links.map((link) => /rel="(\w+)"/.exec(link)?.[1])).toEqual([
      'prev',
      'next',
      'first',
      'last',
    ])
    for (const link of links) {
      expect(link).toContain(`<${world.app.config.externalUrl}/api/v4/projects?`)
      for (const part of ['order_by=name', 'simple=true', 'sort=asc', 'per_page=2']) {
        expect(link).toContain(part)
      }
    }
    const beyond = await ana.get('/projects?page=9')
    expect([beyond.status, beyond.body, beyond.headers.get('x-next-page')]).toEqual([200, [], ''])
    const head = await ana.head('/projects')
    expect([head.status, head.headers.get('x-total'), head.body]).toEqual([200, '5', ''])
  })

  test('is refused by keys in an order that has none', async () => {
    const reply = await ana.get('/projects?pagination=keyset&order_by=name')
    expect([reply.status, reply.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ])
  })
})
