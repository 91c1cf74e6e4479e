import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedName } from '../../base/process-mark.ts'
import type { Ctx } from '../../ctx.ts'

/** Gives a folder that is gone afterwards. */
export async function withScratch<T>(
  ctx: Pick<Ctx, 'config'>,
  act: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(ctx.config.data, 'tmp', ownedName('export-'))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    return await act(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
