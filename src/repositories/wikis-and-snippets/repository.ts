import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import type { WikiOrSnippetName } from '../../git/repo-name.ts'
import {
  deleteRow,
  findRow,
  insertRow,
  listGroupIds,
  listSnippetIds,
  saveFirstBranch,
  type WikiOrSnippetRow,
} from './queries.ts'

/**
 * The repository of a wiki, made now if there is none. Its files come before its row: what a crash leaves in between is
 * taken up by the next one who needs it.
 */
export async function ensureRepository(
  ctx: Ctx,
  name: WikiOrSnippetName,
): Promise<WikiOrSnippetRow> {
  const known = await findRow(ctx.db, name)
  if (known) return known
  const made = await initRepository(ctx, name, null).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof GitError) || error.code !== 'exists') throw error
      return false
    },
  )
  return await addRow(ctx, name, { defaultBranch: null, made })
}

/** The repository of a new snippet, whose one branch is known; `exists` when there is one of its id. */
export async function makeRepository(
  ctx: Ctx,
  name: WikiOrSnippetName,
  defaultBranch: string,
): Promise<WikiOrSnippetRow> {
  await initRepository(ctx, name, defaultBranch)
  return await addRow(ctx, name, { defaultBranch, made: true })
}

async function initRepository(ctx: Ctx, name: WikiOrSnippetName, branch: string | null) {
  const head = branch ?? (ctx.settings.get('default_branch_name') || 'main')
  await ctx.git.init(name, { defaultBranch: head })
}

async function addRow(
  ctx: Ctx,
  name: WikiOrSnippetName,
  { defaultBranch, made }: { readonly defaultBranch: string | null; readonly made: boolean },
): Promise<WikiOrSnippetRow> {
  try {
    await insertRow(ctx.db, name, defaultBranch, ctx.now())
  } catch (error) {
    // Whatever it was to belong to went meanwhile.
    if (made) await ctx.git.remove(name)
    throw error
  }
  const row = await findRow(ctx.db, name)
  if (!row) throw new GitError('not_found', 'the repository was removed')
  return row
}

/** Decides the one branch, unless it is decided; gives what it is. In the transaction that records the push. */
export function claimBranch(
  ctx: Pick<Ctx, 'db'>,
  id: number,
  branch: string,
): Promise<string | null> {
  return saveFirstBranch(ctx.db, id, branch)
}

/** Removes a repository with all that is recorded of it. */
export async function removeRepository(ctx: Ctx, name: WikiOrSnippetName): Promise<void> {
  await ctx.git.remove(name)
  await deleteRow(ctx.db, name)
}

/** Removes the files of a project's wiki and snippets; their rows go with the project's. */
export async function removeRepositoriesOfProject(
  ctx: Ctx,
  { projectId }: { readonly projectId: number },
): Promise<void> {
  await ctx.git.remove({ kind: 'project_wiki', id: projectId })
  for (const id of await listSnippetIds(ctx.db, projectId)) {
    await ctx.git.remove({ kind: 'snippet', id })
  }
}

/** Removes the files of the wikis of a group and of all groups below it. */
export async function removeRepositoriesOfGroup(
  ctx: Ctx,
  { groupId }: { readonly groupId: number },
): Promise<void> {
  for (const id of await listGroupIds(ctx.db, groupId)) {
    await ctx.git.remove({ kind: 'group_wiki', id })
  }
}
