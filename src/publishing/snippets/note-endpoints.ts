import { awardEndpoints } from '../../discussions/award-emoji/routes.ts'
import { discussionEndpoints } from '../../discussions/notes/discussion-routes.ts'
import type { NoteKind } from '../../discussions/notes/kind.ts'
import { noteEndpoints } from '../../discussions/notes/note-routes.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { recordComment } from '../../discussions/references/after-comment.ts'
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
  afterNote: (ctx, noteable, row) => recordComment(ctx, noteable, row, row.type ?? 'Note'),
}

export const snippetNotes = noteEndpoints(kind)
export const snippetDiscussions = discussionEndpoints(kind)
export const snippetAwards = awardEndpoints(kind, 'Snippet')
