import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { ed25519, rsa } from '../../support/keys.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
let maintainer: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  ben = await world.user('ben')
  maintainer = await world.user('maintainer')
})

let count = 0
let projectId: number
let place: string
const project = async (by: Caller, more: object = {}): Promise<number> => {
  count += 1
  return (await createProject(by, `p${count}`, more)).id
}
const keysOf = (id: number) => `/projects/${id}/deploy_keys`
beforeEach(async () => {
  projectId = await project(ana)
  place = keysOf(projectId)
})

const add = async (path: string, more: object = {}, by = ana) => {
  const made = await by.post(path, { title: 'Deployer', key: ed25519(), ...more })
  expect([made.status, made.body.message]).toEqual([201, undefined])
  return made.body
}
const answer = ({ status, body }: Reply) => [status, body]
const missing = [404, { message: '404 Deploy Key Not Found' }]

describe('a deploy key of a project', () => {
  test('has its defaults, and is the same in the answer to its creation, at its address and in the list', async () => {
    const key = ed25519()
    const made = await ana.post(place, { title: 'Deployer', key })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        title: 'Deployer',
        key: expect.stringContaining(key),
        created_at: '2026-05-04T10:00:00.000Z',
        expires_at: null,
        last_used_at: null,
        usage_type: 'auth_and_signing',
        fingerprint: expect.stringMatching(/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/),
        fingerprint_sha256: expect.stringMatching(/^SHA256:[\w+/]{43}$/),
        can_push: false,
      },
    ])
    expect(answer(await ana.get(`${place}/${made.body.id}`))).toEqual([200, made.body])
    expect((await ana.get(place)).body).toEqual([made.body])
  })

  test('may push and may end, when that is asked', async () => {
    const made = await add(place, { can_push: true, expires_at: '2026-05-04T10:00:01Z' })
    expect(made).toMatchObject({ can_push: true, expires_at: '2026-05-04T10:00:01.000Z' })
    for (const never of [null, '']) {
      expect((await add(place, { expires_at: never })).expires_at).toBeNull()
    }
  })

  test.each([
    [{ can_push: 'perhaps' }, { error: 'can_push is invalid' }],
    [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [
      { title: 'x'.repeat(256) },
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    [
      { key: 'ssh-ed25519 AAAA' },
      { message: { key: ['is invalid'], fingerprint_sha256: ['cannot be generated'] } },
    ],
    [
      { expires_at: '2026-05-04T10:00:00Z' },
      { message: { expires_at: ['must be in the future'] } },
    ],
  ])('is not made with %j', async (wrong, body) => {
    const reply = await ana.post(place, { title: 'x', key: ed25519(), ...wrong })
    expect(answer(reply)).toEqual([400, body])
    expect((await ana.get(place)).body).toEqual([])
  })

  test('is not made without title and key', async () => {
    const reply = await ana.post(place, {})
    expect(answer(reply)).toEqual([400, { error: 'title is missing, key is missing' }])
  })

  test('is as strong and lives as short as administrators ask', async () => {
    await root.put('/application/settings', { rsa_key_restriction: 3072, max_ssh_key_lifetime: 30 })
    const weak = await ana.post(place, {
      title: 'x',
      key: rsa(2048),
      expires_at: '2026-05-05T00:00:00Z',
    })
    expect(answer(weak)).toEqual([400, { message: { key: ['must be at least 3072 bits'] } }])
    const endless = await ana.post(place, { title: 'x', key: ed25519() })
    expect(answer(endless)).toEqual([
      400,
      { message: { key: ['has greater than the maximum allowed expiration date (2026-06-03)'] } },
    ])
    expect((await add(place, { expires_at: '2026-06-03T00:00:00Z' })).id).toBeGreaterThan(0)
    await root.put('/application/settings', { rsa_key_restriction: 0, max_ssh_key_lifetime: null })
  })

  test('is changed in title and right to push, each alone and both together', async () => {
    const made = await add(place)
    const one = `${place}/${made.id}`
    expect(answer(await ana.put(one, { title: 'Two' }))).toEqual([200, { ...made, title: 'Two' }])
    expect((await ana.put(one, { can_push: true })).body).toEqual({
      ...made,
      title: 'Two',
      can_push: true,
    })
    expect((await ana.put(one, { title: 'Three', can_push: false })).body).toEqual({
      ...made,
      title: 'Three',
    })
    expect((await ana.get(one)).body).toEqual({ ...made, title: 'Three' })
  })

  test.each([
    [{}, { error: 'title, can_push are missing, at least one parameter must be provided' }],
    [{ can_push: 'perhaps' }, { error: 'can_push is invalid' }],
    [{ title: '' }, { message: { title: ["can't be blank"] } }],
    [
      { title: 'x'.repeat(256), can_push: true },
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
  ])('is not changed by %j', async (changes, body) => {
    const made = await add(place)
    expect(answer(await ana.put(`${place}/${made.id}`, changes))).toEqual([400, body])
    expect((await ana.get(`${place}/${made.id}`)).body).toEqual(made)
  })

  test('is listed by number, in pages', async () => {
    const ids = []
    for (const title of ['b', 'a', 'c']) ids.push((await add(place, { title })).id)
    const page = await ana.get(`${place}?per_page=2&page=2`)
    expect(page.body.map((one: { id: number }) => one.id)).toEqual([ids[2]])
    expect(page.headers.get('x-total')).toBe('3')
    const sorted = [...ids].sort((one, other) => one - other)
    expect(ids).toEqual(sorted)
  })

  test('is found in its own project alone, by a whole number', async () => {
    const made = await add(place)
    const other = keysOf(await project(ana))
    for (const path of [`${other}/${made.id}`, `${place}/99999`]) {
      expect(answer(await ana.get(path))).toEqual(missing)
      expect(answer(await ana.put(path, { title: 'x' }))).toEqual(missing)
      expect(answer(await ana.delete(path))).toEqual(missing)
    }
    expect(answer(await ana.get(`${place}/x`))).toEqual([400, { error: 'key_id is invalid' }])
    expect((await ana.get(`${place}/${made.id}`)).body).toEqual(made)
  })

  test('is no key of a person: that of somebody is neither linked nor found here', async () => {
    const key = ed25519()
    const own = (await ana.post('/user/keys', { title: 'Laptop', key })).body
    expect(answer(await ana.post(place, { title: 'x', key }))).toEqual([
      400,
      { message: { fingerprint_sha256: ['has already been taken'] } },
    ])
    for (const by of [ana, root])
      expect(answer(await by.post(`${place}/${own.id}/enable`))).toEqual(missing)
    expect(answer(await ana.get(`${place}/${own.id}`))).toEqual(missing)
    const deploy = await add(place)
    expect((await ana.get(`/user/keys/${deploy.id}`)).status).toBe(404)
    expect((await root.get('/deploy_keys?per_page=100')).body).not.toContainEqual(
      expect.objectContaining({ id: own.id }),
    )
  })

  test('is made once of many tries at once', async () => {
    const key = ed25519()
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() => ana.post(place, { title: 'x', key, can_push: true })),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400])
    expect(replies.find((reply) => reply.status === 400)?.body).toEqual({
      message: { deploy_key_id: ['already exists in source'] },
    })
    expect((await ana.get(place)).body).toHaveLength(1)
  })

  test('leaves a trace in the audit trail for each thing done with it', async () => {
    const made = await add(place)
    await ana.put(`${place}/${made.id}`, { can_push: true })
    await ana.delete(`${place}/${made.id}`)
    const trail = (await ana.get(`/projects/${projectId}/audit_events`)).body
    const own = trail.filter((one: { event_name: string }) => one.event_name.includes('deploy_key'))
    expect(own.map((one: { event_name: string }) => one.event_name)).toEqual([
      'deploy_key_removed',
      'deploy_key_changed',
      'deploy_key_added',
    ])
    for (const one of own) expect(one).toMatchObject({ author_id: ana.id, entity_type: 'Project' })
  })
})

describe('who may do what with deploy keys', () => {
  /** List, one, create, change, enable and delete, in this order. */
  async function answers(by: Caller, keyId: number): Promise<number[]> {
    const one = `${place}/${keyId}`
    const replies = [
      await by.get(place),
      await by.get(one),
      await by.post(place, { title: 'x', key: ed25519() }),
      await by.put(one, { title: 'y' }),
      await by.post(`${one}/enable`),
      await by.delete(one),
    ]
    return replies.map((reply) => reply.status)
  }
  const all = [200, 200, 201, 200, 201, 204]
  const none = (status: number) => Array(6).fill(status)

  test.each([
    [10, none(403)],
    [15, none(403)],
    [20, none(403)],
    [30, none(403)],
    [40, all],
    [50, all],
  ])('members of the level %i', async (level, expected) => {
    await addMember(world, projectId, maintainer.id, level)
    expect(await answers(maintainer, (await add(place)).id)).toEqual(expected)
  })

  test('strangers, nobody and administrators', async () => {
    const { id } = await add(place)
    expect(await answers(ben, id)).toEqual(none(404))
    expect(await answers(world.nobody, id)).toEqual(none(404))
    await ana.put(`/projects/${projectId}`, { visibility: 'public' })
    expect(await answers(ben, id)).toEqual(none(403))
    expect(await answers(world.nobody, id)).toEqual(none(401))
    expect(await answers(root, id)).toEqual(all)
  })

  test('a token that only reads sees keys and changes none', async () => {
    const { id } = await add(place)
    const reader = world.as(await world.token(ana.id, ['read_api']))
    expect(await answers(reader, id)).toEqual([200, 200, 403, 403, 403, 403])
  })

  test('of an archived project are looked at, and stay as they are', async () => {
    const { id } = await add(place)
    await ana.post(`/projects/${projectId}/archive`)
    expect(await answers(ana, id)).toEqual([200, 200, 403, 403, 403, 403])
  })
})

describe('a deploy key of several projects', () => {
  test('is enabled by whoever maintains both, read-only, and again without harm', async () => {
    const made = await add(place, { can_push: true })
    const other = keysOf(await project(ana))
    const enabled = await ana.post(`${other}/${made.id}/enable`)
    expect(answer(enabled)).toEqual([201, { ...made, can_push: false }])
    await ana.put(`${other}/${made.id}`, { can_push: true })
    // Enabling what is there takes nothing away.
    expect((await ana.post(`${other}/${made.id}/enable`)).body.can_push).toBe(true)
    expect((await ana.get(other)).body).toHaveLength(1)
  })

  test('is out of reach for who is no maintainer of one that has it', async () => {
    const made = await add(place)
    const bens = keysOf(await project(ben))
    const enable = () => ben.post(`${bens}/${made.id}/enable`)
    expect(answer(await enable())).toEqual(missing)
    await addMember(world, projectId, ben.id, 30)
    expect(answer(await enable())).toEqual(missing)
    expect(answer(await ben.post(bens, { title: 'x', key: made.key }))).toEqual([
      400,
      { message: { fingerprint_sha256: ['has already been taken'] } },
    ])
    await addMember(world, projectId, ben.id, 40)
    expect((await enable()).status).toBe(201)
  })

  test('is in reach for maintainers of the group above one that has it', async () => {
    count += 1
    const group = await createGroup(ana, `g${count}`)
    const made = await add(keysOf(await project(ana, { namespace_id: group.id })))
    const bens = keysOf(await project(ben))
    expect(answer(await ben.post(`${bens}/${made.id}/enable`))).toEqual(missing)
    await ana.post(`/groups/${group.id}/members`, { user_id: ben.id, access_level: 40 })
    expect((await ben.post(`${bens}/${made.id}/enable`)).status).toBe(201)
  })

  test('may push in one and not in the other', async () => {
    const made = await add(place)
    const other = keysOf(await project(ana))
    await add(other, { title: 'Another', key: made.key, can_push: true })
    expect((await ana.get(`${place}/${made.id}`)).body.can_push).toBe(false)
    expect((await ana.get(`${other}/${made.id}`)).body).toEqual({ ...made, can_push: true })
  })

  test('has one title, which administrators alone change, or who has it alone', async () => {
    const made = await add(place)
    const other = keysOf(await project(ana))
    await ana.post(`${other}/${made.id}/enable`)
    const one = `${other}/${made.id}`
    expect((await ana.put(one, { title: 'Mine', can_push: true })).status).toBe(403)
    expect((await ana.get(one)).body.can_push).toBe(false)
    // The title that it has is no change.
    expect((await ana.put(one, { title: 'Deployer', can_push: true })).status).toBe(200)
    expect((await root.put(one, { title: 'Theirs' })).status).toBe(200)
    expect((await ana.get(`${place}/${made.id}`)).body.title).toBe('Theirs')
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.put(`${place}/${made.id}`, { title: 'Mine' })).body.title).toBe('Mine')
  })

  test('stays in the other project when one lets it go', async () => {
    const made = await add(place)
    const other = keysOf(await project(ana))
    await ana.post(`${other}/${made.id}/enable`)
    expect((await ana.delete(`${place}/${made.id}`)).status).toBe(204)
    expect(answer(await ana.delete(`${place}/${made.id}`))).toEqual(missing)
    expect((await ana.get(`${other}/${made.id}`)).status).toBe(200)
    expect((await ana.delete(`${other}/${made.id}`)).status).toBe(204)
    expect(answer(await ana.post(`${other}/${made.id}/enable`))).toEqual(missing)
  })
})

describe('deploy keys of the instance', () => {
  test('are made by administrators, for every project', async () => {
    const input = { title: 'All', key: ed25519(), expires_at: '2027-01-01T00:00:00Z' }
    for (const [by, status] of [
      [ana, 403],
      [world.nobody, 401],
    ] as const) {
      expect((await by.post('/deploy_keys', input)).status).toBe(status)
      expect((await by.get('/deploy_keys')).status).toBe(status)
    }
    const made = await root.post('/deploy_keys', input)
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        title: 'All',
        public: true,
        expires_at: '2027-01-01T00:00:00.000Z',
        projects_with_write_access: [],
        projects_with_readonly_access: [],
      },
    ])
    expect(Object.keys(made.body)).not.toContain('can_push')
    expect(answer(await root.post('/deploy_keys', { title: 'x', key: input.key }))).toEqual([
      400,
      { message: { fingerprint_sha256: ['has already been taken'] } },
    ])
    expect(answer(await root.post('/deploy_keys', { title: '', key: ed25519() }))).toEqual([
      400,
      { message: { title: ["can't be blank"] } },
    ])
  })

  test('are listed with those of projects, or alone, with who uses them and how', async () => {
    const open = (await root.post('/deploy_keys', { title: 'Open', key: ed25519() })).body
    const own = await add(place, { can_push: true })
    const other = await project(ana)
    await ana.post(`${place}/${open.id}/enable`)
    await add(keysOf(other), { key: open.key, can_push: true })
    const list = async (query: string) =>
      (await root.get(`/deploy_keys?per_page=100${query}`)).body as { id: number }[]
    const find = async (id: number, query = '') => (await list(query)).find((one) => one.id === id)
    const identity = (id: number) => expect.objectContaining({ id })
    for (const query of ['', '&public=true']) {
      expect(await find(open.id, query)).toEqual({
        ...open,
        projects_with_write_access: [identity(other)],
        projects_with_readonly_access: [identity(projectId)],
      })
    }
    for (const query of ['', '&public=false']) {
      expect(await find(own.id, query)).toMatchObject({
        public: false,
        projects_with_write_access: [identity(projectId)],
        projects_with_readonly_access: [],
      })
    }
    expect(await find(own.id, '&public=true')).toBeUndefined()
    expect((await root.get('/deploy_keys?public=x')).body).toEqual({ error: 'public is invalid' })
    const first = await root.get('/deploy_keys?per_page=1')
    expect([first.body.length, Number(first.headers.get('x-total'))]).toEqual([
      1,
      (await list('')).length,
    ])
  })

  test('are linked by adding them too, pushed with per project, and renamed by administrators', async () => {
    const open = (await root.post('/deploy_keys', { title: 'Open', key: ed25519() })).body
    const bens = keysOf(await project(ben))
    const linked = await add(bens, { title: 'Other', key: open.key, can_push: true }, ben)
    expect(linked).toMatchObject({ id: open.id, title: 'Open', can_push: true })
    expect((await ben.put(`${bens}/${open.id}`, { title: 'Bens' })).status).toBe(403)
    expect((await ben.put(`${bens}/${open.id}`, { can_push: false })).status).toBe(200)
    expect((await root.put(`${bens}/${open.id}`, { title: 'New' })).body.title).toBe('New')
  })

  test('are no keys of who maintains nothing that has them', async () => {
    const cid = await world.user('cid')
    const keys = async (by: Caller) =>
      (await by.get(`/users/cid/project_deploy_keys`)).body.map((one: { id: number }) => one.id)
    const open = (await root.post('/deploy_keys', { title: 'Open', key: ed25519() })).body
    const own = await add(place)
    await addMember(world, projectId, cid.id, 30)
    expect(await keys(cid)).toEqual([])
    await addMember(world, projectId, cid.id, 40)
    expect(await keys(cid)).toEqual([own.id])
    await cid.post(`${place}/${open.id}/enable`)
    for (const by of [cid, root]) expect(await keys(by)).toEqual([open.id, own.id].sort())
    expect((await world.nobody.get('/users/cid/project_deploy_keys')).status).toBe(401)
    expect((await root.get('/users/99999/project_deploy_keys')).status).toBe(404)
  })
})

describe('deploy keys of several projects', () => {
  const cara = useCaller(world, 'cara')
  const dirk = useCaller(world, 'dirk')
  let projectId: number
  let otherId: number
  beforeAll(async () => {
    projectId = (await createProject(cara, 'one')).id
    otherId = (await createProject(cara, 'two')).id
  })
  test('are added to a project, changed and taken away', async () => {
    const path = `/projects/${projectId}/deploy_keys`
    const made = await cara.post(path, { title: 'ci', key: ed25519(), can_push: true })
    expect(made.body).toMatchObject({ title: 'ci', can_push: true })
    expect(made.body.fingerprint_sha256).toMatch(/^SHA256:/)
    expect((await cara.get(path)).body).toHaveLength(1)
    const changed = await cara.put(`${path}/${made.body.id}`, { can_push: false, title: 'ci2' })
    expect(changed.body).toMatchObject({ title: 'ci2', can_push: false })
    expect((await dirk.get(path)).status).toBe(404)
    expect((await cara.delete(`${path}/${made.body.id}`)).status).toBe(204)
    expect((await world.root.get(`/keys/${made.body.id}`)).status).toBe(404)
  })
  test('of another project of the caller are linked once', async () => {
    const key = ed25519()
    const made = await cara.post(`/projects/${projectId}/deploy_keys`, { title: 'k', key })
    const linked = await cara.post(`/projects/${otherId}/deploy_keys`, { title: 'other', key })
    expect(linked.body).toMatchObject({ id: made.body.id, title: 'k' })
    const twice = await cara.post(`/projects/${otherId}/deploy_keys`, { title: 'k', key })
    expect(twice.status).toBe(400)
    const third = (await createProject(dirk, 'dirks')).id
    expect((await dirk.post(`/projects/${third}/deploy_keys`, { title: 'k', key })).body).toEqual({
      message: { fingerprint_sha256: ['has already been taken'] },
    })
    expect((await dirk.post(`/projects/${third}/deploy_keys/${made.body.id}/enable`)).status).toBe(
      404,
    )
    expect((await cara.post('/user/keys', { title: 'mine', key })).status).toBe(400)
    const found = await world.root.get(`/keys/${made.body.id}`)
    expect(found.body.user).toBeNull()
    expect(found.body.deploy_keys_projects).toHaveLength(2)
    const all = (await world.root.get('/deploy_keys?per_page=100')).body
    expect(all).toContainEqual(
      expect.objectContaining({
        id: made.body.id,
        projects_with_write_access: [],
        projects_with_readonly_access: [
          expect.objectContaining({ id: projectId }),
          expect.objectContaining({ id: otherId }),
        ],
      }),
    )
    expect(
      (await cara.put(`/projects/${otherId}/deploy_keys/${made.body.id}`, { title: 'z' })).status,
    ).toBe(403)
    expect((await cara.get('/users/cara/project_deploy_keys')).body).toHaveLength(1)
  })
  test('are deleted with the last project that has them, and free for others then', async () => {
    const places = []
    for (const name of ['first', 'last']) {
      places.push((await createProject(cara, name)).id)
    }
    const body = { title: 'k', key: ed25519() }
    const path = (id: number) => `/projects/${id}/deploy_keys`
    for (const id of places) expect((await cara.post(path(id), body)).status).toBe(201)
    const dirks = (await createProject(dirk, 'own')).id
    for (const [index, id] of places.entries()) {
      expect((await dirk.post(path(dirks), body)).status).toBe(400)
      if (index === 1) expect((await cara.get(path(id))).body).toHaveLength(1)
      expect((await cara.delete(`/projects/${id}`)).status).toBe(202)
      await world.runTasks()
    }
    expect((await dirk.post(path(dirks), body)).status).toBe(201)
    const open = await world.root.post('/deploy_keys', { title: 'all', key: ed25519() })
    await dirk.post(`${path(dirks)}/${open.body.id}/enable`)
    await dirk.delete(`/projects/${dirks}`)
    await world.runTasks()
    expect((await world.root.get(`/keys/${open.body.id}`)).body.deploy_keys_projects).toEqual([])
  })
  test('of the instance may be enabled by any project', async () => {
    const made = await world.root.post('/deploy_keys', { title: 'all', key: ed25519() })
    expect(made.body).toMatchObject({ public: true })
    const path = `/projects/${projectId}/deploy_keys/${made.body.id}`
    expect((await cara.post(`${path}/enable`)).body).toMatchObject({ can_push: false })
    expect((await cara.delete(path)).status).toBe(204)
    expect((await world.root.get(`/keys/${made.body.id}`)).status).toBe(200)
  })
})
