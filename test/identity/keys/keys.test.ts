import { beforeEach, describe, expect, test } from 'vitest'
import { ed25519, gpgKey, rsa } from '../../support/keys.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let ana: Caller
let ben: Caller

let count = 0
beforeEach(async () => {
  count += 1
  ana = await world.user(`ana${count}`)
  ben = await world.user(`ben${count}`)
})

describe('an SSH key', () => {
  test('has its defaults when only title and key are given', async () => {
    const key = ed25519()
    const made = await ana.post('/user/keys', { title: 'Laptop', key })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        title: 'Laptop',
        key: expect.stringContaining(key),
        created_at: '2026-05-04T10:00:00.000Z',
        expires_at: null,
        last_used_at: null,
        usage_type: 'auth_and_signing',
      },
    ])
  })

  test.each(['auth_and_signing', 'auth', 'signing'])('may be for %s', async (usage_type) => {
    const made = await ana.post('/user/keys', { title: 'x', key: ed25519(), usage_type })
    expect(made.body.usage_type).toBe(usage_type)
    expect((await ana.get(`/user/keys/${made.body.id}`)).body).toEqual(made.body)
  })

  test('ends in the future, or never', async () => {
    const add = (expires_at: unknown) =>
      ana.post('/user/keys', { title: 'x', key: ed25519(), expires_at })
    expect((await add('2026-05-04T10:00:00Z')).status).toBe(400)
    expect((await add('2026-05-04T10:00:01Z')).body.expires_at).toBe('2026-05-04T10:00:01.000Z')
    for (const never of [null, '']) expect((await add(never)).body.expires_at).toBeNull()
    expect((await add('soon')).body).toEqual({ error: 'expires_at is invalid' })
  })

  test.each([
    [{ title: '' }, { title: ["can't be blank"] }],
    [{ title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
    [{ key: 'none' }, { key: ['is invalid'], fingerprint_sha256: ['cannot be generated'] }],
  ])('is refused with %j', async (wrong, message) => {
    const reply = await ana.post('/user/keys', { title: 'x', key: ed25519(), ...wrong })
    expect([reply.status, reply.body]).toEqual([400, { message }])
    expect((await ana.get('/user/keys')).body).toEqual([])
  })

  test('must be of a length and a type that administrators allow', async () => {
    await world.root.put('/application/settings', { rsa_key_restriction: 3072 })
    const weak = await ana.post('/user/keys', { title: 'x', key: rsa(2048) })
    expect(weak.body).toEqual({ message: { key: ['must be at least 3072 bits'] } })
    await world.root.put('/application/settings', {
      rsa_key_restriction: 0,
      ed25519_key_restriction: -1,
    })
    expect((await ana.post('/user/keys', { title: 'x', key: rsa(2048) })).status).toBe(201)
    const none = await ana.post('/user/keys', { title: 'x', key: ed25519() })
    expect(none.body.message.key).toEqual(['type is forbidden. ED25519 keys are not allowed'])
    await world.root.put('/application/settings', { ed25519_key_restriction: 0 })
  })

  test('is read and removed at the address of its owner only', async () => {
    const { id } = (await ana.post('/user/keys', { title: 'x', key: ed25519() })).body
    expect((await ben.get(`/user/keys/${id}`)).body).toEqual({ message: '404 Key Not Found' })
    expect((await ben.delete(`/user/keys/${id}`)).status).toBe(404)
    expect((await ben.delete(`/users/${ana.id}/keys/${id}`)).status).toBe(403)
    expect((await world.root.delete(`/users/${ben.id}/keys/${id}`)).status).toBe(404)
    expect((await world.root.get(`/users/${ben.id}/keys/${id}`)).status).toBe(404)
    expect((await ana.get('/user/keys')).body).toHaveLength(1)
    expect((await world.root.delete(`/users/${ana.id}/keys/${id}`)).status).toBe(204)
    expect((await ana.get('/user/keys')).body).toEqual([])
  })

  test('is listed to anybody by number or name of its owner', async () => {
    const titles = ['one', 'two', 'three']
    for (const title of titles) await ana.post('/user/keys', { title, key: ed25519() })
    for (const who of [String(ana.id), ana.username, ana.username.toUpperCase()]) {
      const { body } = await world.nobody.get(`/users/${who}/keys`)
      expect(body.map((one: { title: string }) => one.title)).toEqual(titles)
    }
    const second = await world.nobody.get(`/users/${ana.id}/keys?per_page=2&page=2`)
    expect(second.body).toHaveLength(1)
    expect(second.headers.get('x-total')).toBe('3')
  })

  test('is free for others once it, or its owner, is deleted', async () => {
    const [one, other] = [ed25519(), ed25519()]
    const { id } = (await ana.post('/user/keys', { title: 'x', key: one })).body
    await ana.post('/user/keys', { title: 'y', key: other })
    expect((await ben.post('/user/keys', { title: 'x', key: one })).status).toBe(400)
    await ana.delete(`/user/keys/${id}`)
    expect((await ben.post('/user/keys', { title: 'x', key: one })).status).toBe(201)
    await world.root.delete(`/users/${ana.id}`)
    expect((await ben.post('/user/keys', { title: 'y', key: other })).status).toBe(201)
  })

  test('is given to one of several users who add it at the same time', async () => {
    const key = ed25519()
    const replies = await Promise.all(
      [ana, ben, ana, ben].map((caller) => caller.post('/user/keys', { title: 'x', key })),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400])
  })
})

describe('a GPG key', () => {
  const { armored } = gpgKey(77)

  test('is kept as it was sent, for one user', async () => {
    const made = await ana.post('/user/gpg_keys', { key: armored })
    expect([made.status, made.body]).toEqual([
      201,
      { id: made.body.id, key: armored.trim(), created_at: '2026-05-04T10:00:00.000Z' },
    ])
    const twice = await ben.post('/user/gpg_keys', { key: armored })
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { fingerprint: ['has already been taken'] } },
    ])
    expect((await ben.delete(`/user/gpg_keys/${made.body.id}`)).status).toBe(404)
    expect((await world.nobody.get(`/users/${ana.username}/gpg_keys`)).body).toEqual([made.body])
    expect((await world.root.get(`/users/${ben.id}/gpg_keys/${made.body.id}`)).body).toEqual({
      message: '404 GPG Key Not Found',
    })
    expect((await world.root.delete(`/users/${ana.id}/gpg_keys/${made.body.id}`)).status).toBe(204)
    expect((await ana.get('/user/gpg_keys')).body).toEqual([])
    const freed = await world.root.post(`/users/${ben.id}/gpg_keys`, { key: armored })
    expect(freed.status).toBe(201)
    expect((await ben.get('/user/gpg_keys')).body).toEqual([freed.body])
  })

  test.each([
    '',
    'none',
    '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxxxx\n-----END PGP PUBLIC KEY BLOCK-----',
  ])('is refused as %j', async (key) => {
    const reply = await ana.post('/user/gpg_keys', { key })
    expect([reply.status, reply.body]).toEqual([400, { message: { key: ['is invalid'] } }])
  })
})

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
    expect((await world.nobody.get(`/users/${ana.username}/keys`)).body).toEqual([made.body])
    expect((await world.nobody.get(`/users/${ana.id}/keys/${made.body.id}`)).status).toBe(200)
    expect((await ben.get(`/user/keys/${made.body.id}`)).status).toBe(404)
    expect((await ben.delete(`/user/keys/${made.body.id}`)).status).toBe(404)
    expect((await ana.delete(`/user/keys/${made.body.id}`)).status).toBe(204)
  })
  test('have one owner, whatever comment they carry', async () => {
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
  test('are refused when they are invalid, ended or missing', async () => {
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
    expect((await world.root.get(`/keys/${made.body.id}`)).body.user.username).toBe(ben.username)
    expect((await ana.get(`/keys/${made.body.id}`)).status).toBe(403)
    expect((await world.root.get('/keys?fingerprint=x')).status).toBe(400)
    expect((await world.root.delete(`/users/${ben.id}/keys/${made.body.id}`)).status).toBe(204)
    expect((await world.root.get(`/keys/${made.body.id}`)).status).toBe(404)
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
