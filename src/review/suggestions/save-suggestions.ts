import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { Noteable, Position } from '../../discussions/notes/noteable.ts'
import { readContentAt } from '../../git/history/file.ts'
import type { ObjectId } from '../../git/types.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import { inTransaction } from '../../store/transaction.ts'
import { cutLines } from './lines.ts'
import { findSuggestions } from './parse.ts'
import { replaceSuggestions } from './queries.ts'

// Nobody suggests lines of a larger file.
const largestFile = 5 * 1024 * 1024

/**
 * Keeps what a comment on a line suggests; its former suggestions give way. Reads git, so not for use in a transaction.
 * Only lines that the new side of the diff has can be suggested for.
 */
export async function saveSuggestions(
  ctx: Ctx,
  { noteable, row }: { readonly noteable: Noteable; readonly row: NoteRow },
): Promise<void> {
  if (row.type !== 'DiffNote' || row.position === null) return
  const position = JSON.parse(row.position) as Position // written by us
  const { new_line: line, position_type: type } = position
  const blocks = line === null || type !== 'text' ? [] : findSuggestions(row.body)
  if (blocks.length === 0) return await replace(ctx, row.id, [])
  const { head_sha: ref, new_path: path } = position
  const text = (await readBytes(ctx, noteable.project.id, ref, path))?.toString('utf8')
  const at = line ?? 1
  const suggestions = blocks.map(({ above, below, content }) => ({
    lines_above: above,
    lines_below: below,
    from_content: cutLines(text ?? '', at - above, at + below),
    to_content: content,
  }))
  await replace(ctx, row.id, text === undefined ? [] : suggestions)
}

async function replace(
  ctx: Ctx,
  noteId: number,
  suggestions: Parameters<typeof replaceSuggestions>[2],
): Promise<void> {
  await inTransaction(ctx, (ctx) => replaceSuggestions(ctx.db, noteId, suggestions))
}

/** The bytes of a file; undefined where there is none, or it is too large. */
export async function readBytes(
  ctx: Ctx,
  projectId: number,
  ref: ObjectId,
  path: string,
): Promise<Buffer | undefined> {
  const options = { ref, path, limit: largestFile }
  return (await ifFound(readContentAt(ctx.git.open(projectId), options))) ?? undefined
}
