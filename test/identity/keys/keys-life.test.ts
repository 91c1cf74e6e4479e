import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ed25519, gpgKey, rsa } from '../../support/keys.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let ben: Caller
beforeAll(async () => {
  root = world.root
})

let count = 0
beforeEach(async () => {
  count += 1
  ana = await world.user(`ana${count}`)
  ben = await world.user(`ben${count}`)
})

describe('an SSH key', () => {
  test('has its presets when only title and key are given', async () => {
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

  test('is as strong, and of such a kind, as administrators ask', async () => {
    await root.put('/application/settings', { rsa_key_restriction: 3072 })
    const weak = await ana.post('/user/keys', { title: 'x', key: rsa(2048) })
    expect(weak.body).toEqual({ message: { key: ['must be at least 3072 bits'] } })
    await root.put('/application/settings', { rsa_key_restriction: 0, ed25519_key_restriction: -1 })
    expect((await ana.post('/user/keys', { title: 'x', key: rsa(2048) })).status).toBe(201)
    const none = await ana.post('/user/keys', { title: 'x', key: ed25519() })
    expect(none.body.message.key).toEqual(['type is forbidden. ED25519 keys are not allowed'])
    await root.put('/application/settings', { ed25519_key_restriction: 0 })
  })

  test('is its owner’s alone: others neither read it as theirs nor remove it', async () => {
    const { id } = (await ana.post('/user/keys', { title: 'x', key: ed25519() })).body
    expect((await ben.get(`/user/keys/${id}`)).body).toEqual({ message: '404 Key Not Found' })
    expect((await ben.delete(`/user/keys/${id}`)).status).toBe(404)
    expect((await ben.delete(`/users/${ana.id}/keys/${id}`)).status).toBe(403)
    expect((await root.delete(`/users/${ben.id}/keys/${id}`)).status).toBe(404)
    expect((await root.get(`/users/${ben.id}/keys/${id}`)).status).toBe(404)
    expect((await ana.get('/user/keys')).body).toHaveLength(1)
    expect((await root.delete(`/users/${ana.id}/keys/${id}`)).status).toBe(204)
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

  test('is free for others once it, or its owner, is gone', async () => {
    const [one, other] = [ed25519(), ed25519()]
    const { id } = (await ana.post('/user/keys', { title: 'x', key: one })).body
    await ana.post('/user/keys', { title: 'y', key: other })
    expect((await ben.post('/user/keys', { title: 'x', key: one })).status).toBe(400)
    await ana.delete(`/user/keys/${id}`)
    expect((await ben.post('/user/keys', { title: 'x', key: one })).status).toBe(201)
    await root.delete(`/users/${ana.id}`)
    expect((await ben.post('/user/keys', { title: 'y', key: other })).status).toBe(201)
  })

  test('is given to one of many who add it at once', async () => {
    const key = ed25519()
    const replies = await Promise.all(
      [ana, ben, ana, ben].map((caller) => caller.post('/user/keys', { title: 'x', key })),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400])
  })
})

describe('a GPG key', () => {
  const { armored } = gpgKey(77)

  test('is kept as it was sent, for one person', async () => {
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
    expect((await root.get(`/users/${ben.id}/gpg_keys/${made.body.id}`)).body).toEqual({
      message: '404 GPG Key Not Found',
    })
    expect((await root.delete(`/users/${ana.id}/gpg_keys/${made.body.id}`)).status).toBe(204)
    expect((await ana.get('/user/gpg_keys')).body).toEqual([])
    const freed = await root.post(`/users/${ben.id}/gpg_keys`, { key: armored })
    expect(freed.status).toBe(201)
    expect((await ben.get('/user/gpg_keys')).body).toEqual([freed.body])
  })

  test.each([
    '',
    'none',
    '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxxxx\n-----END PGP PUBLIC KEY BLOCK-----',
  ])('is not %j', async (key) => {
    const reply = await ana.post('/user/gpg_keys', { key })
    expect([reply.status, reply.body]).toEqual([400, { message: { key: ['is invalid'] } }])
  })
})
