import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ANONYMOUS } from '../../src/access/actor.ts'
import { migrations } from '../../src/areas.ts'
import type { ApiRequest } from '../../src/http/request.ts'
import { ResponseCache } from '../../src/http/response-cache.ts'
import { openStore } from '../../src/store/connection.ts'
import type { Db } from '../../src/store/schema.ts'
import { newFolder, openTestStore, placeDatabase } from '../support/database.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let ana: Caller
let ben: Caller
beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  ben = await world.user('ben')
  await ana.post('/groups', { name: 'Team', path: 'team', visibility: 'public' })
  await ana.post('/groups', { name: 'Other', path: 'other', visibility: 'private' })
  const namespace_id = (await ana.get('/groups/team')).body.id
  await ana.post('/projects', { name: 'one', namespace_id, visibility: 'public' })
  await ana.post('/projects', { name: 'two', namespace_id, initialize_with_readme: true })
  await ana.post('/projects', { name: 'own', visibility: 'internal' })
})
afterAll(() => world.close())

let asked = 0
let seenLast = ''

/**
 * What everybody sees, as it may be kept and as it is made anew: an address that was never asked before is not kept. A
 * task that ends between the two is no fault; what is old stays old.
 */
async function expectFresh(): Promise<string> {
  const paths = [
    '/projects?statistics=true',
    '/groups/team',
    `/users/${ana.id}`,
    '/projects/team%2Ftwo',
    '/groups/team/projects',
  ]
  const seen: unknown[] = []
  for (const caller of [ana, ben, world.nobody]) {
    for (const path of paths) {
      await expect
        .poll(async () => {
          asked += 1
          const kept = await caller.get(path)
          const made = await caller.get(`${path}${path.includes('?') ? '&' : '?'}fresh=${asked}`)
          seen.push(kept.status, kept.body)
          const [one, other] = [kept, made].map(({ status, body }) => ({ status, body }))
          return { path, differs: JSON.stringify(one) !== JSON.stringify(other) }
        })
        .toEqual({ path, differs: false })
    }
  }
  return JSON.stringify(seen)
}

type Change = readonly [what: string, act: () => Promise<{ readonly status: number }>]

const project = '/projects/team%2Ftwo'

describe('an answer that was kept is never old', () => {
  const changes: Change[] = [
    ['a new description', () => ana.put(project, { description: 'New *words*' })],
    ['a setting', () => ana.put(project, { merge_method: 'ff', issues_enabled: false })],
    ['the setting back', () => ana.put(project, { issues_enabled: true })],
    ['topics', () => ana.put(project, { topics: ['a', 'b'] })],
    ['a star', () => ana.post(`${project}/star`)],
    ['a member', () => ana.post(`${project}/members`, { user_id: ben.id, access_level: 30 })],
    ['another role', () => ana.put(`${project}/members/${ben.id}`, { access_level: 40 })],
    ['an issue', () => ana.post(`${project}/issues`, { title: 'It squeaks' })],
    ['a closed issue', () => ana.put(`${project}/issues/1`, { state_event: 'close' })],
    ['a commit', () => commit('LICENSE', 'MIT License\n')],
    ['a branch as default', () => defaultBranch()],
    ['a fork', () => ben.post(`${project}/fork`)],
    ['an invited group', () => invite()],
    ['the day on which a membership ends', () => nextDay()],
    ['a group renamed', () => ana.put('/groups/team', { name: 'The team' })],
    ['a group archived', () => ana.post('/groups/team/archive')],
    ['and back', () => ana.post('/groups/team/unarchive')],
    ['a project hidden', () => ana.put('/projects/team%2Fone', { visibility: 'private' })],
    ['an owner renamed', () => ana.put('/user', { name: 'Ana B.' }).then(() => renameAna())],
    ['a custom attribute', () => attribute()],
    ['an appearance of settings', () => settings()],
    ['a user blocked', () => world.root.post(`/users/${ben.id}/block`)],
    ['and let in', () => world.root.post(`/users/${ben.id}/unblock`)],
    ['a project deleted', () => ana.delete('/projects/team%2Fone')],
  ]
  test.each(changes)('after %s', async (_, act) => {
    const { status } = await act()
    expect(status).toBeLessThan(300)
    await expectFresh()
    await world.runTasks()
    const seen = await expectFresh()
    expect(seen).not.toBe(seenLast)
    seenLast = seen
  })

  const commit = (file_path: string, content: string) =>
    ana.post(`${project}/repository/files/${file_path}`, {
      branch: 'main',
      content,
      commit_message: 'Add a file',
    })

  async function defaultBranch() {
    await ana.post(`${project}/repository/branches?branch=next&ref=main`)
    return ana.put(project, { default_branch: 'next' })
  }

  async function invite() {
    const { body } = await ana.get('/groups/other')
    return ana.post(`${project}/share`, { group_id: body.id, group_access: 20 })
  }

  const expire = () =>
    ana.put(`${project}/members/${ben.id}`, { access_level: 40, expires_at: '2026-05-05' })

  async function nextDay() {
    await expire()
    await expectFresh()
    world.setNow('2026-05-05T00:00:01.000Z')
    return { status: 200 }
  }

  const renameAna = () => world.root.put(`/users/${ana.id}`, { name: 'Ana B.' })

  const attribute = () =>
    world.root.put(`/users/${ana.id}/custom_attributes/room`, { value: '12' }).then(async () => {
      const { body } = await ana.get(project)
      await world.root.put(`/projects/${body.id}/custom_attributes/room`, { value: '12' })
      return ana.put(project, { description: 'with attributes' })
    })

  const settings = async () => {
    await world.root.put('/application/settings', { gravatar_enabled: false })
    return ana.put(project, { description: 'with other settings' })
  }

  test('when another process has written', async () => {
    await expectFresh()
    const other = openStore(world.folder, { migrations, synchronous: 'off', mayMigrate: false })
    await other.db.updateTable('projects').set({ description: 'from elsewhere' }).execute()
    expect((await ana.get('/projects')).body[0].description).toBe('from elsewhere')
    await other.close()
  })

  test('and a revoked token gets nothing of it', async () => {
    const token = await world.token(ana.id, ['api'])
    const caller = world.as(token)
    expect((await caller.get('/projects')).status).toBe(200)
    expect((await caller.get('/projects')).status).toBe(200)
    await caller.delete('/personal_access_tokens/self')
    expect((await caller.get('/projects')).status).toBe(401)
  })

  test('and a token of another scope gets none either', async () => {
    expect((await ana.get('/projects')).status).toBe(200)
    const narrow = world.as(await world.token(ana.id, ['read_repository']))
    expect((await narrow.get('/projects')).status).toBe(403)
  })
})

describe('what is kept', () => {
  const now = '2026-05-04T10:00:00.000Z'
  const addUser = (db: Db) =>
    db
      .insertInto('users')
      .values({
        username: 'eve',
        name: 'Eve',
        email: 'eve@example.com',
        created_at: now,
        updated_at: now,
      })
      .execute()
  const request = (rawQuery = '', rawPath = '/things') => ({ rawPath, rawQuery }) as ApiRequest

  test('is given again until one of its tables changes, and stays within its bounds', async () => {
    const folder = newFolder()
    placeDatabase(folder)
    const store = openStore(folder, { migrations, synchronous: 'off', cacheBytes: 64 * 1024 })
    const kept = new ResponseCache(store.cache)
    const ctx = { ...world.app.makeCtx(ANONYMOUS), db: store.db }
    const answer = (body: string) => ({ status: 200, headers: {}, body })
    const fill = async (query: string, body: string) => {
      const place = kept.place(ctx, request(query))
      await place?.begin().db.selectFrom('users').select('id').execute()
      place?.keep(answer(body))
    }
    await fill('', 'first')
    expect(kept.place(ctx, request())?.find()?.body.toString()).toBe('first')
    await store.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    expect(kept.place(ctx, request())?.find()?.body.toString()).toBe('first')
    await addUser(store.db)
    expect(kept.place(ctx, request())?.find()).toBeUndefined()
    for (let index = 0; index < 200; index += 1) await fill(`page=${index}`, 'x'.repeat(2000))
    expect(store.cache.bytes).toBeLessThanOrEqual(64 * 1024)
    expect(kept.place(ctx, request('page=199'))?.find()).toBeDefined()
    expect(kept.place(ctx, request('page=0'))?.find()).toBeUndefined()
    await store.close()
    rmSync(folder, { recursive: true })
  })

  test('is nothing that was written to while it was being made', async () => {
    const store = openTestStore()
    const kept = new ResponseCache(store.cache)
    const ctx = { ...world.app.makeCtx(ANONYMOUS), db: store.db }
    const place = kept.place(ctx, request())
    await place?.begin().db.selectFrom('settings').selectAll().execute()
    await store.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    place?.keep({ status: 200, headers: {}, body: 'old' })
    expect(kept.place(ctx, request())?.find()).toBeUndefined()
    await store.remove()
  })

  test('is nothing that looked into a repository, no refusal, and nothing asked with a secret', async () => {
    const store = openTestStore()
    const kept = new ResponseCache(store.cache)
    const ctx = { ...world.app.makeCtx(ANONYMOUS), db: store.db }
    const place = kept.place(ctx, request())
    void place?.begin().git
    place?.keep({ status: 200, headers: {}, body: 'of git' })
    expect(kept.place(ctx, request())?.find()).toBeUndefined()
    const refused = kept.place(ctx, request())
    refused?.begin()
    refused?.keep({ status: 403, headers: {}, body: 'no' })
    expect(kept.place(ctx, request())?.find()).toBeUndefined()
    expect(kept.place(ctx, request('private_token=secret'))).toBeUndefined()
    await store.remove()
  })
})
