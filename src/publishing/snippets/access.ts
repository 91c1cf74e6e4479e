import { isAdmin, userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { type Conditions, mayInInstance, mayInProject, maySee } from '../../access/decide.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { instanceRecord, projectRecord } from '../../access/records.ts'
import type { Visibility } from '../../access/roles.ts'
import {
  type Access,
  anyone,
  onInstance,
  type Project,
  signedIn,
  withProjectRole,
} from '../../access/subjects.ts'
import { forbidden, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { findSnippetRow, type SnippetRow } from './queries.ts'

/** A snippet that the caller may see, with its project where it has one. */
export interface Snippet {
  readonly row: SnippetRow
  readonly project: Project | null
}

/** What signed-in callers do for themselves, outside of projects: external users may less. */
export const onCaller = instanceRecord(
  {
    params: {},
    find: async () => ({}),
    conditions: ({ ctx }) => ({
      external: userOf(ctx.actor)?.external === true && !isAdmin(ctx.actor),
    }),
  },
  signedIn,
)

/** The snippet of `:snippet_id` that belongs to the project, if the caller may see it. */
export const onProjectSnippet = projectRecord('read_snippets', {
  params: { snippet_id: id() },
  find: async ({ ctx, project, params }) => ({
    snippet: await getSnippet(ctx, params.snippet_id, project),
  }),
  conditions: ({ ctx, snippet }) => snippetConditions(ctx, snippet),
})

/** The snippet of `:id`, of a project or of nobody but its author, if the caller may see it. */
export function onSnippet(
  ability: keyof typeof callers = 'read_snippet',
): Access<{ readonly snippet: Snippet }, 'id'> {
  const params = { id: id() }
  return {
    ...callers[ability](),
    needs: ability,
    params,
    async find({ ctx, read }) {
      const snippet = await getSnippet(ctx, read(params).id)
      if (ability === 'edit_snippet' && !mayEditSnippet(ctx, snippet)) throw forbidden()
      return { snippet }
    },
  }
}

/** Who is looked at before the snippet is. */
const callers = { read_snippet: anyone, edit_snippet: signedIn, admin_instance: () => onInstance() }

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

/** The stricter of who sees the project's snippets and of the snippet's own visibility (docs/contract/D §1.30, §2.2). */
function maySeeSnippet(ctx: Ctx, row: SnippetRow, project: Project | null): boolean {
  const { actor } = ctx
  if (project && !mayInProject(actor, project, 'read_snippets')) return false
  if (isAdmin(actor) || (project && project.role > 0)) return true
  // A job works for its project: what its user wrote elsewhere is none of its business.
  const user = actor.kind === 'job' ? null : userOf(actor)
  if (user?.id === row.author_id) return true
  if (row.visibility === 'public') return true
  return row.visibility === 'internal' && user !== null && !user.external
}

function snippetConditions(ctx: Ctx, { row }: Snippet): Conditions {
  return { author: row.author_id !== null && row.author_id === userOf(ctx.actor)?.id }
}

/** Authors change their own, in a project as long as they may write any there; so do maintainers and administrators. */
export function mayEditSnippet(ctx: Ctx, snippet: Snippet): boolean {
  const { project } = snippet
  const conditions = snippetConditions(ctx, snippet)
  return project
    ? mayInProject(ctx.actor, project, 'edit_snippet', conditions)
    : mayInInstance(ctx.actor, 'edit_snippet', conditions)
}

interface Facts {
  readonly ctx: Ctx
  readonly body: { readonly visibility?: Visibility | undefined }
}

function restriction(ctx: Ctx, visibility: Visibility | undefined) {
  const restricted = ctx.settings.get('restricted_visibility_levels')
  if (visibility === undefined || isAdmin(ctx.actor) || !restricted.includes(visibility))
    return true
  return invalid({ visibility_level: [`${visibility} has been restricted by your administrator`] })
}

/** What the instance restricts is for administrators alone. */
export const setsVisibility: Condition<Facts> = condition(
  'visibility: none that is restricted',
  ({ ctx, body }) => restriction(ctx, body.visibility),
)

/** The same where a visibility that is not sent is the instance's default. */
export const setsVisibilityOrDefault: Condition<Facts> = condition(
  'visibility: none that is restricted',
  ({ ctx, body }) =>
    restriction(ctx, body.visibility ?? ctx.settings.get('default_snippet_visibility')),
)
