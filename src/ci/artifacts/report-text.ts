import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Ctx } from '../../ctx.ts'
import type { ArtifactRow } from './queries.ts'

const inflate = promisify(gunzip)

/** Reports larger than this are kept, but not read. */
const MOST_BYTES = 20 * 1024 * 1024

type Report = Pick<ArtifactRow, 'sha256' | 'size' | 'file_format'>

/** The text of a report, unpacked; undefined when it is too large or cannot be unpacked. */
export async function readReportText(
  ctx: Pick<Ctx, 'files'>,
  artifact: Report,
): Promise<string | undefined> {
  return (await readReportBytes(ctx, artifact))?.toString('utf8')
}

/** The same for texts that may not be UTF-8. */
export async function readReportBytes(
  ctx: Pick<Ctx, 'files'>,
  artifact: Report,
): Promise<Buffer | undefined> {
  if (artifact.size > MOST_BYTES) return undefined
  const bytes = await ctx.files.read(artifact.sha256)
  if (artifact.file_format !== 'gzip') return bytes
  try {
    return await inflate(bytes, { maxOutputLength: MOST_BYTES })
  } catch {
    return undefined
  }
}
