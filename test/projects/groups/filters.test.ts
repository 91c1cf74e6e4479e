import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const ids: Record<string, number> = {}

async function make(name: string, path: string, parent?: string, more = {}) {
  const parent_id = parent && ids[parent]
  ids[path] = (await createGroup(ana, path, { name, parent_id, ...more })).id
}

beforeAll(async () => {
  await make('Zoo', 'animals', undefined, { visibility: 'public' })
  await make('Cats', 'felines', 'animals', { visibility: 'internal' })
  await make('Lions', 'lions', 'felines')
  await make('Art', 'gallery')
})

/** The paths of a list, in its order. */
async function paths(caller: Caller, query = '', path = '/groups'): Promise<string[]> {
  const { status, body } = await caller.get(`${path}?${query}`)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body.map((one: { path: string }) => one.path)
}

describe('groups are listed', () => {
  test.each([
    ['', ['gallery', 'felines', 'lions', 'animals']],
    ['sort=desc', ['animals', 'lions', 'felines', 'gallery']],
    ['order_by=path', ['animals', 'felines', 'gallery', 'lions']],
    ['order_by=id&sort=desc', ['gallery', 'lions', 'felines', 'animals']],
    ['top_level_only=true', ['gallery', 'animals']],
    ['visibility=internal', ['felines']],
    ['search=LION', ['lions']],
    ['search=animals%2Ffel', ['felines', 'lions']],
    ['search=li&order_by=similarity', ['lions', 'felines']],
    ['search=_', []],
    ['page=2&per_page=3', ['animals']],
  ])('by %j', async (query, expected) => {
    const found = await paths(ana, query)
    if (query.includes('similarity')) expect(found[0]).toBe(expected[0])
    else expect(found).toEqual(expected)
  })

  test('without those that are not wanted', async () => {
    expect(await paths(ana, `skip_groups[]=${ids.animals}&skip_groups[]=${ids.lions}`)).toEqual([
      'gallery',
      'felines',
    ])
    expect(await paths(ana, `skip_groups=${ids.animals},${ids.lions}`)).toEqual([
      'gallery',
      'felines',
    ])
  })

  test('by what one is in them', async () => {
    await ana.post(`/groups/${ids.felines}/members`, { user_id: ben.id, access_level: 30 })
    expect(await paths(ben)).toEqual(['felines', 'lions', 'animals'])
    expect(await paths(ben, 'min_access_level=30')).toEqual(['felines', 'lions'])
    expect(await paths(ben, 'min_access_level=40')).toEqual([])
    expect(await paths(ben, 'owned=true')).toEqual([])
    expect(await paths(ana, 'owned=true')).toHaveLength(4)
    await ana.delete(`/groups/${ids.felines}/members/${ben.id}`)
    expect(await paths(ben)).toEqual(['felines', 'animals'])
    expect(await paths(ben, 'all_available=false')).toEqual([])
    expect(await paths(world.nobody)).toEqual(['animals'])
  })

  test('while they are archived, with all below', async () => {
    await ana.post(`/groups/${ids.felines}/archive`)
    expect(await paths(ana, 'archived=true')).toEqual(['felines', 'lions'])
    expect(await paths(ana, 'archived=false')).toEqual(['gallery', 'animals'])
    expect(await paths(ana, 'active=true')).toEqual(['gallery', 'animals'])
    expect(await paths(ana, 'active=false')).toEqual(['felines', 'lions'])
    await ana.post(`/groups/${ids.felines}/unarchive`)
  })

  test('by attributes and storage only for administrators', async () => {
    const { root } = world
    await root.put(`/groups/${ids.gallery}/custom_attributes/floor`, { value: '2' })
    expect(await paths(root, 'custom_attributes[floor]=2')).toEqual(['gallery'])
    expect(await paths(root, 'custom_attributes[floor]=3')).toEqual([])
    expect(await paths(ana, 'custom_attributes[floor]=3')).toHaveLength(4)
    expect(await paths(root, 'repository_storage=elsewhere')).toEqual([])
    const [shown] = (await root.get('/groups?search=gallery&with_custom_attributes=true')).body
    expect(shown.custom_attributes).toEqual([{ key: 'floor', value: '2' }])
    const single = await root.get(`/groups/${ids.gallery}?with_custom_attributes=true`)
    expect(single.body.custom_attributes).toEqual([{ key: 'floor', value: '2' }])
    const hidden = await ana.get(`/groups/${ids.gallery}?with_custom_attributes=true`)
    expect(hidden.body.custom_attributes).toBeUndefined()
  })

  test('with statistics for their owners and for administrators', async () => {
    const made = await createProject(ana, 'p', { namespace_id: ids.lions })
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(500)]), 'a.bin')
    await ana.post(`/projects/${made.id}/uploads`, undefined, { raw: form })
    for (const caller of [ana, world.root]) {
      const [zoo] = (await caller.get('/groups?statistics=true&search=Zoo')).body
      expect(zoo.statistics).toMatchObject({ uploads_size: 500, storage_size: 500 })
      expect((await caller.get('/groups?search=Zoo')).body[0].statistics).toBeUndefined()
    }
    await ana.post(`/groups/${ids.animals}/members`, { user_id: ben.id, access_level: 40 })
    const [zoo] = (await ben.get('/groups?statistics=true&search=Zoo')).body
    expect(zoo.statistics).toBeUndefined()
    await ana.delete(`/groups/${ids.animals}/members/${ben.id}`)
  })

  test.each([
    ['order_by=size', 'order_by does not have a valid value'],
    ['visibility=x', 'visibility does not have a valid value'],
    ['min_access_level=x', 'min_access_level is invalid'],
    ['skip_groups[]=x', 'skip_groups is invalid'],
    ['owned=x', 'owned is invalid'],
  ])('not with %s', async (query, error) => {
    const reply = await ana.get(`/groups?${query}`)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })
})

describe('groups below a group', () => {
  test('are listed with the filters of groups, as far as the caller sees them', async () => {
    const children = `/groups/${ids.animals}/subgroups`
    const all = `/groups/${ids.animals}/descendant_groups`
    expect(await paths(ana, '', children)).toEqual(['felines'])
    expect(await paths(ana, 'sort=desc', all)).toEqual(['lions', 'felines'])
    expect(await paths(ana, `skip_groups[]=${ids.felines}`, all)).toEqual(['lions'])
    expect(await paths(ana, 'search=lio', all)).toEqual(['lions'])
    expect(await paths(ana, 'owned=true', children)).toEqual(['felines'])
    expect(await paths(ben, '', all)).toEqual(['felines'])
    expect(await paths(world.nobody, '', all)).toEqual([])
    expect((await ben.get(`/groups/${ids.lions}/subgroups`)).body).toEqual({
      message: '404 Group Not Found',
    })
  })
})

describe('a group', () => {
  test('is changed to hold what is below it only as far as that is less visible', async () => {
    const lower = await ana.put(`/groups/${ids.animals}`, { visibility: 'private' })
    expect([lower.status, lower.body]).toEqual([
      400,
      {
        message: {
          visibility_level: [
            'private is not allowed since there are sub-groups with higher visibility.',
          ],
        },
      },
    ])
    // One that is deleted holds nothing up, though it is cleared away later.
    await make('Dogs', 'dogs', 'gallery')
    await ana.put(`/groups/${ids.gallery}`, { visibility: 'public' })
    await ana.put(`/groups/${ids.dogs}`, { visibility: 'public' })
    await ana.delete(`/groups/${ids.dogs}`)
    expect((await ana.put(`/groups/${ids.gallery}`, { visibility: 'private' })).status).toBe(200)
  })

  test('is no more visible than its parent', async () => {
    const raised = await ana.put(`/groups/${ids.lions}`, { visibility: 'public' })
    expect([raised.status, raised.body]).toEqual([
      400,
      {
        message: {
          visibility_level: [
            'public is not allowed since the parent group has a internal visibility.',
          ],
        },
      },
    ])
  })

  test('is found by its whole path only', async () => {
    const one = await ana.get(`/groups/${encodeURIComponent('animals/felines/lions')}`)
    expect(one.body).toMatchObject({
      id: ids.lions,
      full_name: 'Zoo / Cats / Lions',
      full_path: 'animals/felines/lions',
      parent_id: ids.felines,
      web_url: `${world.app.config.externalUrl}/groups/animals/felines/lions`,
      ldap_cn: null,
      organization_id: 1,
    })
    expect((await ana.get('/groups/lions')).status).toBe(404)
    expect((await ana.get('/groups/ana')).status).toBe(404)
  })
})
