import { runEffects } from '../../base/effects.ts'
import type { NoteKind } from '../../discussions/notes/kind.ts'
import { followText } from '../../discussions/references/follow-text.ts'
import { afterNote } from './after-note.ts'
import { readRequestCommands } from './change/quick-actions.ts'
import { placeNote } from './diff/diff-position.ts'
import { assertOwnCommit } from './diff/own-commit.ts'
import { getMergeRequest, noteableOf } from './find.ts'
import { params, path } from './path.ts'

/** Merge requests as something that notes hang on. */
export const noteKind: NoteKind = {
  path,
  params,
  tag: 'notes',
  ability: 'read_merge_requests',
  resolvable: true,
  jobToken: true,
  async find(ctx, project, given) {
    const row = await getMergeRequest(ctx, project, Number(given.merge_request_iid))
    return noteableOf(ctx, project, row)
  },
  place: placeNote,
  assertCommit: assertOwnCommit,
  afterNote,
  afterEdit: (ctx, noteable, row) => followText(ctx, noteable, row.body, row),
  afterSaved: (ctx, noteable, row) =>
    runEffects(ctx, ctx.effects.reviewNoteSaved, { noteable, row }),
  readCommands: readRequestCommands,
}
