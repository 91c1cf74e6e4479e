import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { badRequest, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { listInstallable } from '../registry/find.ts'
import { setDeprecated } from '../registry/status.ts'
import { MOST_DEPRECATION } from './document.ts'
import { splitBody } from './split-body.ts'

const deprecation = z.object({
  versions: z.record(
    z.string(),
    z.object({ deprecated: z.string().max(MOST_DEPRECATION).optional() }),
  ),
})

/** What `npm deprecate` asks: versions with a text get it, those with an empty one lose theirs. */
export async function deprecateNpmVersions(
  ctx: Ctx,
  project: Project,
  name: string,
  request: Pick<RequestFacts, 'body'>,
): Promise<void> {
  const { document } = await splitBody(request.body, async () => {
    throw badRequest('A deprecation has no attachment')
  })
  const read = deprecation.safeParse(document)
  if (!read.success) throw badRequest('versions is invalid')
  const texts = new Map(Object.entries(read.data.versions))
  const rows = await listInstallable(ctx, project, { type: 'npm', nameKey: name })
  if (rows.length === 0) throw notFound('Package')
  const changed = rows.flatMap((row) => {
    const said = texts.get(row.version ?? '')?.deprecated
    const text = said || null
    // npm sends every version that has a text, also where it stays.
    return said === undefined || text === row.status_message ? [] : [{ row, text }]
  })
  await setDeprecated(ctx, project, changed)
}
