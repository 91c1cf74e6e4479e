import { visibilityRank } from '../../access/roles.ts'
import type { Group, Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { fireHooks, type HookPayload } from '../../notifications/hooks/fire.ts'
import { hookActor, hookProject } from '../../notifications/hooks/payload-parts.ts'
import type { PageName } from './page-name.ts'
import { listPages, readPageText } from './pages.ts'
import { projectWiki, wikiTip } from './wiki.ts'

/** Whose wiki it is, as hooks are told of it. */
export type WikiHolder = { readonly hooked: Pick<Project, 'id' | 'namespace_id'> } & (
  | { readonly project: Project; readonly group: undefined }
  | { readonly project: undefined; readonly group: Group }
)

type PageAction = 'created' | 'updated' | 'destroyed'

/** What happened to one page. */
export interface PageNews {
  readonly action: PageAction
  readonly page: PageName
  readonly formerSlug: string | undefined
  /** Its text, where a hook will ask for it. */
  readonly text: string
}

interface Version {
  readonly versionId: string
  readonly branch: { readonly defaultBranch: string | null }
}

const words: Readonly<Record<PageAction, string>> = {
  created: 'create',
  updated: 'update',
  destroyed: 'delete',
}

/** Tells the hooks of one page, in the caller's transaction (spec D §1.25). */
export async function fireWikiHooks(
  ctx: Ctx,
  holder: WikiHolder,
  news: PageNews,
  version: Version,
): Promise<void> {
  await fireHooks(ctx, holder.hooked, 'wiki_page', () => wikiPayload(ctx, holder, news, version))
}

async function wikiPayload(
  ctx: Ctx,
  holder: WikiHolder,
  { action, page, text }: PageNews,
  version: Version,
): Promise<HookPayload> {
  const { externalUrl } = ctx.config
  const path = holder.project?.full_path ?? holder.group?.full_path ?? ''
  const web = holder.project ? `${externalUrl}/${path}` : `${externalUrl}/groups/${path}`
  const url = `${web}/-/wikis/${page.slug.split('/').map(encodeURIComponent).join('/')}`
  return {
    object_kind: 'wiki_page',
    user: await hookActor(ctx),
    ...(holder.project
      ? { project: hookProject(ctx, holder.project) }
      : { group: hookGroup(ctx, holder.group) }),
    wiki: {
      web_url: `${web}/-/wikis/home`,
      git_ssh_url: `git@${new URL(externalUrl).hostname}:${path}.wiki.git`,
      git_http_url: `${externalUrl}/${path}.wiki.git`,
      path_with_namespace: `${path}.wiki`,
      default_branch: version.branch.defaultBranch,
    },
    object_attributes: {
      slug: page.slug,
      title: page.title,
      format: page.format,
      content: text,
      url,
      action: words[action],
      diff_url: `${url}/diff?version_id=${version.versionId}`,
      version_id: version.versionId,
    },
  }
}

function hookGroup(ctx: Pick<Ctx, 'config'>, group: Group) {
  return {
    id: group.id,
    name: group.name,
    path: group.path,
    full_path: group.full_path,
    web_url: `${ctx.config.externalUrl}/groups/${group.full_path}`,
    visibility_level: visibilityRank[group.visibility],
  }
}

/** The first page of a wiki as a payload, for trying a hook out. */
export async function exampleWikiPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const at = await wikiTip(ctx, projectWiki(ctx, project))
  const [page] = at ? await listPages(at.repo, at.tip) : []
  if (!at || !page) return undefined
  const holder = { project, group: undefined, hooked: project }
  const text = await readPageText(at.repo, page)
  const news: PageNews = { action: 'created', page, formerSlug: undefined, text }
  const version = { versionId: at.tip, branch: { defaultBranch: at.branch } }
  return await wikiPayload(ctx, holder, news, version)
}
