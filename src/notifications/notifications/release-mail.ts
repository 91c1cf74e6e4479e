import type { Project } from '../../access/subjects.ts'
import type { Ctx, Effect } from '../../ctx.ts'
import type { ChangedRelease } from '../../publishing/effects.ts'
import type { ReleaseRow } from '../../publishing/releases/queries.ts'
import { mailFollowers } from './mail-followers.ts'

/** Mails those who follow the project about a new release. */
export async function mailRelease(
  _ctx: Ctx,
  { project }: { readonly project: Project },
): Promise<Effect<ChangedRelease>> {
  return async (ctx, { row, action }) => {
    if (action === 'create') await mailNewRelease(ctx, project, row)
  }
}

async function mailNewRelease(ctx: Ctx, project: Project, row: ReleaseRow): Promise<void> {
  const url = `${ctx.config.externalUrl}/${project.full_path}/-/releases/${encodeURIComponent(row.tag)}`
  await mailFollowers(
    ctx,
    project,
    'new_release',
    { part: [], author: row.author_id, ability: 'read_releases' },
    {
      subject: `${project.name} | Release ${row.name}`,
      text: `${row.name} of ${project.full_path} was released.\n\n${row.description ?? ''}\n\n${url}\n`,
      key: `release-${row.id}`,
    },
  )
}
