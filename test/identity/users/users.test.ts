import { beforeAll, describe, expect, test } from 'vitest'
import { signInWithBasic } from '../../../src/access/authentication/sign-in-basic.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

const input = (username: string, more: object = {}) => ({
  username,
  name: `Name of ${username}`,
  email: `${username}@example.org`,
  password: 'fTb5oqpDUyM1',
  ...more,
})

describe('creating users', () => {
  test('an administrator creates one with a personal namespace', async () => {
    const made = await root.post('/users', input('berta', { bio: 'b', linkedin: 'l' }))
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      username: 'berta',
      name: 'Name of berta',
      state: 'active',
      bio: 'b',
      linkedin: 'l',
      is_admin: false,
      created_by: { id: root.id },
      namespace_id: expect.any(Number),
    })
    const [listed] = (await root.get('/users?username=berta')).body
    expect(listed).toEqual((await root.get(`/users/${made.body.id}`)).body)
    const actor = await signInWithBasic(world.ctx, { user: 'berta', password: 'fTb5oqpDUyM1' })
    expect(actor).toMatchObject({ user: { id: made.body.id } })
  })
  test('nobody else does', async () => {
    expect((await ana.post('/users', input('x1'))).status).toBe(403)
    expect((await world.nobody.post('/users', input('x1'))).status).toBe(401)
  })
  test('taken names answer 409 in the words of the reference', async () => {
    await root.post('/users', input('carl'))
    const name = await root.post('/users', input('CARL', { email: 'other@example.org' }))
    expect([name.status, name.body]).toEqual([409, { message: 'Username has already been taken' }])
    const mail = await root.post('/users', input('carl2', { email: 'Carl@example.org' }))
    expect([mail.status, mail.body]).toEqual([409, { message: 'Email has already been taken' }])
  })
  test('the same name six times at once is made once', async () => {
    const tries = Array.from({ length: 6 }, (_, index) =>
      root.post('/users', input('dora', { email: `dora${index}@example.org` })),
    )
    const statuses = (await Promise.all(tries)).map((reply) => reply.status).sort()
    expect(statuses).toEqual([201, ...Array(5).fill(409)])
  })
  test.each([
    [{ password: 'short' }, { password: ['is too short (minimum is 8 characters)'] }],
    [
      { password: 'password' },
      { password: ['must not contain commonly used combinations of words and letters'] },
    ],
    [{ email: 'no-address' }, { email: ['is invalid'] }],
    [{ username: 'admin' }, { username: ['admin is a reserved name'] }],
    [{ name: ' ' }, { name: ["can't be blank"] }],
  ])('refuses %j', async (wrong, message) => {
    const reply = await root.post('/users', input('wrong-one', wrong))
    expect([reply.status, reply.body]).toEqual([400, { message }])
  })
  test('refuses a name that is no path', async () => {
    for (const username of ['-x', 'a/b', 'x.git', 'x.', 'ä', 'a b']) {
      const reply = await root.post('/users', input(username, { email: 'w@example.org' }))
      expect(reply.status).toBe(400)
      expect(Object.keys(reply.body.message)).toEqual(['username'])
    }
  })
  test('asks for one way to a password', async () => {
    const { password: _, ...without } = input('eve')
    const reply = await root.post('/users', without)
    expect(reply.body.error).toBe(
      'password, reset_password, force_random_password are missing, at least one parameter must be provided',
    )
    expect((await root.post('/users', { ...without, force_random_password: true })).status).toBe(
      201,
    )
  })
})

describe('listing users', () => {
  test('anonymous callers must name one', async () => {
    expect((await world.nobody.get('/users')).status).toBe(403)
    const found = await world.nobody.get('/users?username=ANA')
    expect(found.body).toMatchObject([{ id: ana.id, username: 'ana' }])
    expect(Object.keys(found.body[0])).not.toContain('email')
  })
  test('others see the basics, administrators everything', async () => {
    expect(Object.keys((await ana.get('/users')).body[0])).toHaveLength(8)
    expect((await root.get('/users')).body[0]).toHaveProperty('email')
  })
  test('finds by search, by private address for administrators only', async () => {
    const ids = async (caller: Caller, search: string) =>
      (await caller.get(`/users?search=${encodeURIComponent(search)}`)).body.map(
        (user: { id: number }) => user.id,
      )
    expect(await ids(ana, 'AN')).toContain(ana.id)
    expect(await ids(ana, 'ana@example.com')).toEqual([])
    expect(await ids(root, 'ana@example.com')).toEqual([ana.id])
    expect(await ids(ana, '%')).toEqual([])
  })
  test('filters by state and kind', async () => {
    const blocked = await world.user('blocked-f')
    await root.post(`/users/${blocked.id}/block`)
    const names = async (query: string) =>
      (await root.get(`/users?per_page=100&${query}`)).body.map(
        (u: { username: string }) => u.username,
      )
    expect(await names('blocked=true')).toEqual(['blocked-f'])
    expect(await names('active=true')).not.toContain('blocked-f')
    expect(await names('exclude_active=true')).toEqual(['blocked-f'])
    expect(await names('admins=true')).toEqual(['root'])
    expect(await names('two_factor=enabled')).toEqual([])
    expect((await root.get('/users?extern_uid=1')).body.error).toBe(
      'extern_uid, provider provide all or none of parameters',
    )
  })
  test('keyset pages yield everybody once in every order', async () => {
    const everybody = (await root.get('/users?per_page=100')).body.length
    for (const order of ['id', 'name', 'username', 'created_at', 'updated_at']) {
      const seen: number[] = []
      let path: string | undefined =
        `/users?pagination=keyset&per_page=3&order_by=${order}&sort=asc`
      while (path) {
        const reply = await root.get(path)
        seen.push(...reply.body.map((user: { id: number }) => user.id))
        const next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')
        path = next?.[1]
      }
      expect(seen).toHaveLength(everybody)
      expect(new Set(seen).size).toBe(everybody)
    }
  })
})

describe('one user', () => {
  test('a private profile shows others the basics only', async () => {
    const fritz = await world.user('fritz')
    await root.put(`/users/${fritz.id}`, { private_profile: true, bio: 'hidden' })
    expect(Object.keys((await ana.get(`/users/${fritz.id}`)).body)).toHaveLength(8)
    expect((await root.get(`/users/${fritz.id}`)).body.bio).toBe('hidden')
    expect((await fritz.get(`/users/${fritz.id}`)).body.bio).toBe('hidden')
  })
  test('an unknown one is 404', async () => {
    const reply = await root.get('/users/99999')
    expect([reply.status, reply.body]).toEqual([404, { message: '404 User Not Found' }])
  })
  test('changes are those that were sent', async () => {
    const gerd = await world.user('gerd')
    await root.put(`/users/${gerd.id}`, { bio: 'first', location: 'here' })
    const reply = await root.put(`/users/${gerd.id}`, { bio: null })
    expect(reply.body).toMatchObject({ bio: '', location: 'here', username: 'gerd' })
  })
  test('a new name takes the projects along and leaves a redirect', async () => {
    const hans = await world.user('hans')
    const project = await createProject(hans, 'tool')
    await root.put(`/users/${hans.id}`, { username: 'hansi' })
    expect((await hans.get('/projects/hansi%2Ftool')).body.id).toBe(project.id)
    expect((await hans.get('/projects/hans%2Ftool')).status).toBe(301)
  })
  test('sees their own record', async () => {
    const own = (await ana.get('/user')).body
    expect(own).toMatchObject({
      id: ana.id,
      email: 'ana@example.com',
      commit_email: 'ana@example.com',
    })
    expect(own).not.toHaveProperty('is_admin')
    expect((await root.get('/user')).body.is_admin).toBe(true)
    const reader = world.as(await world.token(ana.id, ['read_user']))
    expect((await reader.get('/user')).status).toBe(200)
    expect((await reader.get('/version')).status).toBe(200)
  })
})

describe('states', () => {
  test('a blocked user is shut out until unblocked', async () => {
    const ida = await world.user('ida')
    expect((await root.post(`/users/${ida.id}/block`)).body).toBe(true)
    expect((await ida.get('/user')).status).toBe(403)
    const post = async (what: string) => {
      const { status, body } = await root.post(`/users/${ida.id}/${what}`)
      return [status, body]
    }
    expect(await post('block')).toEqual([201, null])
    expect(await post('unblock')).toEqual([201, true])
    expect(await post('unblock')).toEqual([201, false])
    expect((await ida.get('/user')).status).toBe(200)
  })
  test('only somebody who was away is deactivated', async () => {
    const jan = await world.user('jan')
    await jan.get('/user')
    expect((await root.post(`/users/${jan.id}/deactivate`)).status).toBe(403)
    const kim = await world.user('kim')
    expect((await root.post(`/users/${kim.id}/deactivate`)).body).toBe(true)
    expect((await root.post(`/users/${kim.id}/unblock`)).status).toBe(403)
    expect((await root.post(`/users/${kim.id}/activate`)).body).toBe(true)
  })
  test('nobody is banned twice, and an administrator does not block themselves', async () => {
    const leo = await world.user('leo')
    expect((await root.post(`/users/${leo.id}/ban`)).body).toBe(true)
    expect((await root.post(`/users/${leo.id}/ban`)).status).toBe(403)
    expect((await root.post(`/users/${leo.id}/unban`)).body).toBe(true)
    expect((await root.post(`/users/${root.id}/block`)).status).toBe(403)
  })
  test('approval and rejection are for those who wait', async () => {
    const { db } = world.ctx
    const [mia, nils] = [await world.user('mia'), await world.user('nils')]
    const wait = (id: number) =>
      db
        .updateTable('users')
        .set({ state: 'blocked_pending_approval' })
        .where('id', '=', id)
        .execute()
    expect((await root.post(`/users/${mia.id}/approve`)).status).toBe(409)
    await wait(mia.id)
    await wait(nils.id)
    const approved = await root.post(`/users/${mia.id}/approve`)
    expect([approved.status, approved.body]).toEqual([201, { message: 'Success' }])
    const rejected = await root.post(`/users/${nils.id}/reject`)
    expect([rejected.status, rejected.body]).toEqual([201, { message: 'Success' }])
    expect((await root.get(`/users/${nils.id}`)).status).toBe(404)
  })
})

describe('deleting users', () => {
  test('removes the user with tokens and namespace', async () => {
    const otto = await world.user('otto')
    expect((await root.delete(`/users/${otto.id}`)).status).toBe(204)
    expect((await root.get(`/users/${otto.id}`)).status).toBe(404)
    expect((await otto.get('/user')).status).toBe(401)
    expect((await root.post('/users', input('otto'))).status).toBe(201)
  })
  test('honours If-Unmodified-Since', async () => {
    const paul = await world.user('paul')
    const headers = { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' }
    expect((await root.delete(`/users/${paul.id}`, undefined, { headers })).status).toBe(412)
    const bad = { 'If-Unmodified-Since': 'yesterday' }
    expect((await root.delete(`/users/${paul.id}`, undefined, { headers: bad })).status).toBe(204)
  })
  test('takes personal projects along, and shuts the user out meanwhile', async () => {
    const quinn = await world.user('quinn')
    const project = await createProject(quinn, 'mine')
    expect((await root.delete(`/users/${quinn.id}`)).status).toBe(204)
    await expect.poll(async () => (await root.get(`/users/${quinn.id}`)).status).toBe(404)
    expect((await root.get(`/projects/${project.id}`)).status).toBe(404)
  })
  test('is refused while the user alone owns a group', async () => {
    const rosa = await world.user('rosa')
    const now = world.ctx.now()
    const { db } = world.ctx
    const group = await db
      .insertInto('namespaces')
      .values({
        kind: 'group',
        name: 'g',
        path: 'solely',
        full_path: 'solely',
        full_name: 'g',
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await db
      .insertInto('members')
      .values({
        source_type: 'group',
        source_id: group.id,
        user_id: rosa.id,
        access_level: 50,
        created_at: now,
        updated_at: now,
      })
      .execute()
    const reply = await root.delete(`/users/${rosa.id}`)
    expect([reply.status, reply.body]).toEqual([
      409,
      { message: 'User cannot be removed while is the sole-owner of a group' },
    ])
  })
})

test('a hard delete takes what was written, and the groups that nobody else owns', async () => {
  const uma = await world.user('uma')
  const top = await createGroup(uma, 'umas', { name: 'top' })
  const below = await createGroup(uma, 'b', { parent_id: top.id })
  const shared = await createProject(ana, 'shared', { visibility: 'public' })
  await uma.post(`/projects/${shared.id}/issues`, { title: 'mine' })
  expect((await root.delete(`/users/${uma.id}?hard_delete=true`)).status).toBe(204)
  await expect.poll(async () => (await root.get(`/users/${uma.id}`)).status).toBe(404)
  for (const id of [top.id, below.id]) expect((await root.get(`/groups/${id}`)).status).toBe(404)
  expect((await root.get(`/projects/${shared.id}/issues`)).body).toEqual([])
  expect((await root.get(`/projects/${shared.id}`)).status).toBe(200)
})

test('otherwise what was written becomes the ghost’s', async () => {
  const vera = await world.user('vera')
  const shared = await createProject(ana, 'kept', { visibility: 'public' })
  const issue = (await vera.post(`/projects/${shared.id}/issues`, { title: 'stays' })).body
  await vera.post(`/projects/${shared.id}/issues/${issue.iid}/notes`, { body: 'a word' })
  expect((await root.delete(`/users/${vera.id}`)).status).toBe(204)
  const kept = (await root.get(`/projects/${shared.id}/issues/${issue.iid}`)).body
  expect(kept.author).toMatchObject({ username: 'ghost', name: 'Ghost User' })
  const [note] = (await root.get(`/projects/${shared.id}/issues/${issue.iid}/notes`)).body
  expect(note.author.username).toBe('ghost')
})

describe('what people say of themselves', () => {
  test('PUT clears what was not sent, PATCH keeps it', async () => {
    await ana.put('/user/status', { emoji: 'tea', message: '<b>', availability: 'busy' })
    const kept = await ana.patch('/user/status', { message: 'away', clear_status_after: '3_hours' })
    expect(kept.body).toEqual({
      emoji: 'tea',
      message: 'away',
      availability: 'busy',
      message_html: 'away',
      clear_status_at: '2026-05-04T13:00:00.000Z',
    })
    const cleared = await ana.put('/user/status', { message: 'x <' })
    expect(cleared.body).toMatchObject({ availability: 'not_set', message_html: 'x &lt;' })
    expect((await world.nobody.get('/users/ana/status')).body.message).toBe('x <')
  })
  test('preferences are kept', async () => {
    await ana.put('/user/preferences', { view_diffs_file_by_file: true })
    const reply = await ana.get('/user/preferences')
    expect(reply.body).toMatchObject({
      view_diffs_file_by_file: true,
      show_whitespace_in_diffs: true,
    })
  })
  test('an avatar is an image', async () => {
    const send = (bytes: Buffer, name: string) => {
      const form = new FormData()
      form.append('avatar', new Blob([new Uint8Array(bytes)]), name)
      return ana.call('PUT', '/user/avatar', undefined, { raw: form })
    }
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    const good = await send(png, 'me & you.png')
    expect(good.body.avatar_url).toContain(`/uploads/-/system/user/avatar/${ana.id}/me_you.png`)
    expect((await send(Buffer.from('<svg onload=x>'), 'a.png')).status).toBe(400)
    expect((await send(Buffer.concat([png, Buffer.alloc(300_000)]), 'a.png')).status).toBe(400)
  })
  test('further addresses are confirmed by their owner, or by an administrator', async () => {
    const own = await ana.post('/user/emails', { email: 'ana2@example.org' })
    expect(own.body).toMatchObject({ email: 'ana2@example.org', confirmed_at: null })
    const sure = await root.post(`/users/${ana.id}/emails`, {
      email: 'ana3@example.org',
      skip_confirmation: true,
    })
    expect(sure.body.confirmed_at).toBe(world.ctx.now())
    expect((await ana.get('/user/emails')).body).toHaveLength(2)
    const twice = await ana.post('/user/emails', { email: 'ANA2@example.org' })
    expect(twice.body).toEqual({ message: { email: ['has already been taken'] } })
    const foreign = await world.user('sam')
    expect((await foreign.delete(`/user/emails/${own.body.id}`)).status).toBe(404)
    expect((await ana.delete(`/user/emails/${own.body.id}`)).status).toBe(204)
  })
  test('people follow one another', async () => {
    const tom = await world.user('tom')
    expect((await ana.post(`/users/${tom.id}/follow`)).body.id).toBe(tom.id)
    expect((await ana.post(`/users/${tom.id}/follow`)).status).toBe(304)
    expect((await ana.post(`/users/${ana.id}/follow`)).status).toBe(400)
    expect((await ana.get(`/users/${tom.id}`)).body).toMatchObject({
      followers: 1,
      is_followed: true,
    })
    expect((await world.nobody.get(`/users/${tom.id}/followers`)).body).toMatchObject([
      { id: ana.id },
    ])
    expect((await ana.post(`/users/${tom.id}/unfollow`)).status).toBe(201)
    expect((await ana.post(`/users/${tom.id}/unfollow`)).status).toBe(304)
  })
  test('counts and activities answer', async () => {
    expect((await ana.get('/user_counts')).body).toMatchObject({ todos: 0 })
    expect((await ana.get(`/users/${ana.id}/associations_count`)).body.groups_count).toBe(0)
    expect((await ana.get(`/users/${root.id}/associations_count`)).status).toBe(403)
    const active = (await root.get('/user/activities?from=2026-05-01')).body
    expect(active).toContainEqual({
      username: 'ana',
      last_activity_on: '2026-05-04',
      last_activity_at: '2026-05-04',
    })
    expect((await root.get(`/users/${ana.id}/memberships?type=x`)).body.error).toBe(
      'type does not have a valid value',
    )
  })
})
