import type { Ctx } from '../../ctx.ts'
import { eachZipItem, readZipText } from '../registry/read-zip.ts'

const MOST_NUSPEC = 4 * 1024 * 1024

/** The nuspec of a package in the file store, as it was packed; nothing where it has none. */
export async function readNuspecText(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
): Promise<string | undefined> {
  let text: string | undefined
  await eachZipItem(ctx, sha256, async (item) => {
    if (/^[^/\\]+\.nuspec$/i.test(item.path)) text = await readZipText(item, MOST_NUSPEC)
    return text === undefined
  })
  return text
}
