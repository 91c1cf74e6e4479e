import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { WikiOrSnippet } from '../../repositories/refs/wiki-updater.ts'
import { refusalOfSidePush } from '../../repositories/size-limit/side-rule.ts'
import { findRow, type WikiOrSnippetRow } from '../../repositories/wikis-and-snippets/queries.ts'
import { mayEditSnippet, type Snippet } from './access.ts'

/** Most files of one snippet (reference: snippet repositories). */
export const MOST_FILES = 10

/** The repository of a snippet, with what may be done to it. */
export async function getSnippetRepository(ctx: Ctx, snippet: Snippet): Promise<WikiOrSnippet> {
  const row = await findRow(ctx.db, { kind: 'snippet', id: snippet.row.id })
  if (!row) throw notFound('Repository')
  const refusal = mayEditSnippet(ctx, snippet) ? undefined : refusalOf(snippet)
  return { ...row, refusal, check: snippetCheck(ctx, row) }
}

function refusalOf({ project }: Snippet): string {
  return project?.archived
    ? "You can't push code to an archived project."
    : 'You are not allowed to update this snippet.'
}

/** The rules on what a snippet holds: few files, none too large. */
export function snippetCheck(
  ctx: Ctx,
  { name }: Pick<WikiOrSnippetRow, 'name'>,
): WikiOrSnippet['check'] {
  const limit = ctx.settings.get('snippet_size_limit')
  return async (objects, tip, via) => {
    const files = await objects.tipFiles(tip)
    if (files.length === 0) return 'The repository must contain at least 1 file.'
    if (files.length > MOST_FILES) {
      return `The repository can contain at most ${MOST_FILES} file(s).`
    }
    const tooLarge = files.find((file) => file.size > limit)
    if (tooLarge) {
      return `The file ${tooLarge.path} is ${tooLarge.size} bytes large; the limit is ${limit} bytes.`
    }
    // Edits by the API were measured before they were written.
    return via === 'push' ? await refusalOfSidePush(ctx, name, await objects.newBytes()) : undefined
  }
}
