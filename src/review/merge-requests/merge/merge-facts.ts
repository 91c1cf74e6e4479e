import type { Ctx } from '../../../ctx.ts'
import { readLog } from '../../../git/history/log.ts'
import type { ObjectId } from '../../../git/types.ts'
import type { Signer } from '../../../git/write/signer.ts'
import { listApproverAddresses } from '../../approval-rules/queries.ts'
import { closingReferences } from '../links/closing-issues.ts'
import { findCommitter, listReviewers } from '../people/queries.ts'
import { mergeRequestUrl } from '../present.ts'
import type { MergeRequestRow } from '../row.ts'
import type { MessageFacts, MessagePerson } from './merge-message.ts'

const mostCommits = 1000

/** The name and address that a user's commits carry; undefined when the user is gone. */
export async function committerOf(
  ctx: Ctx,
  userId: number | null,
): Promise<MessagePerson | undefined> {
  const user = userId === null ? undefined : await findCommitter(ctx.db, userId)
  return user && personOf(user)
}

function personOf(user: {
  readonly name: string
  readonly email: string
  readonly commit_email: string | null
}): MessagePerson {
  return { name: user.name, email: user.commit_email ?? user.email }
}

export function signerOf(ctx: Ctx, person: MessagePerson): Signer {
  return { name: person.name, email: person.email, date: ctx.now() }
}

/** Everything that commit templates may ask of a merge; without its commits where no template asks for them. */
export async function messageFacts(
  ctx: Ctx,
  row: MergeRequestRow,
  heads: { readonly source: ObjectId; readonly target: ObjectId },
  mergedBy: MessagePerson,
  needsCommits = true,
): Promise<MessageFacts> {
  const repo = ctx.git.open(row.target_project_id)
  const revision = `${heads.target}..${heads.source}`
  const [{ commits }, closes, author, approvers, reviewedBy] = await Promise.all([
    needsCommits ? readLog(repo, { revision, limit: mostCommits }) : { commits: [] },
    closingReferences(ctx, row),
    committerOf(ctx, row.author_id),
    listApproverAddresses(ctx.db, row.id),
    reviewersOf(ctx, row.id),
  ])
  return {
    sourceBranch: row.source_branch,
    targetBranch: row.target_branch,
    sourceProjectId: row.source_project_id,
    title: row.title,
    description: row.description ?? '',
    closes,
    reference: `${row.target_path}!${row.iid}`,
    localReference: `!${row.iid}`,
    url: mergeRequestUrl(ctx, row),
    commits,
    author: author ?? null,
    mergedBy,
    approvedBy: approvers.map(personOf),
    reviewedBy,
  }
}

async function reviewersOf(ctx: Ctx, id: number): Promise<MessagePerson[]> {
  const people: MessagePerson[] = []
  for (const { id: userId, review_state } of await listReviewers(ctx.db, [id])) {
    const person = review_state === 'unreviewed' ? undefined : await committerOf(ctx, userId)
    if (person) people.push(person)
  }
  return people
}
