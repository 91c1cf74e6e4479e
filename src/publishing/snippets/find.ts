import { isAdmin, userOf } from '../../access/actor.ts'
import { mayInProject, maySee } from '../../access/decide.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { forbidden, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findSnippetRow, type SnippetRow } from './queries.ts'

/** A snippet that the caller may see, with its project where it has one. */
export interface Snippet {
  readonly row: SnippetRow
  readonly project: Project | null
}

/** The snippet of a number, if the caller may see it. */
export async function findSnippet(ctx: Ctx, id: number): Promise<Snippet | undefined> {
  const row = await findSnippetRow(ctx.db, id)
  if (!row || row.pending_delete === 1) return undefined
  const project = row.project_id === null ? null : await projectOf(ctx, row.project_id)
  if (project === undefined) return undefined
  return maySeeSnippet(ctx, row, project) ? { row, project } : undefined
}

/** As `findSnippet`, or 404; with a project, only one of that project. */
export async function getSnippet(ctx: Ctx, id: number, project?: Project): Promise<Snippet> {
  const found = await findSnippet(ctx, id)
  if (!found || (project && found.row.project_id !== project.id)) throw notFound('Snippet')
  return found
}

async function projectOf(ctx: Ctx, id: number): Promise<Project | undefined> {
  const row = await findProjectById(ctx.db, id)
  const project = row && (await withProjectRole(ctx, row))
  return project && maySee(ctx.actor, project) ? project : undefined
}

/** The stricter of the project's door and the snippet's own visibility (docs/contract/D §1.30, §2.2). */
function maySeeSnippet(ctx: Ctx, row: SnippetRow, project: Project | null): boolean {
  const { actor } = ctx
  if (project && !mayInProject(actor, project, 'read_snippets')) return false
  if (isAdmin(actor) || (project && project.role > 0)) return true
  const user = userOf(actor)
  if (user?.id === row.author_id) return true
  if (row.visibility === 'public') return true
  return row.visibility === 'internal' && user !== null && !user.external
}

/** Authors change their own, in a project as long as they may write any there; so do maintainers and administrators. */
export function mayEditSnippet(ctx: Ctx, { row, project }: Snippet): boolean {
  const isAuthor = userOf(ctx.actor)?.id === row.author_id
  if (project) {
    if (mayInProject(ctx.actor, project, 'admin_snippet')) return true
    return isAuthor && mayInProject(ctx.actor, project, 'create_snippet')
  }
  return isAuthor || isAdmin(ctx.actor)
}

export function assertMayEdit(ctx: Ctx, snippet: Snippet): void {
  if (mayEditSnippet(ctx, snippet)) return
  throw ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
}
