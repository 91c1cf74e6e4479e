import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { openZipEntry } from '../../archives/zip-entry.ts'
import { artifactsOfJob } from '../artifacts-of-job.ts'
import { findNamedJob, type JobRow } from '../job-queries.ts'

/**
 * The text of a file that a job beside a bridge has left, for the configuration of the child; undefined when there is
 * none, and when it is larger than a configuration may be.
 */
export async function readParentArtifact(
  ctx: Ctx,
  bridge: JobRow,
  name: string,
  path: string,
): Promise<string | undefined> {
  const job = await findNamedJob(ctx.db, bridge.pipeline_id, name)
  const files = job?.status === 'success' ? await artifactsOfJob(ctx, job.id) : []
  const archive = files.find((file) => file.file_type === 'archive')
  if (!archive || archive.size > ctx.settings.get('max_artifacts_content_include_size')) {
    return undefined
  }
  try {
    const { body } = await openZipEntry(ctx, archive, path)
    return await readText(body, ctx.settings.get('max_yaml_size_bytes'))
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

async function readText(
  body: Awaited<ReturnType<typeof openZipEntry>>['body'],
  most: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
