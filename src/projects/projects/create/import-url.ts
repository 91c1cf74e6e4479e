import { z } from 'zod'
import { OutboundError } from '../../../base/outbound/outbound-guard.ts'
import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'

/** What the address of an import is sealed for. */
export const IMPORT_PURPOSE = 'projects.import_url'

/** An address as it may be shown: without name and password. */
export function shownUrl(text: string): string {
  const url = new URL(text)
  url.username = ''
  url.password = ''
  return url.href
}

/** Refuses an address that nobody may ask, before anything is made; `field` is what the request calls it. */
export async function assertImportable(ctx: Ctx, url: string, field = 'import_url'): Promise<void> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw invalid({ [field]: ['is blocked: Only allowed schemes are http, https'] })
  }
  try {
    await ctx.outbound.assertMayAsk(url)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw invalid({ [field]: [`is blocked: ${error.message}`] })
  }
}

/** The task that fetches a repository from an address that a user gave; the area of repositories does it. */
export const importJob = {
  name: 'projects.import_url',
  payload: z.object({ project_id: z.int(), sealed_url: z.string() }),
}

/** Enqueues the import in the transaction that shows the project; name and password stay sealed. */
export async function enqueueImport(ctx: Ctx, projectId: number, url: string): Promise<void> {
  const payload = { project_id: projectId, sealed_url: ctx.vault.seal(url, IMPORT_PURPOSE) }
  await ctx.work.enqueue(ctx.db, importJob, payload)
}
