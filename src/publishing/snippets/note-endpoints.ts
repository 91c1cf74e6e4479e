import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { awardEndpoints } from '../../discussions/award-emoji/routes.ts'
import { discussionEndpoints } from '../../discussions/notes/discussion-routes.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { NoteKind } from '../../discussions/notes/kind.ts'
import { noteEndpoints } from '../../discussions/notes/note-routes.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { id } from '../../http/params.ts'
import { getSnippet } from './access.ts'
import { snippetUrl } from './entity.ts'

/** Snippets of projects as something that comments and reactions hang on (docs/contract/B-resolved §11): threads are not resolved. */
const kind: NoteKind = {
  path: '/projects/:id/snippets/:snippet_id',
  params: { snippet_id: id() },
  tag: 'notes',
  ability: 'read_snippets',
  resolvable: false,
  async find(ctx, project, params): Promise<Noteable> {
    const { row } = await getSnippet(ctx, Number(params.snippet_id), project)
    return {
      type: 'Snippet',
      id: row.id,
      commitId: null,
      iid: null,
      project,
      authorId: row.author_id,
      locked: false,
      title: row.title,
      webUrl: snippetUrl(ctx, { id: row.id, project_path: project.full_path }),
    }
  },
  afterNote: recordComment,
}

async function recordComment(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  await runEffects(ctx, ctx.effects.activity, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType: row.type ?? 'Note',
    targetId: row.id,
    targetTitle: noteable.title,
    noteId: row.id,
  })
}

export const snippetNotes = noteEndpoints(kind)
export const snippetDiscussions = discussionEndpoints(kind)
export const snippetAwards = awardEndpoints(kind, 'Snippet')
