import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { listFacts } from './queries.ts'

/** The languages of a project as they were last measured, the largest share first, in small letters; nothing is read. */
export async function knownLanguages(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
): Promise<readonly string[]> {
  const [known] = await listFacts(ctx.db, [project.id])
  if (!known) return []
  const shares = JSON.parse(known.languages) as Record<string, number> // written by us
  return Object.entries(shares)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name.toLowerCase())
}
