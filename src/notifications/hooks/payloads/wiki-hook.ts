import { visibilityRank } from '../../../access/roles.ts'
import type { Group, Project } from '../../../access/subjects.ts'
import { sshUrl } from '../../../base/config.ts'
import type { Ctx, Effect } from '../../../ctx.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import type { Repo } from '../../../git/repo.ts'
import type { ObjectId } from '../../../git/types.ts'
import { projectWiki } from '../../../publishing/wikis/access.ts'
import type { PageNews, WikiChange, WikiHolder } from '../../../publishing/wikis/page-news.ts'
import { findPage, listPages, readPageText } from '../../../publishing/wikis/pages.ts'
import { wikiTip } from '../../../publishing/wikis/wiki.ts'
import { fireHooks, type HookPayload, wantsHooks } from '../fire.ts'
import { hookActor, hookProject } from './payload-parts.ts'

interface Version {
  readonly versionId: string
  /** What the commit of this version says. */
  readonly message: string | null
  readonly branch: { readonly defaultBranch: string | null }
}

const words: Readonly<Record<PageNews['action'], string>> = {
  created: 'create',
  updated: 'update',
  destroyed: 'delete',
}

/** Larger pages come to hooks without their text. */
const longestText = 1024 * 1024

/** Notifies the hooks of the pages that changed (docs/contract/D §1.25); reads their text before, if any hook will ask. */
export async function wikiHooks(
  ctx: Ctx,
  { holder, change }: { readonly holder: WikiHolder; readonly change: WikiChange },
): Promise<Effect<undefined>> {
  if (!(await wantsHooks(ctx, holder.hooked, 'wiki_page'))) return async () => {}
  const { repo, tip } = change
  const texts = await Promise.all(change.pages.map((one) => textOf(repo, tip, one)))
  const version = {
    versionId: tip,
    message: await messageOf(repo, tip),
    branch: change.branch,
  }
  return async (ctx) => {
    for (const [index, news] of change.pages.entries()) {
      const text = texts[index] ?? ''
      await fireHooks(ctx, holder.hooked, 'wiki_page', () =>
        wikiPayload(ctx, holder, { ...news, text }, version),
      )
    }
  }
}

async function messageOf(repo: Repo, tip: ObjectId): Promise<string | null> {
  const [commit] = await readCommits(repo, [tip])
  return commit?.message ?? null
}

async function textOf(repo: Repo, tip: ObjectId, { action, page }: PageNews): Promise<string> {
  if (action === 'destroyed') return ''
  const found = await findPage(repo, tip, page.slug)
  return found ? await readPageText(repo, found, longestText).catch(() => '') : ''
}

async function wikiPayload(
  ctx: Ctx,
  holder: WikiHolder,
  { action, page, text }: PageNews & { readonly text: string },
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
      git_ssh_url: sshUrl(ctx.config, `${path}.wiki.git`),
      git_http_url: `${externalUrl}/${path}.wiki.git`,
      path_with_namespace: `${path}.wiki`,
      default_branch: version.branch.defaultBranch,
    },
    object_attributes: {
      slug: page.slug,
      title: page.title,
      format: page.format,
      content: text,
      message: version.message,
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
  const news = { action: 'created', page, formerSlug: undefined, text } as const
  const message = await messageOf(at.repo, at.tip)
  const version = { versionId: at.tip, message, branch: { defaultBranch: at.branch } }
  return await wikiPayload(ctx, holder, news, version)
}
