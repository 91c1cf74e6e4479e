import fc from 'fast-check'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findGroupRole, findProjectRole, isMemberBelow } from '../../src/access/find-queries.ts'
import {
  groupsWithRole,
  hasProjectRole,
  seesGroup,
  seesProject,
  type Viewer,
} from '../../src/access/visible-queries.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

/**
 * The effective role of docs/contract/D §2.1 as a few lines over plain lists, and random trees of groups, projects,
 * memberships and invitations on which the statements of the server must say the same.
 */
const today = '2026-05-04'
const now = `${today}T10:00:00.000Z`
const DAYS = [null, '2026-05-03', today, '2026-05-05'] as const
const LEVELS = [10, 15, 20, 30, 40, 50] as const
const USERS = 3

interface Group {
  /** Of the groups before it, or none. */
  readonly parent: number | null
  readonly visibility: 'private' | 'internal' | 'public'
}
interface Project {
  /** A group, or the personal namespace of a user. */
  readonly home: { readonly group: number } | { readonly user: number }
  readonly visibility: Group['visibility']
}
interface Place {
  readonly type: 'group' | 'project'
  readonly at: number
}
interface Membership {
  readonly place: Place
  readonly user: number
  readonly level: number
  readonly expires: (typeof DAYS)[number]
  readonly state: 'active' | 'awaiting'
  readonly isRequest: boolean
}
interface Invitation {
  readonly place: Place
  readonly group: number
  readonly level: number
  readonly expires: (typeof DAYS)[number]
}
interface Scene {
  readonly groups: readonly Group[]
  readonly projects: readonly Project[]
  readonly members: readonly Membership[]
  readonly invitations: readonly Invitation[]
}

const day = fc.constantFrom(...DAYS, null, null)
const level = fc.constantFrom(...LEVELS)
const visibility = fc.constantFrom('private' as const, 'private' as const, 'internal', 'public')

const scenes: fc.Arbitrary<Scene> = fc
  .record({ groups: fc.integer({ min: 1, max: 6 }), projects: fc.integer({ min: 1, max: 5 }) })
  .chain((count) => {
    const group = fc.nat(count.groups - 1)
    const place: fc.Arbitrary<Place> = fc.oneof(
      group.map((at) => ({ type: 'group' as const, at })),
      fc.nat(count.projects - 1).map((at) => ({ type: 'project' as const, at })),
    )
    return fc.record({
      groups: fc.tuple(
        ...Array.from({ length: count.groups }, (_, i) =>
          fc.record({
            parent: i === 0 ? fc.constant(null) : fc.option(fc.nat(i - 1), { freq: 4 }),
            visibility,
          }),
        ),
      ),
      projects: fc.array(
        fc.record({
          home: fc.oneof(
            { arbitrary: group.map((at) => ({ group: at })), weight: 4 },
            { arbitrary: fc.nat(USERS - 1).map((user) => ({ user })), weight: 1 },
          ),
          visibility,
        }),
        { minLength: count.projects, maxLength: count.projects },
      ),
      members: fc.uniqueArray(
        fc.record({
          place,
          user: fc.nat(USERS - 1),
          level,
          expires: day,
          state: fc.constantFrom(
            'active' as const,
            'active' as const,
            'active' as const,
            'awaiting',
          ),
          isRequest: fc.boolean().map((b) => b && Math.abs(count.groups) > 3),
        }),
        { maxLength: 8, selector: (one) => `${one.place.type} ${one.place.at} ${one.user}` },
      ),
      invitations: fc.uniqueArray(fc.record({ place, group, level, expires: day }), {
        maxLength: 5,
        selector: (one) => `${one.place.type} ${one.place.at} ${one.group}`,
      }),
    })
  })

/** What D §2.1 says, over the lists. */
function model({ groups, projects, members, invitations }: Scene) {
  const isOpen = (expires: string | null) => expires === null || expires > today
  const chainOf = (group: number): number[] => {
    const parent = groups[group]?.parent ?? null
    return parent === null ? [group] : [group, ...chainOf(parent)]
  }
  const own = (user: number, type: Place['type'], at: number) =>
    Math.max(
      0,
      ...members
        .filter((one) => one.user === user && one.place.type === type && one.place.at === at)
        .filter((one) => !one.isRequest && one.state === 'active' && isOpen(one.expires))
        .map((one) => one.level),
    )
  const inChain = (user: number, group: number) =>
    Math.max(0, ...chainOf(group).map((at) => own(user, 'group', at)))
  const invited = (user: number, place: Place) =>
    invitations
      .filter((one) => one.place.type === place.type && one.place.at === place.at)
      .filter((one) => isOpen(one.expires))
      .map((one) => Math.min(one.level, inChain(user, one.group)))
  const ofGroup = (user: number, group: number) =>
    Math.max(
      inChain(user, group),
      ...chainOf(group).flatMap((at) => invited(user, { type: 'group', at })),
    )
  const ofProject = (user: number, project: number) => {
    const home = projects[project]?.home ?? { user: -1 }
    const above = 'user' in home ? (home.user === user ? 50 : 0) : ofGroup(user, home.group)
    return Math.max(
      above,
      own(user, 'project', project),
      ...invited(user, { type: 'project', at: project }),
    )
  }
  const belongs = (user: number, group: number) =>
    groups.some((_, at) => chainOf(at).includes(group) && ofGroup(user, at) > 0) ||
    projects.some(({ home }, at) => {
      const isBelow = 'group' in home && chainOf(home.group).includes(group)
      return isBelow && ofProject(user, at) > 0
    })
  return { ofGroup, ofProject, belongs }
}

let store: TestStore
const users: number[] = []
const homes: number[] = []

beforeAll(async () => {
  store = openTestStore()
  for (let n = 0; n < USERS; n += 1) {
    const name = `user${n}`
    const { id } = await store.db
      .insertInto('users')
      .values({ username: name, name, email: `${name}@example.com`, ...times })
      .returning('id')
      .executeTakeFirstOrThrow()
    const home = await store.db
      .insertInto('namespaces')
      .values({
        kind: 'user',
        name,
        path: name,
        full_path: name,
        full_name: name,
        owner_id: id,
        ...times,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    users.push(id)
    homes.push(home.id)
  }
})
afterAll(() => store.remove())

let round = 0

const times = { created_at: now, updated_at: now }

async function placeGroups(scene: Scene): Promise<{ id: number; full_path: string }[]> {
  const groups: { id: number; full_path: string }[] = []
  for (const [n, { parent, visibility }] of scene.groups.entries()) {
    const above = parent === null ? undefined : groups[parent]
    const path = `r${round}g${n}`
    const full_path = above ? `${above.full_path}/${path}` : path
    const names = { name: path, path, full_path, full_name: full_path }
    groups.push(
      await store.db
        .insertInto('namespaces')
        .values({ kind: 'group', parent_id: above?.id ?? null, ...names, visibility, ...times })
        .returning(['id', 'full_path'])
        .executeTakeFirstOrThrow(),
    )
  }
  return groups
}

async function placeProjects(
  scene: Scene,
  groups: readonly { id: number; full_path: string }[],
): Promise<number[]> {
  const projects: number[] = []
  for (const [n, { home, visibility }] of scene.projects.entries()) {
    const namespace =
      'user' in home
        ? { id: homes[home.user] ?? 0, full_path: `user${home.user}` }
        : (groups[home.group] ?? { id: 0, full_path: '' })
    const path = `r${round}p${n}`
    const full_path = `${namespace.full_path}/${path}`
    const { id } = await store.db
      .insertInto('projects')
      .values({
        namespace_id: namespace.id,
        name: path,
        path,
        full_path,
        visibility,
        last_activity_at: now,
        ...times,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    projects.push(id)
  }
  return projects
}

/** Writes a scene down, and gives the ids of its groups and projects. */
async function place(scene: Scene): Promise<{ groups: number[]; projects: number[] }> {
  const { db } = store
  await db.deleteFrom('projects').execute()
  await db.deleteFrom('namespaces').where('kind', '=', 'group').execute()
  round += 1
  const made = await placeGroups(scene)
  const groups = made.map(({ id }) => id)
  const projects = await placeProjects(scene, made)
  const source = ({ type, at }: Place) => ({
    source_type: type,
    source_id: (type === 'group' ? groups : projects)[at] ?? 0,
  })
  for (const one of scene.members) {
    const level = { access_level: one.level, expires_at: one.expires, state: one.state }
    const asked = { requested_at: one.isRequest ? now : null }
    await db
      .insertInto('members')
      .values({ ...source(one.place), user_id: users[one.user] ?? 0, ...level, ...asked, ...times })
      .execute()
  }
  for (const one of scene.invitations) {
    const level = { access_level: one.level, expires_at: one.expires }
    await db
      .insertInto('group_links')
      .values({ ...source(one.place), group_id: groups[one.group] ?? 0, ...level, created_at: now })
      .execute()
  }
  return { groups, projects }
}

async function idsWhere(table: 'projects' | 'namespaces', holds: RawBuilder<SqlBool>) {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM ${sql.table(table)} WHERE ${holds} ORDER BY id`.execute(store.db)
  return rows.map(({ id }) => id)
}

/** Of some ids those at which something holds. */
const pick = (ids: readonly number[], holds: (at: number) => boolean) =>
  ids.filter((_, at) => holds(at))

test('the role of anybody anywhere is the one that the contract describes, alone and in lists', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, level, async (scene, least) => {
      const { groups, projects } = await place(scene)
      const expected = model(scene)
      for (const [user, id] of users.entries()) {
        const inProjects: number[] = []
        for (const [at, project] of projects.entries()) {
          const home = scene.projects[at]?.home ?? { user: 0 }
          const namespace = 'user' in home ? homes[home.user] : groups[home.group]
          const row = { id: project, namespace_id: namespace ?? 0 }
          inProjects.push(await findProjectRole(store.db, id, row, today))
        }
        expect(inProjects).toEqual(projects.map((_, at) => expected.ofProject(user, at)))
        const inGroups: number[] = []
        const below: boolean[] = []
        for (const group of groups) {
          inGroups.push(await findGroupRole(store.db, id, group, today))
          below.push(await isMemberBelow(store.db, id, group, today))
        }
        expect(inGroups).toEqual(groups.map((_, at) => expected.ofGroup(user, at)))
        expect(below).toEqual(groups.map((_, at) => expected.belongs(user, at)))
        // The same in one statement, as lists ask it.
        expect(await idsWhere('projects', hasProjectRole(id, today, least))).toEqual(
          pick(projects, (at) => expected.ofProject(user, at) >= least),
        )
        const having = sql<SqlBool>`kind = 'group' AND id IN ${groupsWithRole(id, today, least)}`
        expect(await idsWhere('namespaces', having)).toEqual(
          pick(groups, (at) => expected.ofGroup(user, at) >= least),
        )
      }
    }),
    { numRuns: 25 },
  )
})

test('lists show just what is open to the caller: public, internal unless external, or by belonging', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, fc.boolean(), async (scene, external) => {
      const { groups, projects } = await place(scene)
      const expected = model(scene)
      const isOpen = (visibility: string | undefined, signedIn: boolean) =>
        visibility === 'public' || (visibility === 'internal' && signedIn && !external)
      const sees = async (viewer: Viewer) => [
        await idsWhere('projects', seesProject(viewer)),
        await idsWhere('namespaces', sql<SqlBool>`kind = 'group' AND ${seesGroup(viewer)}`),
      ]
      for (const [user, id] of users.entries()) {
        const viewer = { userId: id, admin: false, external, today }
        expect(await sees(viewer)).toEqual([
          pick(
            projects,
            (at) =>
              isOpen(scene.projects[at]?.visibility, true) || expected.ofProject(user, at) > 0,
          ),
          pick(
            groups,
            (at) => isOpen(scene.groups[at]?.visibility, true) || expected.belongs(user, at),
          ),
        ])
      }
      expect(await sees({ userId: null, admin: false, external: false, today })).toEqual([
        pick(projects, (at) => isOpen(scene.projects[at]?.visibility, false)),
        pick(groups, (at) => isOpen(scene.groups[at]?.visibility, false)),
      ])
      expect(await sees({ userId: 1, admin: true, external, today })).toEqual([projects, groups])
    }),
    { numRuns: 20 },
  )
})
