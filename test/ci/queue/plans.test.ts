import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listForsakenJobs } from '../../../src/ci/pipelines/job-queries.ts'
import { listUnstored } from '../../../src/ci/traces/queries.ts'
import { listInheritedVariables } from '../../../src/ci/variables/queries.ts'
import type { Db } from '../../../src/store/schema.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** How SQLite goes about the queries of a function. */
async function plansOf(ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const asked: RootOperationNode[] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      asked.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await ask(world.ctx.db.withPlugin(plugin) as Db)
  const plans = await Promise.all(
    asked.map(async (node) => {
      const { sql, parameters } = world.ctx.db.getExecutor().compileQuery(node, { queryId: 'plan' })
      return await world.ctx.db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters]),
      )
    }),
  )
  return plans.flatMap(({ rows }) => rows.map(({ detail }) => detail))
}

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
