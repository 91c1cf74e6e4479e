import type { Ctx } from '../../ctx.ts'
import type { ContributorCache } from '../../git/history/contributors.ts'
import type { LineCounts, TallyState } from '../../git/history/tally.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  findContributorTotals,
  insertContributorLines,
  listContributorLines,
  listContributorTips,
  saveContributorTotals,
} from './contributor-queries.ts'

/** SQLite binds at most 32,766 values in one statement. */
const BATCH = 5000
/** Tips of one project whose totals are kept: its busy branches. */
const MOST_TIPS = 20

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, index) =>
    all.slice(index * BATCH, (index + 1) * BATCH),
  )
}

/** What is remembered of a project's contributors: rows of the database, keyed by commit ids. */
export function contributorCache(ctx: Ctx, projectId: number): ContributorCache {
  return {
    async readLines(ids) {
      const found = new Map<string, LineCounts>()
      for (const some of batches(ids)) {
        for (const row of await listContributorLines(ctx.db, projectId, some)) {
          found.set(row.commit_id, [row.additions, row.deletions])
        }
      }
      return found
    },
    async saveLines(lines) {
      const rows = [...lines].map(([commit_id, [additions, deletions]]) => {
        return { commit_id, additions, deletions }
      })
      for (const some of batches(rows)) {
        await inTransaction(ctx, (ctx) => insertContributorLines(ctx.db, projectId, some))
      }
    },
    listTips: () => listContributorTips(ctx.db, projectId),
    async readTotals(tip) {
      const totals = await findContributorTotals(ctx.db, projectId, tip)
      return totals === undefined ? undefined : (JSON.parse(totals) as TallyState) // written below
    },
    async saveTotals(tip, totals) {
      const kept = { projectId, tip, totals: JSON.stringify(totals) }
      await inTransaction(ctx, (ctx) => saveContributorTotals(ctx.db, kept, MOST_TIPS, ctx.now()))
    },
  }
}
