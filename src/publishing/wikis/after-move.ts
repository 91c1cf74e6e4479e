import { findGroupById, findProjectById } from '../../access/find-queries.ts'
import { withGroupRole, withProjectRole } from '../../access/subjects.ts'
import { prepareEffects, runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { type ChangedPath, listChangedPaths } from '../../git/diff/changed-paths.ts'
import { emptyTree, noObject } from '../../git/types.ts'
import type { WikiOrSnippetMove } from '../../repositories/effects.ts'
import { pageOf } from './page-name.ts'
import type { PageNews, WikiHolder } from './page-news.ts'
import { findRename, type Rename, savePage } from './queries.ts'

/** Most pages of one push that webhooks and the feed get. */
const mostPages = 100

/** Notifies the feed and the hooks which pages a push or an edit changed. */
export async function wikiMoved(
  ctx: Ctx,
  move: WikiOrSnippetMove,
): Promise<(ctx: Ctx) => Promise<void>> {
  const holder = await holderOf(ctx, move)
  if (!holder) return async () => {}
  const pages = await newsOf(move, await findRename(ctx.db, move.pushId))
  const change = { repo: move.repo, tip: move.newId, branch: move.repository, pages }
  const follow = await prepareEffects(ctx, ctx.effects.wikiChanged, { holder, change })
  return async (ctx) => {
    for (const one of pages) {
      const saved = { ...one.page, formerSlug: one.formerSlug }
      const pageId = await savePage(ctx.db, move.repository.id, saved, ctx.now())
      await runEffects(ctx, ctx.effects.activity, {
        projectId: holder.project?.id ?? null,
        action: one.action,
        targetType: 'WikiPage::Meta',
        targetId: pageId,
        targetTitle: one.page.title,
      })
    }
    await follow(ctx, undefined)
  }
}

async function holderOf(
  ctx: Ctx,
  { repository }: WikiOrSnippetMove,
): Promise<WikiHolder | undefined> {
  if (repository.name.kind === 'project_wiki') {
    const found = await findProjectById(ctx.db, repository.name.id)
    const project = found && (await withProjectRole(ctx, found))
    return project && { project, group: undefined, hooked: project }
  }
  const row = await findGroupById(ctx.db, repository.name.id)
  const group = row && (await withGroupRole(ctx, row))
  // Hooks of the group and of those above it are called; there is no project.
  return group && { project: undefined, group, hooked: { id: 0, namespace_id: group.id } }
}

async function newsOf(move: WikiOrSnippetMove, renamed: Rename | undefined): Promise<PageNews[]> {
  const { repo, oldId, newId } = move
  const from = oldId === noObject ? emptyTree : oldId
  const changes = withRename(await listChangedPaths(repo, from, newId), renamed)
  return changes.flatMap((change) => asNews(change) ?? []).slice(0, mostPages)
}

/** An edit knows what it renamed, however much else it changed. */
function withRename(
  changes: readonly ChangedPath[],
  renamed: Rename | undefined,
): readonly ChangedPath[] {
  if (!renamed) return changes
  const others = changes.filter((one) => one.oldPath !== renamed.from && one.newPath !== renamed.to)
  return [...others, { oldPath: renamed.from, newPath: renamed.to, status: 'renamed' }]
}

function asNews(change: ChangedPath): PageNews | undefined {
  const before = change.status === 'added' ? undefined : pageOf(change.oldPath)
  const after = change.status === 'deleted' ? undefined : pageOf(change.newPath)
  const page = after ?? before
  if (!page) return undefined
  const action = !before ? 'created' : after ? 'updated' : 'destroyed'
  return { action, page, formerSlug: after && before?.slug }
}
