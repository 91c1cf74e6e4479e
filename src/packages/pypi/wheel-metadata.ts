import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { eachZipItem, readZipText } from '../registry/read-zip.ts'
import { type ReceivedFile, storeFile } from '../registry/receive.ts'

const MOST_METADATA = 1024 * 1024
/** A smaller wheel comes as quickly as its metadata, and is there then: pip asks half as often. */
const LEAST_WHEEL = 100_000

/** What is kept beside a distribution. */
export interface DistributionMetadata {
  readonly requires_python: string
  /** The METADATA of a wheel, as a file of the store. */
  readonly core_metadata?: { readonly sha256: string; readonly size: number }
}

/**
 * The METADATA of a wheel: clients resolve dependencies with it instead of downloading wheels that they may not want (PEP
 * 658). Nothing where there is none.
 */
async function readWheelMetadata(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
): Promise<string | undefined> {
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
  ctx: Ctx,
  received: ReceivedFile,
  fileName: string,
  requiresPython?: string,
): Promise<DistributionMetadata> {
  const isWheel = fileName.endsWith('.whl')
  const text = isWheel ? await readWheelMetadata(ctx, received.sha256) : undefined
  if (text === undefined) return { requires_python: requiresPython ?? '' }
  const [headers = ''] = text.split(/\r?\n\r?\n/, 1)
  const [, own = ''] = /^Requires-Python:[ \t]*([^\r\n]{1,255})$/im.exec(headers) ?? []
  const requires_python = requiresPython ?? own.trim()
  if (received.size < LEAST_WHEEL) return { requires_python }
  const { sha256, size } = await storeFile(ctx, 'pypi', [Buffer.from(text)])
  return { requires_python, core_metadata: { sha256, size } }
}

export function metadataOf(row: { readonly metadata: string | null }): DistributionMetadata {
  const read = JSON.parse(row.metadata ?? '{}') as Partial<DistributionMetadata> // written by the upload
  return { ...read, requires_python: read.requires_python ?? '' }
}
