import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { Noteable, Position } from '../../discussions/notes/noteable.ts'
import { GitError } from '../../git/error.ts'
import { readFileAt } from '../../git/objects/file.ts'
import { inTransaction } from '../../store/transaction.ts'
import { cutLines } from './lines.ts'
import { findSuggestions } from './parse.ts'
import { replaceSuggestions } from './queries.ts'

// Nobody suggests lines of a larger file.
export const largestFile = 5 * 1024 * 1024

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
  const text = await readText(ctx, noteable, position)
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

async function readText(ctx: Ctx, noteable: Noteable, position: Position) {
  const options = { ref: position.head_sha, path: position.new_path, contentUpTo: largestFile }
  try {
    const file = await readFileAt(ctx.git.open(noteable.project.id), options)
    return file.content?.toString('utf8')
  } catch (error) {
    if (error instanceof GitError && error.code === 'not_found') return undefined
    throw error
  }
}
