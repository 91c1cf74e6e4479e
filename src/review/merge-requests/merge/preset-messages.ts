import { userOf } from '../../../access/actor.ts'
import { unauthorized } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { ObjectId } from '../../../git/types.ts'
import { branchHead } from '../branch-heads.ts'
import { targetSetting } from '../facts.ts'
import type { MergeRequestRow } from '../row.ts'
import { committerOf, messageFacts } from './merge-facts.ts'
import {
  defaultMergeTemplate,
  defaultSquashTemplate,
  type MessagePerson,
  needsCommits,
  renderMessage,
} from './merge-message.ts'
import { cannotBeMerged } from './merge-objects.ts'

/** What the commits of a merge say where whoever merges says nothing else: as the project's templates make it. */
export interface PresetMessages {
  readonly merge: string
  readonly squash: string
  /** Whose work a squash commit is; null when they are gone. */
  readonly author: MessagePerson | null
}

/** The messages of a merge by somebody, for the commits between two heads. */
export async function presetMessages(
  ctx: Ctx,
  row: MergeRequestRow,
  heads: { readonly source: ObjectId; readonly target: ObjectId },
  merger: MessagePerson,
): Promise<PresetMessages> {
  const merge = targetSetting(row, 'merge_commit_template') || defaultMergeTemplate
  const squash = targetSetting(row, 'squash_commit_template') || defaultSquashTemplate
  const facts = await messageFacts(ctx, row, heads, merger, needsCommits(merge + squash))
  return {
    merge: renderMessage(merge, facts),
    squash: renderMessage(squash, facts),
    author: facts.author,
  }
}

/** The messages of a merge by the caller now, and which of them the project's way of merging has a use for. */
export async function messagesOfCaller(ctx: Ctx, row: MergeRequestRow) {
  const merger = await committerOf(ctx, userOf(ctx.actor)?.id ?? null)
  if (!merger) throw unauthorized()
  const source = row.head_sha
  const target = await branchHead(ctx, row.target_project_id, row.target_branch)
  if (source === null || target === undefined) throw cannotBeMerged()
  return {
    ...(await presetMessages(ctx, row, { source, target }, merger)),
    method: targetSetting(row, 'merge_method'),
    squashes: targetSetting(row, 'squash_option'),
  }
}
