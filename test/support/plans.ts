import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely'
import type { Db } from '../../src/store/schema.ts'

/** How SQLite goes about the queries of a function. */
export async function plansOf(db: Db, ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const asked: RootOperationNode[] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      asked.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await ask(db.withPlugin(plugin) as Db)
  const plans = await Promise.all(
    asked.map(async (node) => {
      const { sql, parameters } = db.getExecutor().compileQuery(node, { queryId: 'plan' })
      return await db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters]),
      )
    }),
  )
  return plans.flatMap(({ rows }) => rows.map(({ detail }) => detail))
}
