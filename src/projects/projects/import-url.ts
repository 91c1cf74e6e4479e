import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { task } from '../../background/task.ts'
import { makeOutbound, type Outbound } from '../../base/outbound.ts'
import { invalid, Problem } from '../../base/problem.ts'
import { ownedName } from '../../base/process-mark.ts'
import { redactText } from '../../base/redact.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { importRepository } from '../../git/import.ts'
import { fillRepository } from './fill-repository.ts'
import { findProjectRow } from './list-queries.ts'
import { updateProjectRow } from './queries.ts'

const PURPOSE = 'projects.import_url'

/** The door to other servers, as the operator opened it. */
export function outboundOf(ctx: Pick<Ctx, 'config'>): Outbound {
  const { config } = ctx
  return makeOutbound({
    allow: config.outboundAllow,
    proxy: config.outboundProxy,
    timeoutMs: config.outboundTimeout,
    maxSize: config.outboundMaxSize,
  })
}

/** An address as it may be shown: without name and password. */
export function shownUrl(text: string): string {
  const url = new URL(text)
  url.username = ''
  url.password = ''
  return url.href
}

/** Refuses an address that nobody may ask, before anything is made. */
export async function assertImportable(ctx: Ctx, url: string): Promise<void> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw invalid({ import_url: ['is blocked: Only allowed schemes are http, https'] })
  }
  try {
    await outboundOf(ctx).assertMayAsk(url)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw invalid({ import_url: ['is blocked: Requests to this address are not allowed'] })
  }
}

/** Fetches a repository from an address that a user gave, into a project that was made for it. */
export const importFromUrl = task({
  name: 'projects.import_url',
  payload: z.object({ project_id: z.int(), sealed_url: z.string() }),
  lane: 'slow',
  attempts: 3,
  timeout: 6 * 3_600_000,
  async handler(ctx: Ctx, { project_id: id, sealed_url: sealed }, signal) {
    const row = await findProjectRow(ctx.db, id)
    if (!row || row.pending_delete === 1 || row.import_status === 'finished') return
    await updateProjectRow(ctx.db, id, { import_status: 'started' })
    const scratch = join(ctx.config.data, 'tmp', ownedName('import-'))
    try {
      const source = { url: ctx.vault.open(sealed, PURPOSE) }
      const options = {
        scratch,
        outbound: outboundOf(ctx),
        proxy: ctx.config.outboundProxy,
        maxBytes: ctx.config.maxPush || undefined,
        signal,
      }
      const { head, fetched } = await importRepository(source, options)
      await fillRepository(ctx, id, fetched, head.branch)
      await updateProjectRow(ctx.db, id, { import_status: 'finished', import_error: null })
    } catch (error) {
      // What the other server did is told to who asked; a fault of ours is tried again.
      if (!(error instanceof GitError) && !(error instanceof Problem)) throw error
      const text = redactText(error.message).slice(0, 1000)
      await updateProjectRow(ctx.db, id, { import_status: 'failed', import_error: text })
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  },
})

/** Enqueues the import in the transaction that shows the project; name and password stay sealed. */
export async function enqueueImport(ctx: Ctx, projectId: number, url: string): Promise<void> {
  const payload = { project_id: projectId, sealed_url: ctx.vault.seal(url, PURPOSE) }
  await ctx.work.enqueue(ctx.db, importFromUrl, payload)
}
