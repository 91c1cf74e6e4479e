import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nextIid } from '../../src/store/iid.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { taken, uniquely } from '../../src/store/unique.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

const now = '2026-01-02T03:04:05.000Z'
let store: TestStore
beforeEach(() => {
  store = openTestStore()
})
afterEach(() => store.remove())

async function user(username: string) {
  const row = { username, name: username, email: `${username}@example.com` }
  const { id } = await store.db
    .insertInto('users')
    .values({ ...row, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function group(path: string, parent?: { id: number; full_path: string }) {
  const full = parent ? `${parent.full_path}/${path}` : path
  return store.db
    .insertInto('namespaces')
    .values({
      kind: 'group',
      parent_id: parent?.id ?? null,
      name: path,
      path,
      full_path: full,
      full_name: full,
      created_at: now,
      updated_at: now,
    })
    .returning(['id', 'full_path'])
    .executeTakeFirstOrThrow()
}

async function project(path: string, parent: { id: number; full_path: string }, from?: number) {
  return store.db
    .insertInto('projects')
    .values({
      namespace_id: parent.id,
      name: path,
      path,
      full_path: `${parent.full_path}/${path}`,
      forked_from_id: from ?? null,
      last_activity_at: now,
      created_at: now,
      updated_at: now,
    })
    .returning(['id', 'full_path'])
    .executeTakeFirstOrThrow()
}

async function ancestors(id: number) {
  const rows = await store.db
    .selectFrom('namespace_ancestors')
    .select(['ancestor_id', 'depth'])
    .where('namespace_id', '=', id)
    .orderBy('depth')
    .execute()
  return rows.map((row) => [row.ancestor_id, row.depth])
}

async function paths(table: 'routes' | 'redirects') {
  const rows = await store.db.selectFrom(table).select('path').orderBy('path').execute()
  return rows.map((row) => row.path)
}

describe('groups', () => {
  test('know everything above them, also after a move', async () => {
    const a = await group('a')
    const b = await group('b', a)
    const c = await group('c', b)
    const other = await group('other')
    expect(await ancestors(c.id)).toEqual([
      [c.id, 0],
      [b.id, 1],
      [a.id, 2],
    ])
    await store.db
      .updateTable('namespaces')
      .set({ parent_id: other.id })
      .where('id', '=', b.id)
      .execute()
    expect(await ancestors(c.id)).toEqual([
      [c.id, 0],
      [b.id, 1],
      [other.id, 2],
    ])
    expect(await ancestors(b.id)).toEqual([
      [b.id, 0],
      [other.id, 1],
    ])
  })

  test('never move below themselves', async () => {
    const a = await group('a')
    const b = await group('b', a)
    const moving = store.db
      .updateTable('namespaces')
      .set({ parent_id: b.id })
      .where('id', '=', a.id)
      .execute()
    await expect(moving).rejects.toThrow('a group cannot move below itself')
  })
})

describe('paths', () => {
  test('are one name space for groups and projects, whatever the case', async () => {
    const a = await group('a')
    await group('tools', a)
    const clash = uniquely({ 'routes.path': () => taken('path') }, () => project('Tools', a))
    await expect(clash).rejects.toMatchObject({
      status: 400,
      body: { message: { path: ['has already been taken'] } },
    })
    expect(await paths('routes')).toEqual(['a', 'a/tools'])
  })

  test('of renamed projects lead on until somebody takes them', async () => {
    const a = await group('a')
    const old = await project('old', a)
    await store.db
      .updateTable('projects')
      .set({ path: 'new', name: 'new', full_path: 'a/new' })
      .where('id', '=', old.id)
      .execute()
    expect(await paths('routes')).toEqual(['a', 'a/new'])
    expect(await paths('redirects')).toEqual(['a/old'])
    await project('old', a)
    expect(await paths('redirects')).toEqual([])
  })

  test('that change their case only leave no redirect', async () => {
    const a = await group('a')
    const it = await project('tool', a)
    await store.db
      .updateTable('projects')
      .set({ path: 'Tool', full_path: 'a/Tool' })
      .where('id', '=', it.id)
      .execute()
    expect(await paths('routes')).toEqual(['a', 'a/Tool'])
    expect(await paths('redirects')).toEqual([])
  })

  test('go with their owner', async () => {
    const a = await group('a')
    const it = await project('tool', a)
    await store.db.deleteFrom('projects').where('id', '=', it.id).execute()
    await store.db.deleteFrom('namespaces').where('id', '=', a.id).execute()
    expect(await paths('routes')).toEqual([])
  })
})

describe('counts', () => {
  test('of stars follow the stars, also when a user goes', async () => {
    const ana = await user('ana')
    const it = await project('tool', await group('a'))
    await store.db
      .insertInto('stars')
      .values({ user_id: ana, project_id: it.id, created_at: now })
      .execute()
    const starCount = () =>
      store.db.selectFrom('projects').select('star_count').executeTakeFirstOrThrow()
    expect(await starCount()).toEqual({ star_count: 1 })
    await store.db.deleteFrom('users').where('id', '=', ana).execute()
    expect(await starCount()).toEqual({ star_count: 0 })
  })

  test('of forks follow the forks', async () => {
    const a = await group('a')
    const source = await project('source', a)
    const fork = await project('fork', a, source.id)
    const forks = async () => {
      const row = await store.db
        .selectFrom('projects')
        .select('forks_count')
        .where('id', '=', source.id)
        .executeTakeFirstOrThrow()
      return row.forks_count
    }
    expect(await forks()).toBe(1)
    await store.db.deleteFrom('projects').where('id', '=', fork.id).execute()
    expect(await forks()).toBe(0)
  })
})

test('the members, tokens and links of a project go with it', async () => {
  const ana = await user('ana')
  const a = await group('a')
  const it = await project('tool', a)
  await store.db
    .insertInto('members')
    .values({
      source_type: 'project',
      source_id: it.id,
      user_id: ana,
      access_level: 30,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await nextIid(store.db, it.id, 'issue')
  await store.db.deleteFrom('projects').where('id', '=', it.id).execute()
  expect(await store.db.selectFrom('members').selectAll().execute()).toEqual([])
  expect(await store.db.selectFrom('internal_ids').selectAll().execute()).toEqual([])
})

test('numbers inside a project have no gaps, and an undone transaction gives its number back', async () => {
  const it = await project('tool', await group('a'))
  const takeOne = () => inTransaction(store, (ctx) => nextIid(ctx.db, it.id, 'issue'))
  const taken = await Promise.all(Array.from({ length: 20 }, takeOne))
  expect(taken.sort((one, other) => one - other)).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
  const undone = inTransaction(store, async (ctx) => {
    await nextIid(ctx.db, it.id, 'issue')
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  expect(await takeOne()).toBe(21)
})

test('a user has one namespace, and a second is refused', async () => {
  const ana = await user('ana')
  const own = (path: string) =>
    store.db
      .insertInto('namespaces')
      .values({
        kind: 'user',
        owner_id: ana,
        name: path,
        path,
        full_path: path,
        full_name: path,
        created_at: now,
        updated_at: now,
      })
      .execute()
  await own('ana')
  await expect(own('ana2')).rejects.toThrow('UNIQUE constraint failed: namespaces.owner_id')
})
