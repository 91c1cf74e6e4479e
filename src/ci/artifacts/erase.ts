import type { Ctx } from '../../ctx.ts'
import { deleteArtifacts } from './queries.ts'

/** Forgets the artifacts of a job; the bytes go when nothing names them any more. */
export async function eraseArtifacts(ctx: Pick<Ctx, 'db'>, jobId: number): Promise<void> {
  await deleteArtifacts(ctx.db, jobId)
}
