import { createHash } from 'node:crypto'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { eachZipItem, readZipText } from '../registry/read-zip.ts'

const MOST_METADATA = 1024 * 1024

/** What is kept beside a distribution. */
export interface DistributionMetadata {
  readonly requires_python: string
  /** The SHA-256 of the METADATA in a wheel. */
  readonly core_metadata?: string
}

/**
 * The METADATA of a wheel: clients resolve dependencies with it instead of downloading wheels that they may not want (PEP
 * 658). Nothing for source archives, and where there is none.
 */
export async function readWheelMetadata(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
  fileName: string,
): Promise<string | undefined> {
  if (!fileName.endsWith('.whl')) return undefined
  let found: string | undefined
  try {
    await eachZipItem(ctx, sha256, async (item) => {
      const isWanted = /^[^/]+\.dist-info\/METADATA$/.test(item.path)
      if (isWanted) found = await readZipText(item, MOST_METADATA)
      return found === undefined
    })
  } catch (error) {
    // A broken wheel is its publisher's affair; it is served as it came.
    if (!(error instanceof Problem)) throw error
  }
  return found
}

/** What to keep beside a distribution that was received; a wheel knows itself which Python it needs. */
export async function describeDistribution(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
  fileName: string,
  requiresPython?: string,
): Promise<DistributionMetadata> {
  const text = await readWheelMetadata(ctx, sha256, fileName)
  if (text === undefined) return { requires_python: requiresPython ?? '' }
  const [headers = ''] = text.split(/\r?\n\r?\n/, 1)
  const [, own = ''] = /^Requires-Python:[ \t]*([^\r\n]{1,255})$/im.exec(headers) ?? []
  const core_metadata = createHash('sha256').update(text).digest('hex')
  return { requires_python: requiresPython ?? own.trim(), core_metadata }
}
