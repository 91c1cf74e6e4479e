import type { Visibility } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import { later } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import { badParameters, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import type { CommitAction } from '../../git/write/write-commit.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { passOver } from '../../projects/unknown-repositories/pass-over.ts'
import { commitEdit } from '../../repositories/commits/commit-edit.ts'
import { makeRepository } from '../../repositories/wikis-and-snippets/repository.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { Snippet } from './access.ts'
import { filesOf } from './entity.ts'
import { deleteSnippetRow, insertSnippet, updateSnippetRow } from './queries.ts'
import { discardSnippet, removeSnippetTask } from './remove.ts'
import { getSnippetRepository, snippetCheck } from './repository.ts'

/** After this long a snippet that never came to be shown is cleared away. */
const ABANDONED_AFTER_MS = 5 * 60_000
/** All ids that are taken are passed over together; only somebody who copies repositories in meanwhile makes more. */
const MOST_ATTEMPTS = 10

export interface NewSnippet {
  readonly title: string
  readonly description: string | null
  readonly visibility: Visibility
  readonly actions: readonly CommitAction[]
  readonly userAgent: string | null
}

/**
 * Makes a snippet with its repository: the hidden row beside a task that clears it away, the repository with its first
 * commit, then the row is shown. A crash in between leaves nothing that anybody sees.
 */
export async function createSnippet(
  ctx: Ctx,
  project: Project | null,
  input: NewSnippet,
): Promise<number> {
  assertTitle(input)
  const { id, repository } = await insertWithRepository(ctx, project, input)
  try {
    const target = { ...repository, refusal: undefined, check: snippetCheck(ctx, repository) }
    await commitEdit(ctx, target, async () => ({
      message: 'Create snippet',
      actions: input.actions,
    }))
    await show(ctx, project, { id, title: input.title })
    return id
  } catch (error) {
    await discardSnippet(ctx, id)
    throw error
  }
}

/** A hidden row and its new repository. An id whose place is taken on the disk is passed over. */
async function insertWithRepository(ctx: Ctx, project: Project | null, input: NewSnippet) {
  const branch = ctx.settings.get('default_branch_name') || 'main'
  for (let attempt = 1; ; attempt += 1) {
    const id = await insertHidden(ctx, project, input)
    const name = { kind: 'snippet', id } as const
    try {
      return { id, repository: await makeRepository(ctx, name, branch) }
    } catch (error) {
      // What lies in its place is not its own.
      await deleteSnippetRow(ctx.db, id)
      const isTaken = error instanceof GitError && error.code === 'exists'
      if (!isTaken || attempt === MOST_ATTEMPTS) throw error
      await passOver(ctx, name)
    }
  }
}

async function insertHidden(ctx: Ctx, project: Project | null, input: NewSnippet): Promise<number> {
  const now = ctx.now()
  return await inTransaction(ctx, async (ctx) => {
    const id = await insertSnippet(ctx.db, {
      project_id: project?.id ?? null,
      author_id: callerId(ctx),
      title: input.title,
      description: input.description,
      visibility: input.visibility,
      user_agent: input.userAgent,
      ip_address: ctx.ip,
      pending_delete: 1,
      created_at: now,
      updated_at: now,
    })
    const runAt = later(now, ABANDONED_AFTER_MS)
    await ctx.work.enqueue(ctx.db, removeSnippetTask, { snippet_id: id }, { runAt })
    return id
  })
}

async function show(
  ctx: Ctx,
  project: Project | null,
  { id, title }: { readonly id: number; readonly title: string },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await updateSnippetRow(ctx.db, id, { pending_delete: 0 })
    await runEffects(ctx, ctx.effects.activity, {
      projectId: project?.id ?? null,
      action: 'created',
      targetType: 'Snippet',
      targetId: id,
      targetTitle: title,
    })
  })
}

export interface SnippetChange {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
}

/** Changes the files of a snippet, all or none, then what is said about it. */
export async function changeSnippet(
  ctx: Ctx,
  snippet: Snippet,
  change: SnippetChange,
  actions: (paths: readonly string[]) => readonly CommitAction[],
): Promise<void> {
  assertTitle(change)
  const steps = actions(filesOf(snippet.row))
  if (steps.length > 0) {
    const target = await getSnippetRepository(ctx, snippet)
    await commitEdit(ctx, target, async () => ({ message: 'Update snippet', actions: steps }))
  }
  if (Object.values(change).every((value) => value === undefined)) return
  const { title, description, visibility } = change
  const updated_at = ctx.now()
  await updateSnippetRow(ctx.db, snippet.row.id, { title, description, visibility, updated_at })
}

function assertTitle(given: SnippetChange): void {
  if (given.title !== undefined && given.title.trim() === '') throw badParameters('title is empty')
  if ((given.title ?? '').length > 255) {
    throw invalid({ title: ['is too long (maximum is 255 characters)'] })
  }
}
