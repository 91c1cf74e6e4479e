import { judgedBy, mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import { forbidden, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type ArtifactRow, findArtifact } from './queries.ts'

/** The archive of a job as its `artifacts:access` lets the caller have it: 404 when there is none. */
export async function getArchive(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  project: Project,
  jobId: number,
): Promise<ArtifactRow> {
  const archive = await findArtifact(ctx.db, jobId, 'archive')
  if (!archive) throw notFound()
  const may = { public: true, none: false } as const
  const { access } = archive
  const isAllowed =
    access === 'public' || access === 'none'
      ? may[access]
      : mayInProject(
          ctx.actor,
          judgedBy('GET', project),
          access === 'maintainer' ? 'admin_build' : 'create_pipeline',
        )
  if (isAllowed) return archive
  throw ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
}
