import type { Ctx } from '../../ctx.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { WikiOrSnippetName } from '../../git/repo-name.ts'
import type { ObjectId } from '../../git/types.ts'
import type { WikiOrSnippet } from '../../repositories/refs/wiki-updater.ts'
import { refusalOfSidePush } from '../../repositories/size-limit/side-rule.ts'
import { findRow, type WikiOrSnippetRow } from '../../repositories/wikis-and-snippets/queries.ts'
import { ensureRepository } from '../../repositories/wikis-and-snippets/repository.ts'
import { pageOf } from './page-name.ts'

/** The wiki of a project or group. */
export interface Wiki {
  readonly name: WikiOrSnippetName
  /** The full path of the project or group. */
  readonly path: string
  readonly url: string
  /** For links to issues and the like; null in groups. */
  readonly projectPath: string | null
  readonly mayRead: boolean
  /** Why the caller may not write. */
  readonly refusal: string | undefined
}

/** The repository of a wiki, made now if there is none. */
export async function ensureWikiRepository(ctx: Ctx, wiki: Wiki): Promise<WikiOrSnippet> {
  return asTarget(ctx, wiki, await ensureRepository(ctx, wiki.name))
}

/** The repository of a wiki, if it was made. */
export async function findWikiRepository(ctx: Ctx, wiki: Wiki): Promise<WikiOrSnippet | undefined> {
  const row = await findRow(ctx.db, wiki.name)
  return row && asTarget(ctx, wiki, row)
}

function asTarget(ctx: Ctx, wiki: Wiki, row: WikiOrSnippetRow): WikiOrSnippet {
  const limit = ctx.settings.get('wiki_page_max_content_bytes')
  return {
    ...row,
    refusal: wiki.refusal,
    async check(objects, tip, via) {
      // Edits by the API were measured before they were written.
      if (via !== 'push') return undefined
      const files = await objects.newFiles(tip, { sizes: true })
      const tooLarge = files.find((file) => file.size > limit && pageOf(file.path))
      if (!tooLarge) return await refusalOfSidePush(ctx, row.name, await objects.newBytes())
      return `The page ${tooLarge.path} is ${tooLarge.size} bytes large; the limit is ${limit} bytes.`
    },
  }
}

/** What a wiki says now; undefined while it has no page. */
export async function wikiTip(
  ctx: Ctx,
  wiki: Wiki,
): Promise<{ readonly repo: Repo; readonly tip: ObjectId; readonly branch: string } | undefined> {
  const repository = await findRow(ctx.db, wiki.name)
  if (!repository || repository.defaultBranch === null) return undefined
  const repo = ctx.git.open(wiki.name)
  const ref = await findRef(repo, `refs/heads/${repository.defaultBranch}`)
  return ref && { repo, tip: ref.id, branch: repository.defaultBranch }
}
