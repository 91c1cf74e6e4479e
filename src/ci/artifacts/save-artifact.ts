import { later } from '../../base/clock.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { StoredFile } from '../../store/files.ts'
import { inTransaction } from '../../store/transaction.ts'
import { secondsOf } from '../config/duration.ts'
import { isMap, type ValueMap } from '../config/values.ts'
import { expireJobArtifacts, type LoadedJob } from '../pipelines/process/running.ts'
import { type ArtifactRow, findArtifact, insertArtifact } from './queries.ts'

const FORMATS = ['zip', 'gzip', 'raw'] as const

export interface SentArtifact {
  readonly type: string
  readonly format: (typeof FORMATS)[number]
  readonly expireIn: string | undefined
  readonly accessibility: string | undefined
}

/** Keeps a file that a runner sent; the same one again is no fault, another of its type is (docs/contract/B-resolved §6). */
export async function saveArtifact(
  ctx: Ctx,
  { job }: LoadedJob,
  sent: SentArtifact,
  name: string,
  stored: StoredFile,
): Promise<void> {
  const options = JSON.parse(job.options) as ValueMap // written by us
  const seconds = expirySeconds(sent.expireIn ?? ctx.settings.get('default_artifacts_expire_in'))
  const expireAt = seconds === undefined ? null : later(ctx.now(), seconds * 1000)
  await inTransaction(ctx, async (ctx) => {
    const added = await insertArtifact(ctx.db, {
      job_id: job.id,
      project_id: job.project_id,
      file_type: sent.type,
      file_format: sent.format,
      filename: name.split(/[\\/]/).pop() || 'artifacts.zip',
      size: stored.size,
      sha256: stored.sha256,
      access: accessOf(options, sent.accessibility),
      expire_at: expireAt,
      created_at: ctx.now(),
    })
    if (added) return await expireJobArtifacts(ctx, job.id, expireAt)
    const known = await findArtifact(ctx.db, job.id, sent.type)
    if (known?.sha256 !== stored.sha256) {
      throw badRequest('another artifact of the same type already exists')
    }
  })
}

/** `never`, `0` and what is no duration keep a file for ever. */
function expirySeconds(text: string): number | undefined {
  return /^(never|0)$/i.test(text.trim()) ? undefined : secondsOf(text)
}

const WORDS: readonly ArtifactRow['access'][] = [
  'public',
  'private',
  'developer',
  'maintainer',
  'none',
]

/** Who may download: `artifacts:access`, or the older `artifacts:public`. */
function accessOf(options: ValueMap, sent: string | undefined): ArtifactRow['access'] {
  const given = isMap(options.artifacts) ? options.artifacts : {}
  if (given.access === 'all') return 'public'
  // What the configuration says goes before what the runner sends.
  const own = given.access ?? (given.public === false ? 'private' : undefined)
  return WORDS.find((one) => one === (own ?? sent)) ?? 'public'
}
