import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Asking, listCandidates } from '../../../src/ci/queue/queries.ts'
import { openTestStore, type TestStore } from '../../support/database.ts'

let store: TestStore

const PROJECTS = 6
const NOW = '2026-05-04T10:00:00.000Z'
const TAGS: readonly (readonly string[])[] = [[], ['a'], ['b'], ['a', 'b'], ['c']]

interface Waiting {
  readonly id: number
  readonly project: number
  readonly tags: readonly string[]
  readonly isProtected: boolean
}

beforeAll(async () => {
  store = openTestStore()
  await sql`INSERT INTO namespaces (id, kind, name, path, full_path, full_name, created_at, updated_at)
    VALUES (1, 'group', 'one', 'one', 'one', 'one', ${NOW}, ${NOW}),
      (2, 'group', 'two', 'two', 'two', 'two', ${NOW}, ${NOW})`.execute(store.db)
  for (let id = 1; id <= PROJECTS; id += 1) {
    const settings = id === 4 ? '{"shared_runners_enabled":false}' : '{}'
    await sql`INSERT INTO projects (id, namespace_id, name, path, full_path, settings, archived,
        last_activity_at, created_at, updated_at)
      VALUES (${id}, ${1 + (id % 2)}, ${`p${id}`}, ${`p${id}`}, ${`x/p${id}`}, ${settings},
        ${id === 5 ? 1 : 0}, ${NOW}, ${NOW}, ${NOW})`.execute(store.db)
    await sql`INSERT INTO pipelines (id, iid, project_id, sha, ref, source, created_at, updated_at)
      VALUES (${id}, 1, ${id}, 'abc', 'main', 'push', ${NOW}, ${NOW})`.execute(store.db)
    await sql`INSERT INTO ci_stages (id, pipeline_id, name, position)
      VALUES (${id}, ${id}, 'test', 0)`.execute(store.db)
  }
  await sql`INSERT INTO ci_runners (id, runner_type, group_id, token_digest, token_start, registration, created_at, updated_at)
    VALUES (1, 'instance_type', NULL, x'01', 'a', 'authenticated_user', ${NOW}, ${NOW}),
      (2, 'group_type', 1, x'02', 'b', 'authenticated_user', ${NOW}, ${NOW}),
      (3, 'project_type', NULL, x'03', 'c', 'authenticated_user', ${NOW}, ${NOW})`.execute(store.db)
  await sql`INSERT INTO ci_runner_projects (runner_id, project_id)
    VALUES (3, 1), (3, 6)`.execute(store.db)
})
afterAll(() => store.remove())

async function insertJob(project: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    INSERT INTO ci_jobs (project_id, pipeline_id, stage_id, kind, name, run_when, created_at, updated_at)
    VALUES (${project}, ${project}, ${project}, 'build', 'x', 'on_success', ${NOW}, ${NOW})
    RETURNING id`.execute(store.db)
  return rows[0]?.id ?? 0
}

async function addWaiting(project: number, tags: readonly string[], isProtected: boolean) {
  const id = await insertJob(project)
  await sql`INSERT INTO ci_pending_jobs (job_id, project_id, tags, protected, queued_at)
    VALUES (${id}, ${project}, ${JSON.stringify(tags)}, ${isProtected ? 1 : 0}, ${NOW})`.execute(
    store.db,
  )
  return { id, project, tags, isProtected }
}

async function addRunning(project: number): Promise<void> {
  const id = await insertJob(project)
  await sql`INSERT INTO ci_running_jobs (job_id, project_id, runner_id, runner_type, token_digest,
      sealed_masks, ends_at, contacted_at)
    VALUES (${id}, ${project}, 1, 'instance_type', ${Buffer.from(`t${id}`)}, '', ${NOW}, ${NOW})`.execute(
    store.db,
  )
}

const runners: readonly Asking[] = (
  [
    ['instance_type', 1, null],
    ['group_type', 2, 1],
    ['project_type', 3, null],
  ] as const
).flatMap(([runner_type, id, group_id]) =>
  (
    [
      [1, 'not_protected', '[]'],
      [0, 'not_protected', '["a"]'],
      [1, 'ref_protected', '["b","a"]'],
    ] as const
  ).map(([run_untagged, access_level, tags]) => ({
    ...{ id, runner_type, group_id, run_untagged, access_level, tags },
  })),
)

/** What a runner may have, found by a look at every job that waits. */
function expected(runner: Asking, queue: readonly Waiting[], busy: ReadonlyMap<number, number>) {
  const has = JSON.parse(runner.tags) as string[]
  const inScope = ({ project }: Waiting) => {
    if (project === 5) return false
    if (runner.runner_type === 'instance_type') return project !== 4
    return runner.runner_type === 'group_type' ? project % 2 === 0 : [1, 6].includes(project)
  }
  const rank = ({ project }: Waiting) =>
    runner.runner_type === 'instance_type' ? (busy.get(project) ?? 0) : 0
  return queue
    .filter(inScope)
    .filter((job) => job.isProtected || runner.access_level === 'not_protected')
    .filter((job) => (runner.run_untagged === 1 || job.tags.length > 0) && isWithin(job.tags, has))
    .sort((one, other) => rank(one) - rank(other) || one.id - other.id)
    .slice(0, 20)
    .map((job) => job.id)
}

function isWithin(tags: readonly string[], has: readonly string[]): boolean {
  return tags.every((tag) => has.includes(tag))
}

test('a runner is given the jobs that a look at the whole queue would give it, in that order', async () => {
  const queue: Waiting[] = []
  const busy = new Map<number, number>()
  for (let round = 0; round < 60; round += 1) {
    // Numbers that look random, and are the same each time.
    const at = (round * 7919) % 10_007
    const tags = TAGS[at % TAGS.length] ?? []
    queue.push(await addWaiting(1 + (at % PROJECTS), tags, at % 3 === 0))
    if (round % 9 === 0) {
      const project = 1 + (round % PROJECTS)
      await addRunning(project)
      busy.set(project, (busy.get(project) ?? 0) + 1)
    }
    if (round % 6 > 0) continue
    for (const runner of runners) {
      expect(await listCandidates(store.db, runner)).toEqual(expected(runner, queue, busy))
    }
  }
  for (const runner of runners) {
    expect(await listCandidates(store.db, runner)).toEqual(expected(runner, queue, busy))
  }
})

test('jobs that a runner does not fit hide none behind them', async () => {
  for (let round = 0; round < 50; round += 1) await addWaiting(1, ['c'], false)
  const { id } = await addWaiting(1, ['d'], false)
  const [runner] = runners
  if (!runner) throw new Error('no runner')
  const asking = { ...runner, run_untagged: 0 as const, tags: '["d"]' }
  expect(await listCandidates(store.db, asking)).toEqual([id])
})
