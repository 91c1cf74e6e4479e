import { type Group, getVisibleProject } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { searchFiles } from '../../git/objects/search.ts'
import { groupWiki, projectWiki } from '../../publishing/wikis/access.ts'
import { type Wiki, wikiTip } from '../../publishing/wikis/wiki.ts'
import { type BlobHit, type CodeSearch, MOST_PROJECTS, pageOf, presentHit } from './code.ts'
import { parseCodeQuery } from './code-query.ts'
import { listWikiProjectIds } from './queries.ts'

/** Pages of wikis that contain a text: of a group first, then of projects. */
export async function searchWikis(
  ctx: Ctx,
  group: Group | undefined,
  search: CodeSearch,
  page: OffsetPage,
  signal: AbortSignal,
): Promise<Paged<BlobHit>> {
  const { text, paths } = parseCodeQuery(search.text)
  const wanted = page.offset + page.perPage + 1
  const found: BlobHit[] = []
  const look = async (wiki: Wiki, of: Pick<BlobHit, 'project_id' | 'group_id'>) => {
    const at = wiki.mayRead && text !== '' ? await wikiTip(ctx, wiki) : undefined
    if (!at) return
    const options = { commitId: at.tip, text, paths, context: search.contextLines, limit: wanted }
    const hits = await searchFiles(at.repo, options, signal)
    found.push(...hits.map((hit) => presentHit(hit, at.branch, of)))
  }
  if (group) await look(groupWiki(ctx, group), { project_id: null, group_id: group.id })
  const viewer = viewerOf(ctx)
  for (const id of await listWikiProjectIds(ctx.db, viewer, search.place, MOST_PROJECTS)) {
    if (found.length >= wanted) break
    const project = await getVisibleProject(ctx, String(id))
    await look(projectWiki(ctx, project), { project_id: id, group_id: null })
  }
  return pageOf(found, page)
}
