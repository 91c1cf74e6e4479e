import { rmSync } from 'node:fs'
import { findTokenByDigest } from '../../src/access/authentication/sign-in-queries.ts'
import { findGroupRole, findProjectRole } from '../../src/access/find-queries.ts'
import { digestOf } from '../../src/access/token-use.ts'
import { listGroupRows } from '../../src/projects/groups/list-queries.ts'
import { listMemberViews } from '../../src/projects/members/list-queries.ts'
import { listProjectRows } from '../../src/projects/projects/list/queries.ts'
import type { Db } from '../../src/store/schema.ts'
import { openTestStore } from '../../test/support/database.ts'
import { median, type Row } from './measure.ts'

const now = '2026-05-04T10:00:00.000Z'
const today = now.slice(0, 10)
const stamps = { created_at: now, updated_at: now }

async function addUsers(db: Db, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at += 500) {
    const rows = Array.from({ length: Math.min(500, count - at) }, (_, index) => {
      const username = `user-${at + index}`
      return { username, name: username, email: `${username}@example.com`, ...stamps }
    })
    const made = await db.insertInto('users').values(rows).returning('id').execute()
    ids.push(...made.map((row) => row.id))
  }
  return ids
}

async function addGroup(
  db: Db,
  path: string,
  parent?: { id: number; full_path: string },
): Promise<{ id: number; full_path: string }> {
  const full = parent ? `${parent.full_path}/${path}` : path
  return await db
    .insertInto('namespaces')
    .values({
      kind: 'group',
      parent_id: parent?.id ?? null,
      name: path,
      path,
      full_path: full,
      full_name: full,
      visibility: path.endsWith('7') ? 'public' : 'private',
      ...stamps,
    })
    .returning(['id', 'full_path'])
    .executeTakeFirstOrThrow()
}

async function addMembers(db: Db, groupId: number, userIds: readonly number[]): Promise<void> {
  for (let at = 0; at < userIds.length; at += 500) {
    const rows = userIds.slice(at, at + 500).map((user_id, index) => ({
      source_type: 'group' as const,
      source_id: groupId,
      user_id,
      access_level: [10, 20, 30, 40][index % 4] ?? 30,
      ...stamps,
    }))
    await db.insertInto('members').values(rows).execute()
  }
}

async function addProjects(db: Db, groups: readonly { id: number; full_path: string }[]) {
  for (const [index, group] of groups.entries()) {
    const rows = Array.from({ length: 10 }, (_, at) => {
      const path = `project-${index}-${at}`
      return {
        namespace_id: group.id,
        name: path,
        path,
        full_path: `${group.full_path}/${path}`,
        visibility: index % 7 === 0 ? ('public' as const) : ('private' as const),
        last_activity_at: now,
        ...stamps,
      }
    })
    await db.insertInto('projects').values(rows).execute()
  }
}

/** Longest that a page may take in SQL. */
const LIMIT = 20

/** Longest that a page of members, and what every request asks, may take (the figures of the issue). */
const PAGE_LIMIT = 30
const ROLE_LIMIT = 1
const TOKEN_LIMIT = 0.2

async function time(
  name: string,
  act: () => Promise<unknown>,
  limit: number = LIMIT,
  repeat = 1,
): Promise<Row> {
  const taken: number[] = []
  for (let run = 0; run < 20; run += 1) {
    // Time of the processor: others who use the machine do not count.
    const started = process.cpuUsage()
    for (let at = 0; at < repeat; at += 1) await act()
    const { user, system } = process.cpuUsage(started)
    taken.push((user + system) / 1000 / repeat)
  }
  const slowest = `slowest ${Math.max(...taken).toFixed(1)} ms`
  return { what: name, ours: slowest, theirs: '', value: median(taken), unit: 'ms', limit }
}

/**
 * The lists of projects, groups and members on 10,000 projects in 1,000 groups, and on a group with 5,000 members on
 * three levels and 50 invited groups: the median of twenty.
 */
export async function* benchSpaces(): AsyncGenerator<Row> {
  const store = openTestStore()
  const { db } = store
  const seed = await db.transaction().execute(async (db) => {
    const users = await addUsers(db, 5000)
    const groups: { id: number; full_path: string }[] = []
    for (let index = 0; index < 1000; index += 1) groups.push(await addGroup(db, `group-${index}`))
    await addProjects(db, groups)
    const top = await addGroup(db, 'top')
    const middle = await addGroup(db, 'middle', top)
    const low = await addGroup(db, 'low', middle)
    await addMembers(db, top.id, users.slice(0, 2000))
    await addMembers(db, middle.id, users.slice(1500, 3500))
    await addMembers(db, low.id, users.slice(3000, 5000))
    for (const [index, group] of groups.slice(0, 50).entries()) {
      await addMembers(db, group.id, users.slice(index * 90, index * 90 + 100))
      await db
        .insertInto('group_links')
        .values({
          source_type: 'group',
          source_id: low.id,
          group_id: group.id,
          access_level: 30,
          created_at: now,
        })
        .execute()
    }
    for (const group of groups.slice(100, 200)) await addMembers(db, group.id, users.slice(0, 1))
    return { users, groups, low }
  })

  const userId = seed.users[0] ?? 0
  const viewer = { userId, admin: false, external: false, today }
  const admin = { ...viewer, admin: true }
  const stranger = { ...viewer, userId: null }
  const first = { kind: 'offset', number: 1, perPage: 20, offset: 0 } as const
  const deep = { kind: 'offset', number: 400, perPage: 20, offset: 7980 } as const
  const key = (after?: Record<string, string>) =>
    ({ kind: 'keyset', perPage: 20, orderBy: 'id', sort: 'asc', after }) as const
  const all = { kind: 'all' } as const

  yield await time('projects, first page, administrator', () =>
    listProjectRows(db, admin, all, {}, first),
  )
  yield await time('projects, page 400, administrator', () =>
    listProjectRows(db, admin, all, {}, deep),
  )
  yield await time('projects, first page, member of 150 groups', () =>
    listProjectRows(db, viewer, all, {}, first),
  )
  yield await time('projects, own only, member of 150 groups', () =>
    listProjectRows(db, viewer, all, { membership: true }, first),
  )
  yield await time('projects, search, member of 150 groups', () =>
    listProjectRows(db, viewer, all, { search: 'project-12' }, first),
  )
  yield await time('projects, first page, anonymous', () =>
    listProjectRows(db, stranger, all, {}, first),
  )
  yield await time('projects, keyset, first page', () =>
    listProjectRows(db, admin, all, { order_by: 'id' }, key()),
  )
  yield await time('projects, keyset, after 9,000', () =>
    listProjectRows(db, admin, all, { order_by: 'id' }, key({ id: '9000' })),
  )
  yield await time('groups, first page, administrator', () =>
    listGroupRows(db, admin, all, {}, first),
  )
  yield await time('groups, first page, member of 150', () =>
    listGroupRows(db, viewer, all, {}, first),
  )
  const scope = {
    source: { type: 'group', id: seed.low.id, namespaceId: seed.low.id },
    viewer,
    inside: true,
  } as const
  yield await time(
    'members/all of 5,000 with 50 invited groups, first page',
    () => listMemberViews(db, { ...scope, all: true }, {}, first),
    PAGE_LIMIT,
  )
  const hundredth = { kind: 'offset', number: 100, perPage: 20, offset: 1980 } as const
  yield await time(
    'members/all, page 100',
    () => listMemberViews(db, { ...scope, all: true }, {}, hundredth),
    PAGE_LIMIT,
  )
  yield await time('members, direct, first page', () =>
    listMemberViews(db, { ...scope, all: false }, {}, first),
  )
  const project = await db
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .orderBy('id')
    .executeTakeFirstOrThrow()
  yield await time(
    'role in a project',
    () => findProjectRole(db, userId, project, today),
    ROLE_LIMIT,
    50,
  )
  yield await time(
    'role in the group with 50 invited groups',
    () => findGroupRole(db, userId, seed.low.id, today),
    ROLE_LIMIT,
    50,
  )
  yield* benchTokens(db, seed.users)
  await store.remove()
  rmSync(store.folder, { recursive: true, force: true })
}

const TOKENS = 100_000

/** Authentication by token: one of 100,000 by its digest. */
async function* benchTokens(db: Db, users: readonly number[]): AsyncGenerator<Row> {
  await db.transaction().execute(async (db) => {
    for (let at = 0; at < TOKENS; at += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => ({
        kind: 'personal' as const,
        user_id: users[(at + index) % users.length] ?? 0,
        name: 'token',
        digest: digestOf(`token-${at + index}`),
        scopes: '["api"]',
        ...stamps,
      }))
      await db.insertInto('access_tokens').values(rows).execute()
    }
  })
  let at = 0
  yield await time(
    `one of ${TOKENS.toLocaleString('en')} tokens by its secret`,
    () => {
      at += 7919
      return findTokenByDigest(db, digestOf(`token-${at % TOKENS}`))
    },
    TOKEN_LIMIT,
    200,
  )
}
