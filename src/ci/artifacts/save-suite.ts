import type { Ctx } from '../../ctx.ts'
import type { NewRowOf } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { findArtifact, replaceSuite } from './queries.ts'

/** Keeps what was read out of the test report of a job, unless somebody has deleted that meanwhile. */
export async function saveSuite(ctx: Ctx, suite: NewRowOf<'ci_test_suites'>): Promise<void> {
  await inTransaction(ctx, async ({ db }) => {
    if (await findArtifact(db, suite.job_id, 'junit')) await replaceSuite(db, suite)
  })
}
