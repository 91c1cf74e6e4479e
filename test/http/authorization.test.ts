import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Role } from '../../src/access/roles.ts'
import { apiEndpoints } from '../../src/areas.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

/**
 * Who gets past the door of each endpoint. The table was read through by people; a change of it is a change of who may
 * do what. Write it anew with `UPDATE_TABLES=1 npx vitest run --config test/vitest.config.ts test/http/authorization.test.ts`.
 */
const table = new URL('../../fixtures/authorization.tsv', import.meta.url)

const roles = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const
const visibilities = ['private', 'internal', 'public'] as const

interface Stage {
  readonly world: World
  readonly callers: ReadonlyMap<string, Caller>
  readonly projects: ReadonlyMap<string, number>
  readonly groups: ReadonlyMap<string, number>
}

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.world.close())

async function setStage(): Promise<Stage> {
  const world = await openWorld({}, { admitOnly: true })
  const { db } = world.ctx
  const now = world.ctx.now()
  const callers = new Map<string, Caller>([['anonymous', world.nobody]])
  callers.set('stranger', await world.user('stranger'))
  callers.set('external', await world.user('external', { external: true }))
  const projects = new Map<string, number>()
  const groups = new Map<string, number>()
  for (const role of roles) callers.set(role, await world.user(role))
  for (const visibility of visibilities) {
    const base = {
      name: visibility,
      path: `${visibility}-x`,
      visibility,
      created_at: now,
      updated_at: now,
    }
    const group = await db
      .insertInto('namespaces')
      .values({ ...base, kind: 'group', full_path: base.path, full_name: visibility })
      .returning('id')
      .executeTakeFirstOrThrow()
    const project = await db
      .insertInto('projects')
      .values({
        ...base,
        namespace_id: group.id,
        full_path: `${base.path}/p`,
        path: 'p',
        last_activity_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    groups.set(visibility, group.id)
    projects.set(visibility, project.id)
    for (const role of roles) {
      await db
        .insertInto('members')
        .values({
          source_type: 'group',
          source_id: group.id,
          user_id: callers.get(role)?.id ?? 0,
          access_level: Role[role],
          created_at: now,
          updated_at: now,
        })
        .execute()
    }
  }
  const blocked = await world.user('blocked')
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', blocked.id).execute()
  callers.set('blocked', blocked)
  callers.set('admin', world.root)
  const owner = callers.get('owner')?.id ?? 0
  for (const scope of [
    'read_api',
    'read_user',
    'read_repository',
    'write_repository',
    'self_rotate',
  ]) {
    callers.set(`owner:${scope}`, world.as(await world.token(owner, [scope])))
  }
  callers.set('wrong token', world.as('no-such-token'))
  return { world, callers, projects, groups }
}

function pathOf(endpoint: Endpoint, visibility: string): string {
  const subject = endpoint.access.kind === 'group' ? stage.groups : stage.projects
  return endpoint.path.replaceAll(/[:*](\w+)/g, (_, name: string) => {
    if (name === (endpoint.access.param ?? 'id')) return String(subject.get(visibility) ?? 1)
    return '1'
  })
}

async function rowsOf(endpoint: Endpoint): Promise<string[]> {
  const hasSubject = endpoint.access.kind === 'project' || endpoint.access.kind === 'group'
  const rows: string[] = []
  for (const visibility of hasSubject ? visibilities : ['-']) {
    const asked = [...stage.callers.values()].map(async (caller) => {
      const reply = await caller.call(endpoint.method, pathOf(endpoint, visibility))
      return reply.status === 204 ? 'ok' : String(reply.status)
    })
    const cells = await Promise.all(asked)
    rows.push([endpoint.method, endpoint.path, visibility, ...cells].join('\t'))
  }
  return rows
}

test('every endpoint admits exactly those whom the reviewed table names', async () => {
  const lines = [['method', 'path', 'visibility', ...stage.callers.keys()].join('\t')]
  const sorted = [...apiEndpoints].sort((a, b) =>
    `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1,
  )
  for (const endpoint of sorted) lines.push(...(await rowsOf(endpoint)))
  const found = `${lines.join('\n')}\n`
  if (process.env.UPDATE_TABLES) writeFileSync(table, found)
  expect(existsSync(table), 'fixtures/authorization.tsv is there').toBe(true)
  expect(found).toBe(readFileSync(table, 'utf8'))
}, 600_000)

test('no endpoint fails on its side for anybody', async () => {
  const text = existsSync(table) ? readFileSync(table, 'utf8') : ''
  expect(text.split('\n').filter((line) => /\t5\d\d(\t|$)/.test(line))).toEqual([])
})
