import { mayInProject } from '../../access/decide.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable } from './noteable.ts'
import type { NoteFilter } from './queries.ts'

/** Which notes of a thing the caller may see: internal ones, and mentions in places that they know. */
export function seenBy(ctx: Ctx, noteable: Noteable): NoteFilter {
  return {
    internal: mayInProject(ctx.actor, noteable.project, 'read_internal_notes'),
    viewer: viewerOf(ctx),
  }
}
