import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { collectImages } from '../../../src/packages/images/remove.ts'
import { StoreConnection } from '../../../src/store/sqlite/driver.ts'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, pushImage } from './push-image.ts'

/** More than one statement may name. */
const MANY = 40_000
/** Rows that no answer of the database may reach. */
const MOST = 6000

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
let at: string
let most = 0

beforeAll(async () => {
  projectId = (await createProject(ana, 'p')).id
  at = `/projects/${projectId}/registry/repositories`
  const query = StoreConnection.prototype.executeQuery
  vi.spyOn(StoreConnection.prototype, 'executeQuery').mockImplementation(async function (
    this: StoreConnection,
    ...given
  ) {
    const result = await query.apply(this, given)
    most = Math.max(most, result.rows.length)
    return result
  } as typeof query)
})
afterEach(() => {
  expect(most).toBeLessThan(MOST)
  most = 0
})
afterAll(async () => {
  vi.restoreAllMocks()
})

/** A repository whose image has very many tags, `t00001` and so on, the later the newer. */
async function repositoryWith(name: string, count = MANY) {
  const { digest } = await pushImage(world, ana, `ana/p/${name}`, 't')
  const { body } = await ana.get(`${at}?per_page=100`)
  const { id } = body.find((one: { name: string }) => one.name === name)
  await sql`INSERT INTO container_tags (repository_id, name, digest, total_size, created_at)
    WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT ${id}, format('t%05d', i), ${digest}, 1, format('2020-01-01T00:%02d:%02d.000Z', i / 60 % 60, i % 60)
      FROM n`.execute(world.ctx.db)
  const tags = async () =>
    (
      await world.ctx.db
        .selectFrom('container_repositories')
        .selectAll()
        .where('id', '=', id)
        .execute()
    )[0]?.tags_count
  return { id: Number(id), digest, tags, image: `ana/p/${name}/manifests/${digest}` }
}

async function ruled<T>(pattern: string, act: () => Promise<T>): Promise<T> {
  const rules = `/projects/${projectId}/registry/protection/tag/rules`
  const levels = {
    minimum_access_level_for_push: 'admin',
    minimum_access_level_for_delete: 'admin',
  }
  const { body } = await ana.post(rules, { tag_name_pattern: pattern, ...levels })
  try {
    return await act()
  } finally {
    await ana.delete(`${rules}/${body.id}`)
  }
}

test('an image goes with all of its tags, unless a rule keeps one of them', async () => {
  const { image, tags, digest } = await repositoryWith('at-one-image')
  const remove = () => askRegistry(world, ana, 'DELETE', image)
  const layer = `ana/p/at-one-image/blobs/${digest}`
  for (const path of [image, layer]) {
    const kept = await ruled('^t40000$', () => askRegistry(world, ana, 'DELETE', path))
    expect([kept.status, kept.body.errors[0].message]).toEqual([403, 'the tag t40000 is protected'])
  }
  expect(await tags()).toBe(MANY + 1)
  expect((await ruled('^none$', remove)).status).toBe(202)
  expect(await tags()).toBe(0)
}, 120_000)

test('a repository goes with all of its tags, unless a rule keeps one of them', async () => {
  const { id, tags } = await repositoryWith('whole')
  const remove = () => ana.delete(`${at}/${id}`)
  expect((await ruled('^t40000$', remove)).status).toBe(403)
  expect((await ruled('^none$', remove)).status).toBe(202)
  await world.runTasks()
  expect(await tags()).toBeUndefined()
}, 120_000)

test('those that a pattern names go, but the newest and those that a rule names', async () => {
  const { id, tags } = await repositoryWith('by-pattern', 10_000)
  const query = 'name_regex_delete=t.*&keep_n=2500'
  await ruled('^t00001$', async () => {
    expect((await ana.delete(`${at}/${id}/tags?${query}`)).status).toBe(202)
    await world.runTasks()
  })
  // The newest is the one that was pushed with the image.
  expect(await tags()).toBe(2501)
}, 120_000)

test('an image that goes takes no more with it at once than it can', async () => {
  const { id, image, digest } = await repositoryWith('signed', 1)
  await sql`INSERT INTO container_manifests
      (repository_id, file_sha256, media_type, subject_sha256, size, total_size, created_at)
    WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
    SELECT ${id}, format('%064x', i), 'x', ${digest.slice(7)}, 1, 1, '2020-01-01T00:00:00.000Z'
      FROM n`.execute(world.ctx.db)
  for (const name of ['t', 't00001']) {
    expect((await ana.delete(`${at}/${id}/tags/${name}`)).status).toBe(200)
  }
  expect((await askRegistry(world, ana, 'GET', image)).status).toBe(404)
  await collectImages.handler(world.ctx, {}, new AbortController().signal)
  const left = world.ctx.db.selectFrom('container_manifests').where('repository_id', '=', id)
  expect(await left.select('id').limit(1).execute()).toEqual([])
}, 120_000)
