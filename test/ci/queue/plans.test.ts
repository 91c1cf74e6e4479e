import { expect, test } from 'vitest'
import { deleteExpired, findPieceEnd } from '../../../src/ci/artifacts/queries.ts'
import {
  listForsakenJobs,
  selectPipelineJobs,
  selectProjectJobs,
} from '../../../src/ci/pipelines/job-queries.ts'
import { findNewestOfRef, listPipelines } from '../../../src/ci/pipelines/queries.ts'
import { listCandidates } from '../../../src/ci/queue/queries.ts'
import { listUnstored } from '../../../src/ci/traces/queries.ts'
import { listInheritedVariables } from '../../../src/ci/variables/queries.ts'
import { listPage } from '../../../src/store/pages.ts'
import type { Db } from '../../../src/store/schema.ts'
import { plansOf as plansIn } from '../../support/plans.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

const plansOf = (ask: (db: Db) => Promise<unknown>) => plansIn(world.ctx.db, ask)

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['jobs that run for nobody, each minute', (db) => listForsakenJobs(db)],
  ['logs that are not put away, each minute', (db) => listUnstored(db, [1, 2], '2026-05-04')],
  [
    'variables of a project, for each of its jobs',
    (db) => listInheritedVariables(db, { id: 1, namespace_id: 1 }),
  ],
])('%s are found without a look at every row', async (_what, ask) => {
  const plans = await plansOf(ask)
  expect(plans.filter((step) => step.startsWith('SCAN') && !step.includes('VIRTUAL'))).toEqual([])
  expect(plans.join()).toContain('SEARCH')
})

test('artifacts whose time is over are looked at some at a time, each minute', async () => {
  const places = ['2026-05-01', '2026-05-02'].map((expire_at) => ({ expire_at, id: 1 }))
  const [from = { expire_at: '', id: 0 }, to = from] = places
  const end = await plansOf((db) => findPieceEnd(db, '2026-05-04', from, 500))
  expect(end.join()).not.toContain('ORDER BY')
  const plan = await plansOf((db) => deleteExpired(db, from, to, true))
  expect(plan).toContain(
    'SEARCH a USING INDEX ci_job_artifacts_expiry (expire_at>? AND expire_at<?)',
  )
})

const page = { kind: 'offset', number: 2, perPage: 20, offset: 20 } as const
const order = { order_by: 'id', sort: 'desc' } as const
const running = ['running'] as const

/** The indexes of jobs or pipelines that the queries of a function go by, with the columns that they look for. */
async function searchesOf(table: string, ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const plans = await plansOf(ask)
  return plans.flatMap((step) => {
    const found = new RegExp(`^SEARCH ${table} USING (?:COVERING )?INDEX (.*)$`).exec(step)
    return found?.[1] ?? []
  })
}

test.each([1, 2, 12])('jobs of %i statuses are read by the index of statuses', async (count) => {
  const statuses = (['running', 'pending', 'failed', 'success', 'created', 'skipped'] as const)
    .flatMap((one) => [one, one])
    .slice(0, count)
  const ask = (db: Db) => listPage(db, selectProjectJobs(db, 1, statuses), page)
  const found = await searchesOf('ci_jobs', ask)
  expect(new Set(found)).toEqual(new Set(['ci_jobs_status (project_id=? AND status=?)']))
  expect((await plansOf(ask)).join()).not.toContain('ORDER BY')
})

test.each([{ status: 'failed' }, { scope: 'running' }, { scope: 'pending' }] as const)(
  'pipelines of %o are read by the index of statuses',
  async (filter) => {
    const ask = (db: Db) => listPipelines(db, 1, { ...order, ...filter }, page)
    const found = await searchesOf('pipelines', ask)
    expect(new Set(found)).toEqual(new Set(['pipelines_status (project_id=? AND status=?)']))
    expect((await plansOf(ask)).join()).not.toContain('ORDER BY')
  },
)

test.each<[string, string, string, (db: Db) => Promise<unknown>]>([
  [
    'jobs of a pipeline',
    'ci_jobs',
    'ci_jobs_pipeline',
    async (db) => {
      const filter = { kind: 'build', statuses: running, includeRetried: false } as const
      await listPage(db, selectPipelineJobs(db, 1, filter), page)
    },
  ],
  [
    'pipelines of a ref',
    'pipelines',
    'pipelines_ref',
    (db) => listPipelines(db, 1, { ...order, status: 'success', ref: 'main' }, page),
  ],
  [
    'the newest of a ref',
    'pipelines',
    'pipelines_ref',
    (db) => findNewestOfRef(db, 1, 'main', { statuses: ['success'] }),
  ],
])('%s are not read by status', async (_what, table, index, ask) => {
  const found = await searchesOf(table, ask)
  expect(found.every((one) => one.startsWith(index)) && found.length > 0).toBe(true)
})

test.each(['instance_type', 'group_type', 'project_type'] as const)(
  'the jobs for a runner of %s are found without a look at every one that waits',
  async (runner_type) => {
    const runner = { id: 1, runner_type, group_id: 1, run_untagged: 1, tags: '["a"]' } as const
    const plans = await plansOf((db) =>
      listCandidates(db, { ...runner, access_level: 'not_protected' }),
    )
    expect(plans.filter((step) => /^SCAN (q|n|p|r|ci_\w+)\b/.test(step))).toEqual([])
    expect(plans.join()).toContain('ci_pending_jobs_kind')
  },
)
