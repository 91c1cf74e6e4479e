import { setImmediate as nextRequest } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findProjectById, findProjectRole } from '../../src/access/find-queries.ts'
import { migrations } from '../../src/areas.ts'
import { openStore, type Store } from '../../src/store/connection.ts'
import type { Db } from '../../src/store/schema.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

/**
 * Whatever is written, how and by whom: what the cache gives is what the database says. The answers are those that each
 * request asks for, and inside of a transaction they always come from the database.
 */
const now = '2026-01-02T03:04:05.000Z'
const today = '2026-01-02'
const times = { created_at: now, updated_at: now }

let store: TestStore
let other: Store
let user: number
let groups: readonly number[]
let project: number

beforeAll(async () => {
  store = openTestStore()
  other = openStore(store.folder, { migrations, synchronous: 'off' })
  const { db } = store
  const people = { username: 'u', name: 'u', email: 'u@example.com' }
  user = (
    await db
      .insertInto('users')
      .values({ ...people, ...times })
      .returning('id')
      .executeTakeFirstOrThrow()
  ).id
  const made: number[] = []
  for (const [path, parent] of [
    ['top', null],
    ['top/mid', 0],
    ['side', null],
  ] as const) {
    const name = path.split('/').at(-1) ?? ''
    const names = { name, path: name, full_path: path, full_name: path }
    const parent_id = parent === null ? null : (made[parent] ?? null)
    const row = await db
      .insertInto('namespaces')
      .values({ kind: 'group', parent_id, ...names, ...times })
      .returning('id')
      .executeTakeFirstOrThrow()
    made.push(row.id)
  }
  groups = made
  const row = { namespace_id: made[1] ?? 0, name: 'p', path: 'p', full_path: 'top/mid/p' }
  project = (
    await db
      .insertInto('projects')
      .values({ ...row, last_activity_at: now, ...times })
      .returning('id')
      .executeTakeFirstOrThrow()
  ).id
})
afterAll(async () => {
  await other.close()
  await store.remove()
})

type Write = (db: Db) => Promise<unknown>

const member =
  (source: number, level: number, type: 'group' | 'project' = 'group'): Write =>
  async (db) => {
    const place = { source_type: type, source_id: source, user_id: user }
    await db
      .deleteFrom('members')
      .where('source_type', '=', type)
      .where('source_id', '=', source)
      .execute()
    if (level > 0)
      await db
        .insertInto('members')
        .values({ ...place, access_level: level, ...times })
        .execute()
  }

const writes: fc.Arbitrary<readonly [string, Write]> = fc.oneof(
  fc
    .tuple(fc.nat(2), fc.constantFrom(0, 10, 30, 50))
    .map(
      ([at, level]) =>
        [`level ${level} in group ${at}`, (db: Db) => member(groups[at] ?? 0, level)(db)] as const,
    ),
  fc
    .constantFrom(0, 20, 40)
    .map(
      (level) =>
        [
          `level ${level} in the project`,
          (db: Db) => member(project, level, 'project')(db),
        ] as const,
    ),
  fc.constantFrom(0, 1).map(
    (archived) =>
      [
        `the top group archived ${archived}`,
        (db: Db) =>
          db
            .updateTable('namespaces')
            .set({ archived: archived as 0 | 1 })
            .where('id', '=', groups[0] ?? 0)
            .execute(),
      ] as const,
  ),
  fc
    .constantFrom('one', 'two')
    .map(
      (name) =>
        [
          `named ${name}`,
          (db: Db) => db.updateTable('projects').set({ name }).where('id', '=', project).execute(),
        ] as const,
    ),
  fc.boolean().map(
    (isInvited) =>
      [
        `side invited ${isInvited}`,
        async (db: Db) => {
          await db.deleteFrom('group_links').execute()
          const link = {
            source_type: 'project',
            source_id: project,
            group_id: groups[2] ?? 0,
          } as const
          if (isInvited)
            await db
              .insertInto('group_links')
              .values({ ...link, access_level: 40, created_at: now })
              .execute()
        },
      ] as const,
  ),
  fc.constantFrom(null, 2).map(
    (parent) =>
      [
        `mid below ${parent ?? 'top'}`,
        (db: Db) =>
          db
            .updateTable('namespaces')
            .set({ parent_id: groups[parent ?? 0] ?? null })
            .where('id', '=', groups[1] ?? 0)
            .execute(),
      ] as const,
  ),
)

const step = fc.record({
  write: writes,
  how: fc.constantFrom('alone', 'together', 'undone', 'elsewhere', 'while it is asked' as const),
})

async function answers(db: Db): Promise<unknown> {
  const row = await findProjectById(db, project)
  const place = { id: project, namespace_id: groups[1] ?? 0 }
  return [
    await findProjectRole(db, user, place, today),
    row?.name,
    row?.namespace_archived,
    row?.namespace_parent_id,
  ]
}

async function perform({
  write: [, write],
  how,
}: {
  write: readonly [string, Write]
  how: string
}) {
  if (how === 'alone') await write(store.db)
  else if (how === 'together') {
    await inTransaction(store, async (ctx) => {
      await write(ctx.db)
      // What is asked beside it does not see it yet, and must not be kept as if it did.
      await answers(store.db)
    })
  } else if (how === 'undone') {
    const failing = inTransaction(store, async (ctx) => {
      await write(ctx.db)
      await answers(ctx.db)
      throw new Error('undone')
    })
    await expect(failing).rejects.toThrow('undone')
  } else if (how === 'elsewhere') {
    await write(other.db)
    // A request that comes now comes after that.
    await nextRequest()
  } else {
    await Promise.all([answers(store.db), write(store.db), answers(store.db), answers(store.db)])
  }
}

test('what is cached is what the database says, after any writes in any way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const one of steps) {
        await perform(one)
        const cached = await answers(store.db)
        const plain = await inTransaction(store, (ctx) => answers(ctx.db))
        expect([one.how, one.write[0], cached]).toEqual([one.how, one.write[0], plain])
        expect(await answers(store.db)).toEqual(plain)
      }
    }),
    { numRuns: 40 },
  )
})
