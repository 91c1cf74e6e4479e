import { buffer } from 'node:stream/consumers'
import type { Ctx } from '../../ctx.ts'
import { readManifest } from './manifest.ts'

/** The hash of the configuration that the manifest of this hash names first; that of the manifest itself for an index. */
export async function readConfigHash(ctx: Pick<Ctx, 'files'>, sha256: string): Promise<string> {
  const { body } = await ctx.files.open(sha256)
  const { blobs } = readManifest(await buffer(body), undefined)
  return blobs[0]?.sha256 ?? sha256
}
