import { z } from 'zod'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { fault, filledText, integer, oneOf, text } from '../../http/params.ts'
import { type UserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { getCommit } from '../../repositories/commits/describe-commit.ts'
import { onCode, onWritableCode } from '../../repositories/repository/access.ts'
import { commandsEntity, type NoteRow, presentCommands } from '../notes/entity.ts'
import { addNote } from '../notes/note-routes.ts'
import type { Position } from '../notes/noteable.ts'
import { listNoteRows } from '../notes/queries.ts'
import { scopeOf } from '../notes/verbs.ts'
import { findPosition } from './commented-line.ts'
import { commitKind } from './commit-kind.ts'
import { commitNoteable } from './noteable.ts'

const hidden = { hidden: true } as const
const path = '/projects/:id/repository/commits/:sha/comments'

const commentEntity = z.strictObject({
  note: z.string(),
  path: z.string().nullable(),
  line: z.int().nullable(),
  line_type: z.enum(['new', 'old']).nullable(),
  author: userBasicEntity.nullable(),
  created_at: z.string(),
})

/** What people wrote, oldest first, without system notes and internal ones. */
const comments = {
  internal: false,
  activity: 'only_comments',
  orderBy: 'created_at',
  sort: 'asc',
} as const

function presentComment(
  row: NoteRow,
  authors: ReadonlyMap<number, UserBasic>,
): z.input<typeof commentEntity> {
  // Positions are checked before they are kept.
  const position = row.position === null ? undefined : (JSON.parse(row.position) as Position)
  const line = position?.new_line ?? position?.old_line ?? null
  return {
    note: row.body,
    path: position?.new_path ?? null,
    line,
    line_type: line === null ? null : position?.new_line === null ? 'old' : 'new',
    author: (row.author_id === null ? undefined : authors.get(row.author_id)) ?? null,
    created_at: row.created_at,
  }
}

export const listCommitComments = endpoint({
  method: 'GET',
  path,
  summary: 'List the comments on a commit',
  access: onCode(hidden),
  params: { sha: text() },
  paginate: 'offset',
  response: z.array(commentEntity),
  async handler({ ctx, project, repo, params, page, request }) {
    const commit = await getCommit(repo, params.sha, request.signal)
    const scope = scopeOf(commitNoteable(ctx, project, commit))
    const rows = await listNoteRows(ctx.db, scope, comments, page)
    const authors = await usersById(
      ctx,
      rows.items.map((row) => row.author_id),
    )
    return { ...rows, items: rows.items.map((row) => presentComment(row, authors)) }
  },
})

export const createCommitComment = endpoint({
  method: 'POST',
  path,
  summary: 'Comment on a commit, or on one of the lines that it changed',
  access: onWritableCode('comment_commit', hidden),
  params: { sha: text() },
  body: {
    note: filledText(),
    path: text().optional(),
    line: integer().optional(),
    line_type: oneOf(['new', 'old']).default('new'),
  },
  check: (sent) => (sent.has('path') && !sent.has('line') ? [`line ${fault.missing.text}`] : []),
  response: z.union([commentEntity, commandsEntity]),
  async handler({ ctx, project, repo, params, body }) {
    const commit = await getCommit(repo, params.sha)
    const { path, line, line_type: type } = body
    const place =
      path && line !== undefined
        ? await findPosition(repo, commit, {
            new_path: path,
            ...(type === 'old' ? { old_line: line } : { new_line: line }),
          })
        : undefined
    const noteable = commitNoteable(ctx, project, commit)
    const { row, done } = await addNote(ctx, commitKind, noteable, { body: body.note, ...place })
    if (!row) return new Answer(presentCommands(done), { status: 202 })
    return presentComment(row, await usersById(ctx, [row.author_id]))
  },
})
