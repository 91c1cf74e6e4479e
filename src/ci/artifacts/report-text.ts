import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Ctx } from '../../ctx.ts'
import type { ArtifactRow } from './queries.ts'

const inflate = promisify(gunzip)

/** Reports larger than this are kept, but not read. */
const MOST_BYTES = 20 * 1024 * 1024

/** The text of a report, unpacked; undefined when it is too large or cannot be unpacked. */
export async function readReportText(
  ctx: Pick<Ctx, 'files'>,
  artifact: Pick<ArtifactRow, 'sha256' | 'size' | 'file_format'>,
): Promise<string | undefined> {
  if (artifact.size > MOST_BYTES) return undefined
  const bytes = await ctx.files.read(artifact.sha256)
  if (artifact.file_format !== 'gzip') return bytes.toString('utf8')
  try {
    return (await inflate(bytes, { maxOutputLength: MOST_BYTES })).toString('utf8')
  } catch {
    return undefined
  }
}
