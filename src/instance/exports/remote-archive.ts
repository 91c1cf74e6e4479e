import { badGateway } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { outboundOf } from '../../projects/projects/create/import-url.ts'

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
  const maxSize = ctx.config.maxUpload
  const answer = await outboundOf(ctx).request(url, {
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
