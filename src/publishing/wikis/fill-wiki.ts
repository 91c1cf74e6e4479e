import { findProjectById } from '../../access/find-queries.ts'
import { withProjectRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Fetched } from '../../git/transfer/fetch-whole.ts'
import { noObject } from '../../git/types.ts'
import { moveWith } from '../../repositories/refs/move-refs.ts'
import { branchOf } from '../../repositories/refs/moves.ts'
import { wikiOrSnippetUpdater } from '../../repositories/refs/wiki-updater.ts'
import { projectWiki } from './access.ts'
import { ensureWikiRepository } from './wiki.ts'

/** Moves a wiki that was fetched and checked into a project's own. May be done again after a crash. */
export async function fillWiki(ctx: Ctx, projectId: number, fetched: Fetched): Promise<void> {
  const ref = fetched.refs.find(({ name }) => branchOf(name) !== undefined)
  const row = await findProjectById(ctx.db, projectId)
  if (!ref || !row) return
  const wiki = projectWiki(ctx, await withProjectRole(ctx, row))
  const target = { ...(await ensureWikiRepository(ctx, wiki)), refusal: undefined }
  const updater = wikiOrSnippetUpdater(ctx, target)
  await fetched.moveInto(updater.repo)
  const oldId = (await findRef(updater.repo, ref.name))?.id ?? noObject
  if (oldId === ref.id) return
  const move = { name: ref.name, oldId, newId: ref.id }
  await moveWith(ctx, updater, { via: 'system', moves: [move] })
}
