import type { Project } from '../../../access/subjects.ts'
import type { Ctx, Effect } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import type { Commit } from '../../../git/types.ts'
import type { ChangedRelease } from '../../../publishing/effects.ts'
import { releaseUrl, sourceArchives } from '../../../publishing/releases/present.ts'
import {
  findLatestRelease,
  listLinksOf,
  type ReleaseRow,
} from '../../../publishing/releases/queries.ts'
import { fireHooks, type HookPayload, wantsHooks } from '../fire.ts'
import { hookProject } from './payload-parts.ts'
import { plainCommit } from './push-hooks.ts'

/** Notifies the hooks of a release (docs/contract/D §1.25); reads its commit before, while no transaction is open, if any will ask. */
export async function releaseHooks(
  ctx: Ctx,
  { project, sha }: { readonly project: Project; readonly sha: string | null },
): Promise<Effect<ChangedRelease>> {
  const wanted = sha !== null && (await wantsHooks(ctx, project, 'release'))
  const commit = wanted ? await commitOf(ctx, project, sha) : undefined
  return (ctx, { row, action }) =>
    fireHooks(ctx, project, 'release', () => payloadOf(ctx, project, action, { row, commit }))
}

async function commitOf(ctx: Ctx, project: Project, sha: string): Promise<Commit | undefined> {
  try {
    const [commit] = await readCommits(ctx.git.open(project.id), [sha])
    return commit
  } catch (error) {
    if (error instanceof GitError) return undefined
    throw error
  }
}

async function payloadOf(
  ctx: Ctx,
  project: Project,
  action: ChangedRelease['action'],
  { row, commit }: { readonly row: ReleaseRow; readonly commit: Commit | undefined },
): Promise<HookPayload> {
  const links = await listLinksOf(ctx.db, [row.id])
  const sources = sourceArchives(ctx, project, row.tag)
  return {
    object_kind: 'release',
    id: row.id,
    name: row.name,
    tag: row.tag,
    description: row.description,
    created_at: row.created_at,
    released_at: row.released_at,
    project: hookProject(ctx, project),
    url: releaseUrl(ctx, project, row.tag),
    action,
    assets: {
      count: links.length + sources.length,
      links: links.map(({ id, name, url, link_type }) => ({ id, name, url, link_type })),
      sources,
    },
    commit: commit ? plainCommit(ctx, project, commit) : null,
  }
}

/** The newest release as a payload, for trying a hook out. */
export async function newestReleasePayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findLatestRelease(ctx.db, project.id, ctx.now())
  if (!row) return undefined
  const commit = row.sha === null ? undefined : await commitOf(ctx, project, row.sha)
  return await payloadOf(ctx, project, 'create', { row, commit })
}
