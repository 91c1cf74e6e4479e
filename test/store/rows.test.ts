import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invalid, Problem } from '../../src/base/problem.ts'
import { keepReserve, withReserve } from '../../src/store/data-folder/reserve.ts'
import { findReferenced } from '../../src/store/file-references.ts'
import { hasAbove, namespacesAbove, namespacesBelow } from '../../src/store/hierarchy.ts'
import { nextIid, reserveIid } from '../../src/store/iid.ts'
import { type Key, type KeyOrder, pageByKey } from '../../src/store/pages.ts'
import { repoint } from '../../src/store/repoint.ts'
import type { Db } from '../../src/store/schema.ts'
import { containing, matchesSearch } from '../../src/store/search.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { brokenKey, uniquely } from '../../src/store/unique.ts'
import { newFolder, openTestStore, type TestStore } from '../support/database.ts'
import { runs } from '../support/runs.ts'

const now = '2026-01-02T03:04:05.000Z'
const times = { created_at: now, updated_at: now }
let store: TestStore

beforeAll(() => {
  store = openTestStore()
})
afterAll(() => store.remove())

let count = 0

async function addUser(name: string): Promise<number> {
  count += 1
  const unique = { username: `u${count}`, email: `u${count}@example.com` }
  const { id } = await store.db
    .insertInto('users')
    .values({ ...unique, name, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function addGroup(path: string, parent?: { id: number; full_path: string }) {
  const full_path = parent ? `${parent.full_path}/${path}` : path
  const names = { name: path, path, full_path, full_name: full_path }
  return await store.db
    .insertInto('namespaces')
    .values({ kind: 'group', parent_id: parent?.id ?? null, ...names, ...times })
    .returning(['id', 'full_path'])
    .executeTakeFirstOrThrow()
}

describe('numbers inside a project', () => {
  test('are given in order without gaps, above all that were given by hand', async () => {
    let scope = 1000
    const steps = fc.array(
      fc.oneof(fc.constant('next' as const), fc.integer({ min: 1, max: 30 })),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        scope += 1
        let highest = 0
        for (const step of taken) {
          if (step === 'next') {
            expect(await nextIid(store.db, scope, 'issue')).toBe(highest + 1)
            highest += 1
          } else {
            await reserveIid(store.db, scope, 'issue', step)
            highest = Math.max(highest, step)
          }
        }
        // Other kinds, and groups with the same id, count for themselves.
        expect(await nextIid(store.db, scope, 'milestone')).toBe(1)
        expect(await nextIid(store.db, scope, 'issue', 'group')).toBe(1)
      }),
      { numRuns: 20 },
    )
  })

  test('that fifty ask for at once are fifty, and one whose transaction fails is given again', async () => {
    const given = await Promise.all(
      Array.from({ length: 50 }, () =>
        inTransaction({ db: store.db }, (ctx) => nextIid(ctx.db, 999, 'issue')),
      ),
    )
    expect([...given].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
    const failed = inTransaction({ db: store.db }, async (ctx) => {
      expect(await nextIid(ctx.db, 999, 'issue')).toBe(51)
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await nextIid(store.db, 999, 'issue')).toBe(51)
  })
})

describe('rows that name one record and are made to name another', () => {
  const starred = async (user: number) =>
    (
      await sql<{ id: number }>`SELECT source_id AS id FROM members WHERE user_id = ${user}
        ORDER BY source_id`.execute(store.db)
    ).rows.map((row) => row.id)
  const member = (user: number, group: number) =>
    store.db
      .insertInto('members')
      .values({
        source_type: 'group',
        source_id: group,
        user_id: user,
        access_level: 30,
        ...times,
      })
      .execute()

  test('leave alone what would be there twice, and what names somebody else', async () => {
    const [a, b, c, other] = [
      await addUser('a'),
      await addUser('b'),
      await addUser('c'),
      await addUser('other'),
    ]
    const groups = [await addGroup('g1'), await addGroup('g2'), await addGroup('g3')].map(
      ({ id }) => id,
    )
    const [one = 0, two = 0, three = 0] = groups
    for (const [user, group] of [
      [a, one],
      [b, two],
      [c, one],
      [c, two],
      [other, three],
    ] as const)
      await member(user, group)
    await repoint(store.db, 'members', 'user_id', [b, c], a)
    expect(await starred(a)).toEqual([one, two])
    expect(await starred(b)).toEqual([])
    // The place at which both were members is kept once, for whoever had it.
    expect((await starred(c)).length).toBe(2)
    expect(await starred(other)).toEqual([three])
    await repoint(store.db, 'members', 'user_id', [], a)
    expect(await starred(a)).toEqual([one, two])
  })
})

describe('files that the database names', () => {
  const hash = (letter: string) => letter.repeat(64)

  test('are found as a value and inside of any text, and no others', async () => {
    const user = await addUser('owner')
    await store.db
      .updateTable('users')
      .set({ avatar_file: hash('a') })
      .where('id', '=', user)
      .execute()
    const value = JSON.stringify({ deep: [{ file: hash('b') }] })
    await store.db.insertInto('settings').values({ key: 'x', value }).execute()
    const names = ['a', 'b', 'c'].map(hash)
    expect(await findReferenced(store.db, names)).toEqual(new Set([hash('a'), hash('b')]))
    expect(await findReferenced(store.db, [])).toEqual(new Set())
    // A part of a name is no mention of it, the whole within something longer is.
    expect(await findReferenced(store.db, [`${hash('a').slice(1)}x`])).toEqual(new Set())
    await store.db.updateTable('users').set({ avatar_file: null }).where('id', '=', user).execute()
    expect(await findReferenced(store.db, names)).toEqual(new Set([hash('b')]))
  })

  test('are found however many rows the table has', async () => {
    await inTransaction({ db: store.db }, async (ctx) => {
      for (let n = 0; n < 4500; n += 1) {
        const value = JSON.stringify(n === 4321 ? `see ${hash('d')}` : n)
        await ctx.db
          .insertInto('settings')
          .values({ key: `k${n}`, value })
          .execute()
      }
    })
    expect(await findReferenced(store.db, [hash('d'), hash('e')])).toEqual(new Set([hash('d')]))
    await store.db.deleteFrom('settings').execute()
  })
})

describe('a search', () => {
  const words = fc.string({
    unit: fc.constantFrom('a', 'B', '%', '_', '\\', "'", '"', 'é', '-'),
    minLength: 1,
    maxLength: 4,
  })
  const matches = async (text: string, search: string) => {
    const where = matchesSearch(search, ['t.a', 't.b'])
    const { rows } = await sql<{ found: number }>`SELECT 1 AS found
      FROM (SELECT ${text} AS a, '' AS b) t
      WHERE ${where.length === 0 ? sql`1 = 1` : sql.join(where, sql` AND `)}`.execute(store.db)
    return rows.length > 0
  }

  test('takes its words as they are: no sign in them stands for others', async () => {
    // SQLite folds the case of plain letters alone.
    const fold = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    await fc.assert(
      fc.asyncProperty(words, fc.array(words, { maxLength: 3 }), async (text, asked) => {
        const search = asked.join(' ')
        const expected = asked.every((word) => fold(text).includes(fold(word)))
        expect([text, search, await matches(text, search)]).toEqual([text, search, expected])
      }),
      runs(100, 84),
    )
  })

  test('finds each word in one of the columns, wherever the others are', async () => {
    const { rows } = await sql<{ found: number }>`SELECT 1 AS found
      FROM (SELECT 'one two' AS a, 'three' AS b) t
      WHERE ${sql.join(matchesSearch('three ONE', ['t.a', 't.b']), sql` AND `)}`.execute(store.db)
    expect(rows).toHaveLength(1)
  })

  test('looks at twenty words at most, and at none of a blank one', () => {
    expect(matchesSearch(Array(50).fill('x').join(' '), ['t.a'])).toHaveLength(20)
    expect(matchesSearch(' \t\n ', ['t.a'])).toEqual([])
    expect(containing('50%_\\')).toBe('%50\\%\\_\\\\%')
  })
})

describe('a broken unique index', () => {
  const again = (problems: Parameters<typeof uniquely>[0]) =>
    uniquely(problems, () =>
      store.db
        .insertInto('users')
        .values({ username: 'U1', name: 'x', email: 'fresh@example.com', ...times })
        .execute(),
    )

  test('is answered by the problem of its columns, and left as it is without one', async () => {
    await addUser('first')
    await store.db
      .insertInto('users')
      .values({ username: 'taken', name: 'x', email: 'taken@example.com', ...times })
      .execute()
    const write = () =>
      store.db
        .insertInto('users')
        .values({ username: 'taken', name: 'x', email: 'free@example.com', ...times })
        .execute()
    const problem = () => invalid({ username: ['has already been taken'] })
    await expect(uniquely({ 'users.username': problem }, write)).rejects.toBeInstanceOf(Problem)
    await expect(uniquely({ 'users.email': problem }, write)).rejects.not.toBeInstanceOf(Problem)
    const key = await write().catch(brokenKey)
    expect(key).toBe('users.username')
    await expect(again({})).rejects.toThrow(/UNIQUE/)
  })

  test('is no other fault: a missing value, a broken reference, anything that is thrown', async () => {
    const problem = () => invalid({ x: [] })
    const missing = sql`INSERT INTO users (username) VALUES ('y')`
    const lost = sql`INSERT INTO namespace_ancestors (namespace_id, ancestor_id, depth) VALUES (99999, 99999, 0)`
    for (const statement of [missing, lost]) {
      const error: unknown = await statement.execute(store.db).catch((one: unknown) => one)
      expect(error).toBeInstanceOf(Error)
      expect(brokenKey(error)).toBeUndefined()
    }
    for (const error of [new Error('UNIQUE constraint failed: users.email'), undefined, 'x'])
      expect(brokenKey(error)).toBeUndefined()
    await expect(
      uniquely({ 'users.email': problem }, () => Promise.reject(new Error('z'))),
    ).rejects.toThrow('z')
  })
})

describe('what is above and below a namespace', () => {
  test('is all of it, itself included, and moves along with it', async () => {
    const top = await addGroup('top')
    const mid = await addGroup('mid', top)
    const low = await addGroup('low', mid)
    const side = await addGroup('side')
    const ids = async (which: ReturnType<typeof namespacesAbove>) =>
      (
        await sql<{
          id: number
        }>`SELECT id FROM namespaces WHERE id IN ${which} ORDER BY id`.execute(store.db)
      ).rows.map(({ id }) => id)
    expect(await ids(namespacesAbove(low.id))).toEqual([top.id, mid.id, low.id])
    expect(await ids(namespacesBelow(top.id))).toEqual([top.id, mid.id, low.id])
    expect(await ids(namespacesBelow(low.id))).toEqual([low.id])
    await store.db
      .updateTable('namespaces')
      .set({ parent_id: side.id })
      .where('id', '=', mid.id)
      .execute()
    expect(await ids(namespacesAbove(low.id))).toEqual(
      [mid.id, low.id, side.id].sort((a, b) => a - b),
    )
    expect(await ids(namespacesBelow(top.id))).toEqual([top.id])
    const isArchived = sql<boolean>`n.archived = 1`
    expect(await hasAbove(store.db, low.id, isArchived)).toBe(false)
    await store.db
      .updateTable('namespaces')
      .set({ archived: 1 })
      .where('id', '=', side.id)
      .execute()
    expect(await hasAbove(store.db, low.id, isArchived)).toBe(true)
    expect(await hasAbove(store.db, top.id, isArchived)).toBe(false)
  })
})

describe('pages by a column that may be empty, or say the same in many rows', () => {
  interface Row {
    readonly id: number
    readonly due: string | null
  }

  /** By the column, rows without a value last whichever the direction; then by id. */
  function compare(one: Row, other: Row, direction: 'asc' | 'desc'): number {
    const sign = direction === 'asc' ? 1 : -1
    if (one.due === other.due) return sign * (one.id - other.id)
    if (one.due === null) return 1
    if (other.due === null) return -1
    return one.due < other.due ? -sign : sign
  }

  const all = (db: Db) =>
    db
      .selectFrom('users')
      .select(['users.id', 'users.note as due'])
      .where('users.name', '=', 'paged')

  async function walk(direction: 'asc' | 'desc', limit: number, between: () => Promise<void>) {
    const order = {
      column: 'users.note',
      nullable: true,
      id: 'users.id',
      direction,
      keyOf: (row: Row) => ({ value: row.due, id: row.id }),
    } as unknown as KeyOrder<never, never, Row>
    const seen: Row[] = []
    for (let after: Key | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const query = all(store.db) as unknown as Parameters<typeof pageByKey<never, never, Row>>[0]
      const page = await pageByKey(query, order, { limit, after })
      expect(page.items.length).toBeLessThanOrEqual(limit)
      seen.push(...page.items)
      after = page.next
      await between()
    }
    return seen
  }

  test('yield each row once and in order, rows without a value last', async () => {
    const values = fc.array(fc.option(fc.constantFrom('2026-01-01', '2026-01-02', '', '10', '9')), {
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.constantFrom('asc', 'desc'),
        fc.integer({ min: 1, max: 5 }),
        async (notes, direction, limit) => {
          await store.db.deleteFrom('users').where('name', '=', 'paged').execute()
          for (const note of notes) {
            const id = await addUser('paged')
            await sql`UPDATE users SET note = ${note} WHERE id = ${id}`.execute(store.db)
          }
          const seen = await walk(direction, limit, async () => {})
          const expected = [...seen].sort((one, other) => compare(one, other, direction))
          expect(seen).toEqual(expected)
          expect(new Set(seen.map(({ id }) => id)).size).toBe(notes.length)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('show no row twice when others come and go between them', async () => {
    await store.db.deleteFrom('users').where('name', '=', 'paged').execute()
    const ids: number[] = []
    for (let n = 0; n < 9; n += 1) ids.push(await addUser('paged'))
    await sql`UPDATE users SET note = 'same' WHERE name = 'paged'`.execute(store.db)
    let step = 0
    const seen = await walk('asc', 2, async () => {
      step += 1
      if (step > 3) return
      await store.db
        .deleteFrom('users')
        .where('id', '=', ids[step - 1] ?? 0)
        .execute()
    })
    expect(seen.map(({ id }) => id)).toEqual(ids)
  })
})

describe('room that is put aside for a full disk', () => {
  const full = () => Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })

  test('is given up when opening finds none, once, and put aside again', () => {
    const folder = newFolder()
    const reserve = join(folder, 'reserve')
    keepReserve(folder)
    expect(statSync(reserve).size).toBe(1024 * 1024)
    expect(statSync(reserve).mode & 0o077).toBe(0)
    let tries = 0
    const opened = withReserve(folder, () => {
      tries += 1
      if (existsSync(reserve)) throw full()
      return 'open'
    })
    expect([opened, tries, existsSync(reserve)]).toEqual(['open', 2, false])
    keepReserve(folder)
    expect(existsSync(reserve)).toBe(true)
    rmSync(folder, { recursive: true })
  })

  test('helps against nothing else: other faults, and a disk that stays full, are thrown', () => {
    const folder = newFolder()
    keepReserve(folder)
    const other = () => {
      throw new Error('damaged')
    }
    expect(() => withReserve(folder, other)).toThrow('damaged')
    expect(existsSync(join(folder, 'reserve'))).toBe(true)
    let tries = 0
    const stays = () => {
      tries += 1
      throw full()
    }
    expect(() => withReserve(folder, stays)).toThrow('full')
    expect(tries).toBe(2)
    // Without room there is nothing to try again for.
    expect(() => withReserve(folder, stays)).toThrow('full')
    expect(tries).toBe(3)
    rmSync(folder, { recursive: true })
  })

  test('that is of another size is made anew, and one that is right is not touched', () => {
    const folder = newFolder()
    const reserve = join(folder, 'reserve')
    writeFileSync(reserve, 'short')
    keepReserve(folder)
    expect(readFileSync(reserve).equals(Buffer.alloc(1024 * 1024))).toBe(true)
    const before = statSync(reserve).mtimeMs
    keepReserve(folder)
    expect(statSync(reserve).mtimeMs).toBe(before)
    rmSync(folder, { recursive: true })
  })
})
