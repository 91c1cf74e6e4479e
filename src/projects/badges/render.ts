import type { Source } from '../../access/sources.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { listTags } from '../../git/refs/tags.ts'
import { fillPlaceholders, mentions, type PlaceholderValues } from './placeholders.ts'

/**
 * Fills the placeholders of badges for the project that is looked at; a group has none to fill them for (docs/contract/B-resolved
 * §10). The repository is only asked when a URL needs it.
 */
export async function rendererOf(
  ctx: Ctx,
  source: Source,
  badges: readonly { readonly link_url: string; readonly image_url: string }[],
): Promise<(url: string) => string> {
  if (source.type === 'group') return (url) => url
  const project = source
  const urls = badges.flatMap((badge) => [badge.link_url, badge.image_url])
  const values: PlaceholderValues = {
    ...plainValues(ctx, project),
    commit_sha: mentions(urls, 'commit_sha') ? await tipOf(ctx, project) : undefined,
    latest_tag: mentions(urls, 'latest_tag') ? await latestTagOf(ctx, project) : undefined,
  }
  const words = ctx.config.vendor.folders.map((folder) => folder.slice(1))
  return (url) => fillPlaceholders(url, values, words)
}

function plainValues(ctx: Ctx, project: Project): PlaceholderValues {
  const host = new URL(ctx.config.externalUrl).host
  return {
    project_path: project.full_path,
    project_title: project.name,
    project_name: project.path,
    project_id: String(project.id),
    project_namespace: project.namespace_full_path,
    group_name: project.namespace_kind === 'group' ? project.namespace_path : undefined,
    server: host,
    pages_domain: host,
    default_branch: project.empty_repo === 1 ? undefined : (project.default_branch ?? undefined),
  }
}

async function tipOf(ctx: Ctx, project: Project): Promise<string | undefined> {
  if (project.default_branch === null) return undefined
  const repo = ctx.git.open(project.id)
  return orNothing(
    async () =>
      (await resolveRevision(repo, project.default_branch ?? '', { kind: 'branch' })).commitId,
  )
}

function latestTagOf(ctx: Ctx, project: Project): Promise<string | undefined> {
  const newest = () => listTags(ctx.git.open(project.id), { limit: 1 })
  return orNothing(async () => (await newest()).items[0]?.name)
}

async function orNothing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof GitError && (error.code === 'not_found' || error.code === 'empty'))
      return undefined
    throw error
  }
}
