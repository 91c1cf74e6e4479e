import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { Manifest } from './folder/manifest.ts'
import { insertBackup } from './queries.ts'

/** What became of a backup. */
export type BackupResult = {
  readonly folder: string
  readonly started_at: Instant
} & ({ readonly manifest: Manifest } | { readonly error: string })

const kept = 1000

/** Notes what became of a backup, for metrics, the API and `doctor`. */
export async function recordBackup(ctx: Ctx, result: BackupResult): Promise<void> {
  const { folder, started_at } = result
  const about = { folder, started_at, finished_at: ctx.now() }
  await inTransaction(ctx, ({ db }) => insertBackup(db, { ...about, ...outcomeOf(result) }, kept))
}

function outcomeOf(result: BackupResult) {
  if ('error' in result) return { state: 'failed' as const, error: result.error }
  const { name, repositories, bytes, new_bytes, faults } = result.manifest
  const state = faults.length > 0 ? ('faulty' as const) : ('success' as const)
  return { state, name, repositories, bytes, new_bytes, faults: JSON.stringify(faults) }
}
