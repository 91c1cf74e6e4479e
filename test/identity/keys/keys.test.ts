import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { ed25519, gpgKey } from '../../support/keys.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

describe('SSH keys', () => {
  test('are added, shown to everybody, and removed by their owner', async () => {
    const key = `${ed25519()} ana@laptop`
    const made = await ana.post('/user/keys', { title: 'laptop', key, expires_at: '2027-01-01' })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: made.body.id,
      title: 'laptop',
      key,
      created_at: world.ctx.now(),
      expires_at: '2027-01-01T00:00:00.000Z',
      last_used_at: null,
      usage_type: 'auth_and_signing',
    })
    expect((await world.nobody.get('/users/ana/keys')).body).toEqual([made.body])
    expect((await world.nobody.get(`/users/${ana.id}/keys/${made.body.id}`)).status).toBe(200)
    expect((await ben.get(`/user/keys/${made.body.id}`)).status).toBe(404)
    expect((await ben.delete(`/user/keys/${made.body.id}`)).status).toBe(404)
    expect((await ana.delete(`/user/keys/${made.body.id}`)).status).toBe(204)
  })
  test('belong to one only, whatever comment they carry', async () => {
    const key = ed25519()
    expect((await ana.post('/user/keys', { title: 'a', key })).status).toBe(201)
    const again = await ben.post('/user/keys', { title: 'b', key: `${key} other comment` })
    expect([again.status, again.body]).toEqual([
      400,
      { message: { fingerprint_sha256: ['has already been taken'] } },
    ])
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => ben.post('/user/keys', { title: 'x', key: `${key} x` })),
    )
    expect(tries.every((reply) => reply.status === 400)).toBe(true)
  })
  test('that are none are refused', async () => {
    const reply = await ana.post('/user/keys', { title: 'x', key: 'ssh-rsa AAAA' })
    expect([reply.status, reply.body.message.key]).toEqual([400, ['is invalid']])
    const late = await ana.post('/user/keys', {
      title: 'x',
      key: ed25519(),
      expires_at: '2026-05-04',
    })
    expect(late.body).toEqual({ message: { expires_at: ['must be in the future'] } })
    expect((await ana.post('/user/keys', { title: 'x' })).body.error).toBe('key is missing')
  })
  test('are found by administrators, by id and by either fingerprint', async () => {
    const made = await world.root.post(`/users/${ben.id}/keys`, { title: 'b', key: ed25519() })
    expect(made.status).toBe(201)
    const row = await world.ctx.db
      .selectFrom('ssh_keys')
      .selectAll()
      .where('id', '=', made.body.id)
      .executeTakeFirstOrThrow()
    for (const name of [
      row.fingerprint_sha256,
      row.fingerprint_md5,
      `MD5:${row.fingerprint_md5}`,
    ]) {
      const found = await world.root.get(`/keys?fingerprint=${encodeURIComponent(name)}`)
      expect(found.body).toMatchObject({ id: made.body.id, user: { id: ben.id } })
    }
    expect((await world.root.get(`/keys/${made.body.id}`)).body.user.username).toBe('ben')
    expect((await ana.get(`/keys/${made.body.id}`)).status).toBe(403)
    expect((await world.root.get('/keys?fingerprint=x')).status).toBe(400)
    expect((await world.root.delete(`/users/${ben.id}/keys/${made.body.id}`)).status).toBe(204)
    expect((await world.root.get(`/keys/${made.body.id}`)).status).toBe(404)
  })
})

describe('deploy keys', () => {
  let projectId: number
  let otherId: number
  beforeAll(async () => {
    projectId = (await createProject(ana, 'one')).id
    otherId = (await createProject(ana, 'two')).id
  })
  test('are added to a project, changed and taken away', async () => {
    const path = `/projects/${projectId}/deploy_keys`
    const made = await ana.post(path, { title: 'ci', key: ed25519(), can_push: true })
    expect(made.body).toMatchObject({ title: 'ci', can_push: true })
    expect(made.body.fingerprint_sha256).toMatch(/^SHA256:/)
    expect((await ana.get(path)).body).toHaveLength(1)
    const changed = await ana.put(`${path}/${made.body.id}`, { can_push: false, title: 'ci2' })
    expect(changed.body).toMatchObject({ title: 'ci2', can_push: false })
    expect((await ben.get(path)).status).toBe(404)
    expect((await ana.delete(`${path}/${made.body.id}`)).status).toBe(204)
    expect((await world.root.get(`/keys/${made.body.id}`)).status).toBe(404)
  })
  test('that the caller knows from another project are linked, twice is refused', async () => {
    const key = ed25519()
    const made = await ana.post(`/projects/${projectId}/deploy_keys`, { title: 'k', key })
    const linked = await ana.post(`/projects/${otherId}/deploy_keys`, { title: 'other', key })
    expect(linked.body).toMatchObject({ id: made.body.id, title: 'k' })
    const twice = await ana.post(`/projects/${otherId}/deploy_keys`, { title: 'k', key })
    expect(twice.status).toBe(400)
    const third = (await createProject(ben, 'bens')).id
    expect((await ben.post(`/projects/${third}/deploy_keys`, { title: 'k', key })).body).toEqual({
      message: { fingerprint_sha256: ['has already been taken'] },
    })
    expect((await ben.post(`/projects/${third}/deploy_keys/${made.body.id}/enable`)).status).toBe(
      404,
    )
    expect((await ana.post('/user/keys', { title: 'mine', key })).status).toBe(400)
    const found = await world.root.get(`/keys/${made.body.id}`)
    expect(found.body.user).toBeNull()
    expect(found.body.deploy_keys_projects).toHaveLength(2)
    const all = (await world.root.get('/deploy_keys')).body
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
      (await ana.put(`/projects/${otherId}/deploy_keys/${made.body.id}`, { title: 'z' })).status,
    ).toBe(403)
    expect((await ana.get('/users/ana/project_deploy_keys')).body).toHaveLength(1)
  })
  test('go with the last project that has them, so that the key is free for others', async () => {
    const places = []
    for (const name of ['first', 'last']) {
      places.push((await createProject(ana, name)).id)
    }
    const body = { title: 'k', key: ed25519() }
    const path = (id: number) => `/projects/${id}/deploy_keys`
    for (const id of places) expect((await ana.post(path(id), body)).status).toBe(201)
    const bens = (await createProject(ben, 'bens own')).id
    for (const [index, id] of places.entries()) {
      expect((await ben.post(path(bens), body)).status).toBe(400)
      if (index === 1) expect((await ana.get(path(id))).body).toHaveLength(1)
      expect((await ana.delete(`/projects/${id}`)).status).toBe(202)
      await world.runTasks()
    }
    expect((await ben.post(path(bens), body)).status).toBe(201)
    const open = await world.root.post('/deploy_keys', { title: 'all', key: ed25519() })
    await ben.post(`${path(bens)}/${open.body.id}/enable`)
    await ben.delete(`/projects/${bens}`)
    await world.runTasks()
    expect((await world.root.get(`/keys/${open.body.id}`)).body.deploy_keys_projects).toEqual([])
  })
  test('of the instance may be enabled by any project', async () => {
    const made = await world.root.post('/deploy_keys', { title: 'all', key: ed25519() })
    expect(made.body).toMatchObject({ public: true })
    const path = `/projects/${projectId}/deploy_keys/${made.body.id}`
    expect((await ana.post(`${path}/enable`)).body).toMatchObject({ can_push: false })
    expect((await ana.delete(path)).status).toBe(204)
    expect((await world.root.get(`/keys/${made.body.id}`)).status).toBe(200)
  })
})

test('GPG keys are added once, listed and removed', async () => {
  const { armored } = gpgKey(9)
  const made = await ana.post('/user/gpg_keys', { key: armored })
  expect([made.status, made.body.key]).toEqual([201, armored.trim()])
  const again = await ben.post('/user/gpg_keys', { key: armored })
  expect(again.body).toEqual({ message: { fingerprint: ['has already been taken'] } })
  expect((await ana.post('/user/gpg_keys', { key: 'x' })).body).toEqual({
    message: { key: ['is invalid'] },
  })
  expect((await world.nobody.get(`/users/${ana.id}/gpg_keys`)).body).toHaveLength(1)
  expect((await ana.delete(`/user/gpg_keys/${made.body.id}`)).status).toBe(204)
})
