import { viewerOf } from '../access/visible-queries.ts'
import type { Ctx } from '../ctx.ts'
import { findReferences, qualifyReferences } from './find-references.ts'
import { listSeenIssuesAt, listSeenMergeRequestsAt } from './queries.ts'
import { changeOutsideCode } from './without-code.ts'

const upload = /(?<=[(\s"]|^)\/uploads\/[0-9a-f]{32}\//g

/**
 * A text of one project as it has to stand in another: the issues and merge requests of its own that it mentions have
 * the project's path before them, and its uploads their address.
 */
export async function carryText<Text extends string | null>(
  ctx: Ctx,
  text: Text,
  from: { readonly id: number; readonly full_path: string },
): Promise<Text | string> {
  if (text === null) return text
  const viewer = viewerOf(ctx)
  const iids = (kind: 'issue' | 'merge_request') =>
    findReferences(text).flatMap((one) =>
      one.kind === kind && one.project === null ? [one.iid] : [],
    )
  const path = from.full_path
  const known = new Set([
    ...(await listSeenIssuesAt(ctx.db, viewer, path, iids('issue'))).map(({ iid }) => `#${iid}`),
    ...(await listSeenMergeRequestsAt(ctx.db, viewer, path, iids('merge_request'))).map(
      ({ iid }) => `!${iid}`,
    ),
  ])
  const uploads = `${ctx.config.externalUrl}/-/project/${from.id}`
  return changeOutsideCode(text, (plain) =>
    qualifyReferences(plain, path, known).replaceAll(upload, (found) => uploads + found),
  )
}
