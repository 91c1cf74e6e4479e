import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { invalidText, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import {
  outdatedText,
  placeOf,
  rangeOf,
  reasonAgainst,
  takenText,
} from '../../discussions/notes/suggestion-entity.ts'
import {
  listSuggestionsById,
  type SuggestionRow,
} from '../../discussions/notes/suggestion-queries.ts'
import { closeThreads } from '../../discussions/notes/verbs.ts'
import type { ObjectId } from '../../git/types.ts'
import { type CommitAction, writeCommit } from '../../git/write/write-commit.ts'
import { moveRefs } from '../../repositories/refs/move-refs.ts'
import { onBranch } from '../../repositories/repository/branch-queue.ts'
import { inTransaction } from '../../store/transaction.ts'
import { branchHead } from '../merge-requests/branch-heads.ts'
import { targetSetting } from '../merge-requests/facts.ts'
import { committerOf, signerOf } from '../merge-requests/merge/merge-facts.ts'
import type { MergeRequestRow } from '../merge-requests/row.ts'
import { getSuggestedBranch, type SuggestedBranch } from './access.ts'
import { changeLines, cutLines, overlap } from './lines.ts'
import { suggestionMessage } from './message.ts'
import { markApplied } from './queries.ts'
import { readBytes } from './save-suggestions.ts'

/**
 * Takes suggestions over as one commit on the source branch (docs/contract/D §1.11): 404 for those that the caller can't see, 403
 * without the right to push there, 400 with the reason when one does not fit any more.
 */
export async function applySuggestions(
  ctx: Ctx,
  ids: readonly number[],
  message: string | undefined,
): Promise<SuggestionRow[]> {
  const wanted = [...new Set(ids)]
  const rows = wanted.length === 0 ? [] : await listSuggestionsById(ctx.db, wanted)
  const [first] = rows
  if (!first || rows.length !== wanted.length) throw notFound('Suggestion')
  const branch = await getSuggestedBranch(ctx, first)
  if (rows.some((row) => row.merge_request_id !== first.merge_request_id)) {
    throw invalidText('Suggestions must all be on the same branch.')
  }
  for (const row of rows) {
    const reason = reasonAgainst(row)
    if (reason !== undefined) throw invalidText(reason)
  }
  await onBranch(branch.source, branch.row.source_branch, async () => {
    // Lines that were only added to read as before: the same suggestion would fit again.
    const now = await listSuggestionsById(ctx.db, wanted)
    if (now.some((row) => row.commit_id !== null)) throw invalidText(takenText)
    const commitId = await commitOnce(ctx, branch, rows, message)
    await inTransaction(ctx, async (ctx) => {
      await markApplied(ctx.db, wanted, commitId, ctx.now())
      const threads = [...new Set(rows.map((row) => row.discussion_id))]
      await closeThreads(ctx, threads)
    })
  })
  return await listSuggestionsById(ctx.db, wanted)
}

async function commitOnce(
  ctx: Ctx,
  { row, source }: SuggestedBranch,
  rows: readonly SuggestionRow[],
  message: string | undefined,
): Promise<ObjectId> {
  const head = await branchHead(ctx, source.id, row.source_branch)
  if (head === undefined) throw invalidText("Can't apply as the source branch was deleted.")
  const actions = await actionsOf(ctx, source.id, head, rows)
  const paths = actions.map((action) => action.path)
  const { author, committer, text } = await wordsOf(ctx, { row, source, rows, paths, message })
  const repo = ctx.git.open(source.id)
  const written = await writeCommit(repo, {
    parentIds: [head],
    actions,
    author,
    committer,
    message: text,
  })
  const move = { name: `refs/heads/${row.source_branch}`, oldId: head, newId: written.id }
  await moveRefs(ctx, source, { via: 'api', moves: [move] })
  return written.id
}

/** What becomes of each file, when its lines still read as they did. */
async function actionsOf(
  ctx: Ctx,
  projectId: number,
  head: ObjectId,
  rows: readonly SuggestionRow[],
): Promise<CommitAction[]> {
  const paths = new Set(rows.map((row) => placeOf(row).new_path))
  const actions: CommitAction[] = []
  for (const path of paths) {
    const own = rows.filter((row) => placeOf(row).new_path === path)
    // Each byte as a character: what is no UTF-8 stays as it is.
    const text = (await readBytes(ctx, projectId, head, path))?.toString('latin1')
    if (text === undefined) throw invalidText('A file was not found.')
    const changes = own.map((row) => {
      return { ...rangeOf(row), content: Buffer.from(row.to_content).toString('latin1') }
    })
    if (overlap(changes)) {
      throw invalidText('Suggestions are not applicable as their lines cannot overlap.')
    }
    for (const row of own) {
      const { from, to } = rangeOf(row)
      const lines = Buffer.from(cutLines(text, from, to), 'latin1').toString('utf8')
      if (lines !== row.from_content) throw invalidText(outdatedText(row))
    }
    actions.push({
      kind: 'update',
      path,
      content: Buffer.from(changeLines(text, changes), 'latin1'),
    })
  }
  return actions
}

/** Who the commit is by, and what it says: its author wrote the suggestions, its committer applies them. */
async function wordsOf(
  ctx: Ctx,
  at: {
    readonly row: MergeRequestRow
    readonly source: Project
    readonly rows: readonly SuggestionRow[]
    readonly paths: readonly string[]
    readonly message: string | undefined
  },
) {
  const user = userOf(ctx.actor)
  const caller = user && (await committerOf(ctx, user.id))
  if (!user || !caller) throw unauthorized()
  const ids = [...new Set(at.rows.map((row) => row.author_id))]
  const others = ids.filter((id) => id !== user.id)
  const people = await Promise.all(others.map((id) => committerOf(ctx, id)))
  const authors = people.filter((person) => person !== undefined)
  const only = ids.length === 1 ? (authors[0] ?? caller) : caller
  const given = at.message?.trim() ? at.message : null
  const template = given ?? targetSetting(at.row, 'suggestion_commit_message')
  const text = suggestionMessage(template, {
    branchName: at.row.source_branch,
    filePaths: at.paths,
    projectName: at.source.name,
    projectPath: at.source.path,
    userFullName: user.name,
    username: user.username,
    count: at.rows.length,
    authors,
  })
  return { author: signerOf(ctx, only), committer: signerOf(ctx, caller), text }
}
