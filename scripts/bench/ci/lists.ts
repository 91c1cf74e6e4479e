import { sql } from 'kysely'
import { migrations } from '../../../src/areas.ts'
import { selectPipelineJobs } from '../../../src/ci/pipelines/job-queries.ts'
import { listPipelines } from '../../../src/ci/pipelines/queries.ts'
import { openStore } from '../../../src/store/connection.ts'
import { listPage } from '../../../src/store/pages.ts'
import type { Db } from '../../../src/store/schema.ts'
import { median, milliseconds, type Row } from '../measure.ts'
import type { BenchServer } from '../server.ts'

const PIPELINES = 100_000
const ROUNDS = 20

interface Place {
  readonly server: BenchServer
  readonly projectId: number
  /** The one with 1,000 jobs. */
  readonly pipelineId: number
}

/** What lists of jobs and pipelines take in SQL alone, as the API asks for them. */
export async function* benchLists({ server, projectId, pipelineId }: Place): AsyncGenerator<Row> {
  const store = openStore(server.data, { migrations, mayMigrate: false })
  try {
    const { db } = store
    const filter = { kind: 'build', statuses: [], includeRetried: false } as const
    const jobs = selectPipelineJobs(db, pipelineId, filter)
    const page = { kind: 'offset', number: 1, perPage: 100, offset: 0 } as const
    yield await listRow('list of 100 jobs of 1,000, in SQL', () => listPage(db, jobs, page))
    await copyPipelines(db, pipelineId)
    const order = { order_by: 'id', sort: 'desc' } as const
    const small = { ...page, perPage: 20 }
    yield await listRow('first page among 100,000 pipelines, in SQL', () =>
      listPipelines(db, projectId, order, small),
    )
    yield await listRow('page 2,000 of them, in SQL', () =>
      listPipelines(db, projectId, order, { ...small, number: 2000, offset: 39_980 }),
    )
    const { limit: _, ...failed } = await listRow('first page of the failed ones of a branch', () =>
      listPipelines(db, projectId, { ...order, status: 'failed', ref: 'branch-7' }, small),
    )
    yield failed
  } finally {
    await store.close()
  }
}

async function listRow(what: string, list: () => Promise<unknown>): Promise<Row> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) times.push(await milliseconds(list))
  const value = median(times)
  return { what, ours: `${value.toFixed(1)} ms`, theirs: '', value, unit: 'ms', limit: 20 }
}

/** Fills the project with pipelines of twenty branches, one in five of them failed. */
async function copyPipelines(db: Db, id: number): Promise<void> {
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM pragma_table_info('pipelines')`.execute(db)
  const own = ['id', 'iid', 'ref', 'status', 'merge_request_id']
  const columns = rows.map(({ name }) => name).filter((name) => !own.includes(name))
  const list = sql.join(columns.map((name) => sql.ref(name)))
  await sql`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PIPELINES})
    INSERT INTO pipelines (iid, ref, status, ${list})
    SELECT 1000000 + n.i, 'branch-' || (n.i % 20), iif(n.i % 5 = 2, 'failed', 'success'), ${list}
    FROM n, pipelines WHERE pipelines.id = ${id}`.execute(db)
}
