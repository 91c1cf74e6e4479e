import type { Ctx } from '../../ctx.ts'
import { listTipFiles } from '../../git/objects/tip-files.ts'
import type { WikiOrSnippetMove } from '../../repositories/effects.ts'
import { updateSnippetRow } from './queries.ts'

/** Remembers which files a snippet has now: lists of snippets need not open repositories. */
export async function snippetMoved(
  _: Ctx,
  { repo, repository, newId }: WikiOrSnippetMove,
): Promise<(ctx: Ctx) => Promise<void>> {
  const paths = (await listTipFiles(repo, newId)).map((file) => file.path)
  return (ctx) =>
    updateSnippetRow(ctx.db, repository.name.id, {
      files: JSON.stringify(paths),
      updated_at: ctx.now(),
    })
}
