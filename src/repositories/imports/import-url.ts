import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withProjectRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { Problem } from '../../base/problem.ts'
import { ownedName } from '../../base/process-mark.ts'
import { redactText } from '../../base/redact.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { giveUpImport, saveImportState } from '../../projects/projects/create/import-state.ts'
import { IMPORT_PURPOSE, importJob } from '../../projects/projects/create/import-url.ts'
import { findProjectRow } from '../../projects/projects/list/queries.ts'
import { inTransaction } from '../../store/transaction.ts'
import { followSource } from '../mirrors/pull-verbs.ts'
import { fetchWithinRoom } from '../size-limit/fetch.ts'
import { fillRepository } from './fill-repository.ts'

/** Fetches a repository from an address that a user gave, into a project that was made for it. */
export const importFromUrl = task({
  ...importJob,
  lane: 'slow',
  attempts: 3,
  timeout: 6 * 3_600_000,
  async handler(ctx: Ctx, { project_id: id, sealed_url: sealed }, signal) {
    const row = await findProjectRow(ctx.db, id)
    if (!row || row.pending_delete === 1 || row.import_status === 'finished') return
    await saveImportState(ctx, id, 'started', null)
    const scratch = join(ctx.config.data, 'tmp', ownedName('import-'))
    try {
      const source = { url: ctx.vault.open(sealed, IMPORT_PURPOSE) }
      const options = {
        scratch,
        outbound: ctx.outbound,
        proxy: ctx.config.outboundProxy,
        signal,
      }
      const project = await withProjectRole(ctx, row)
      const { head, fetched } = await fetchWithinRoom(ctx, project, source, options)
      await fillRepository(ctx, id, fetched, head.branch)
      await inTransaction(ctx, async (ctx) => {
        await saveImportState(ctx, id, 'finished', null)
        await followSource(ctx, row, source.url)
      })
    } catch (error) {
      // The caller reads what the other server did; a fault of ours is tried again.
      if (!(error instanceof GitError) && !(error instanceof Problem)) throw error
      const text = redactText(error.message).slice(0, 1000)
      await saveImportState(ctx, id, 'failed', text)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  },
  givenUp: (ctx, { project_id: id }, reason) => giveUpImport(ctx, id, reason),
})
