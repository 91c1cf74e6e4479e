import { may } from '../../../http/call/call.ts'
import { createRepositoryCommit } from '../../../repositories/commits/write-endpoints.ts'
import type { PageCtx } from '../../page-ctx.ts'
import { type ShownThread, showThreads } from '../threads-data.ts'
import type { ChangedFile, ChangeSet, Draft, FileDiff } from './change-set.ts'
import { type ShownDraft, showDraft } from './drafts.tsx'
import { isIn, positionOf } from './lines.ts'

type Position = NonNullable<Draft['position']>

/** What is said about one file. */
export interface FileTalk {
  readonly threads: readonly { readonly shown: ShownThread; readonly position: Position }[]
  readonly drafts: readonly { readonly shown: ShownDraft; readonly position: Position }[]
  readonly mayApply: boolean
}

/** Whether suggestions may be taken over: whoever may commit to the source branch. */
export async function mayApplySuggestions(
  ctx: PageCtx,
  { request }: Pick<ChangeSet, 'request'>,
): Promise<boolean> {
  const id = request.source_project_id
  if (id === null || request.state !== 'opened') return false
  return await may(createRepositoryCommit, ctx, {
    path: { id },
    body: { branch: request.source_branch },
  })
}

/** What is said about a file, rendered. */
export async function readTalk(
  ctx: PageCtx,
  set: ChangeSet,
  file: ChangedFile,
  diff: FileDiff | undefined,
): Promise<FileTalk> {
  const { project, request } = set
  const path = { id: project.id, merge_request_iid: request.iid }
  const raw = set.threads.filter((thread) => {
    const position = positionOf(thread)
    return position !== undefined && isIn(position, file)
  })
  const own = set.drafts.filter(({ position }) => position !== null && isIn(position, file))
  const [shown, drafts, mayApply] = await Promise.all([
    showThreads(ctx, project, path, raw),
    Promise.all(own.map((draft) => showDraft(ctx, project, draft, diff))),
    raw.length > 0 && mayApplySuggestions(ctx, set),
  ])
  return {
    threads: shown.flatMap((one) => {
      const position = positionOf(one)
      return position ? [{ shown: one, position }] : []
    }),
    drafts: drafts.flatMap((one) => (one.position ? [{ shown: one, position: one.position }] : [])),
    mayApply,
  }
}
