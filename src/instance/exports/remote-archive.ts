import { z } from 'zod'
import { badGateway } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { mostBytes } from './import-facts.ts'

const PURPOSE = 'exports.remote_url'

/** An address may hold a signature that lets anybody in: it is kept sealed. */
export function sealAddress(ctx: Pick<Ctx, 'vault'>, url: string): string {
  return ctx.vault.seal(url, PURPOSE)
}

/** Downloads an archive into the file store; gives its name there. */
export async function downloadArchive(
  ctx: Ctx,
  sealed: string,
  signal: AbortSignal,
): Promise<string> {
  const url = ctx.vault.open(sealed, PURPOSE)
  const maxSize = Math.min(ctx.config.maxUpload, mostBytes(ctx, 'max_import_size'))
  const answer = await ctx.outbound.request(url, {
    raw: true,
    redirects: 3,
    timeoutMs: 3_600_000,
    maxSize,
    signal,
  })
  if (answer.status !== 200) {
    answer.body.on('error', () => {})
    answer.body.destroy()
    throw badGateway(`the other server answered ${answer.status}`)
  }
  const stored = await ctx.files.put(answer.body, { maxSize })
  return stored.sha256
}

/** Where an archive goes when it is finished; the address may hold a signature and is sealed. */
export const archiveTarget = z.object({ sealed_url: z.string(), method: z.enum(['PUT', 'POST']) })

/** Sends a finished archive to another server. */
export async function sendArchive(
  ctx: Ctx,
  file: string,
  { sealed_url, method }: z.infer<typeof archiveTarget>,
  signal: AbortSignal,
): Promise<void> {
  const { body, size } = await ctx.files.open(file)
  // The request reports it; without a listener it would end the process.
  body.on('error', () => {})
  try {
    const answer = await ctx.outbound.request(ctx.vault.open(sealed_url, PURPOSE), {
      method,
      body,
      headers: { 'Content-Type': 'application/gzip', 'Content-Length': String(size) },
      redirects: 0,
      timeoutMs: 3_600_000,
      signal,
    })
    await answer.read()
    if (answer.status >= 300) throw badGateway(`the other server answered ${answer.status}`)
  } finally {
    // A request that is refused before it begins takes nothing of it.
    body.destroy()
  }
}
