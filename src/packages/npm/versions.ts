import type { Ctx } from '../../ctx.ts'
import type { NpmPlace } from './metadata.ts'
import { listVersions } from './queries.ts'

/** The versions of a package that may be installed. */
export async function listVersionsOf(ctx: Pick<Ctx, 'db'>, place: NpmPlace): Promise<string[]> {
  if (place.projectIds.length === 0) return []
  const rows = await listVersions(ctx.db, place.projectIds, place.name)
  return rows.map((row) => row.version ?? '')
}
