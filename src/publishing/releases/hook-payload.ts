import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommits } from '../../git/commit.ts'
import { GitError } from '../../git/error.ts'
import type { Commit } from '../../git/types.ts'
import { fireHooks, type HookPayload, wantsHooks } from '../../notifications/hooks/fire.ts'
import { hookProject } from '../../notifications/hooks/payload-parts.ts'
import { plainCommit } from '../../notifications/hooks/push-hooks.ts'
import { releaseUrl } from './present.ts'
import { findLatestRelease, listLinksOf, type ReleaseRow } from './queries.ts'

export type ReleaseAction = 'create' | 'update' | 'delete'

/** Reads the commit of a release while no transaction is open, if a hook will ask for it. */
export async function commitForHooks(
  ctx: Ctx,
  project: Project,
  sha: string | null,
): Promise<Commit | undefined> {
  if (sha === null || !(await wantsHooks(ctx, project, 'release'))) return undefined
  return await commitOf(ctx, project, sha)
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

/** Tells the hooks of a release, in the caller's transaction (spec D §1.25). */
export async function fireReleaseHooks(
  ctx: Ctx,
  project: Project,
  action: ReleaseAction,
  given: { readonly row: ReleaseRow; readonly commit: Commit | undefined },
): Promise<void> {
  await fireHooks(ctx, project, 'release', () => payloadOf(ctx, project, action, given))
}

async function payloadOf(
  ctx: Ctx,
  project: Project,
  action: ReleaseAction,
  { row, commit }: { readonly row: ReleaseRow; readonly commit: Commit | undefined },
): Promise<HookPayload> {
  const links = await listLinksOf(ctx.db, [row.id])
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
      count: links.length,
      links: links.map(({ id, name, url, link_type }) => ({ id, name, url, link_type })),
      sources: [],
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
