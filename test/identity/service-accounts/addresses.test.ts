import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let owner: Caller
let place: string

describe.each(['groups', 'projects'] as const)('service accounts of %s', (kind) => {
  beforeAll(async () => {
    // Each makes ten a minute at most.
    owner = await world.user(`owner-${kind}`)
    const made = (await owner.post(`/${kind}`, { name: kind, path: `the-${kind}` })).body
    place = `/${kind}/${made.id}/service_accounts`
  })

  test('are listed in the order that is asked for, newest first', async () => {
    for (const username of [`b-${kind}`, `a-${kind}`, `c-${kind}`])
      expect((await owner.post(place, { username })).status).toBe(201)
    const names = async (query: string) =>
      (await owner.get(`${place}?${query}`)).body.map((one: { username: string }) => one.username)
    const [a, b, c] = [`a-${kind}`, `b-${kind}`, `c-${kind}`]
    expect(await names('')).toEqual([c, a, b])
    expect(await names('sort=asc')).toEqual([b, a, c])
    expect(await names('order_by=username')).toEqual([c, b, a])
    expect(await names('order_by=username&sort=asc&per_page=2')).toEqual([a, b])
    expect((await owner.get(`${place}?order_by=name`)).body).toEqual({
      error: 'order_by does not have a valid value',
    })
  })

  test('are changed in name, username and address, and refuse what others have', async () => {
    const { body } = await owner.post(place, { name: 'Robot' })
    const one = `${place}/${body.id}`
    const changed = await owner.patch(one, { name: 'R2', username: `r2-${kind}` })
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { id: body.id, name: 'R2', username: `r2-${kind}`, email: body.email },
    ])
    const address = `r2-${kind}@example.com`
    expect((await owner.patch(one, { email: address })).body.email).toBe(address)
    for (const [taken, text] of [
      [{ username: `owner-${kind}` }, 'Username has already been taken'],
      [{ email: `owner-${kind}@example.com` }, 'Email has already been taken'],
    ] as const) {
      const reply = await owner.patch(one, taken)
      expect([reply.status, reply.body]).toEqual([400, { message: text }])
      const made = await owner.post(place, taken)
      expect([made.status, made.body]).toEqual([400, { message: `400 Bad request - ${text}` }])
    }
  })

  test('wait until the owner of the address confirms it, where that is required', async () => {
    await world.root.put('/application/settings', { email_confirmation_setting: 'hard' })
    const email = `waits-${kind}@example.com`
    const made = await owner.post(place, { email })
    expect(made.body).toMatchObject({ unconfirmed_email: email })
    expect(made.body.email).toContain('@noreply.')
    const other = `later-${kind}@example.com`
    const changed = await owner.patch(`${place}/${made.body.id}`, { email: other })
    expect(changed.body).toMatchObject({ email: made.body.email, unconfirmed_email: other })
    await world.root.put('/application/settings', { email_confirmation_setting: 'off' })
    const plain = (await owner.post(place, {})).body
    expect(Object.keys(plain)).not.toContain('unconfirmed_email')
  })

  test('act with the role they are given, and are gone with all of their tokens', async () => {
    const { body } = await owner.post(place, { username: `worker-${kind}` })
    const tokens = `${place}/${body.id}/personal_access_tokens`
    const made = await owner.post(tokens, { name: 'work', scopes: ['api'] })
    const worker = world.as(made.body.token)
    const source = place.replace('/service_accounts', '')
    expect((await worker.get(source)).status).toBe(404)
    await owner.post(`${source}/members`, { user_id: body.id, access_level: 30 })
    expect((await worker.get(source)).status).toBe(200)
    expect((await worker.get('/user')).body).toMatchObject({ id: body.id, bot: true })
    const elsewhere = await createGroup(owner, `else-${kind}`)
    const added = await owner.post(`/groups/${elsewhere.id}/members`, {
      user_id: body.id,
      access_level: 30,
    })
    expect(added.status).toBe(400)
    expect((await owner.delete(`${place}/${body.id}`)).status).toBe(204)
    await world.runTasks()
    expect((await worker.get('/user')).status).toBe(401)
    expect((await owner.get(tokens)).body).toEqual({ message: '404 User Not Found' })
  })
})
