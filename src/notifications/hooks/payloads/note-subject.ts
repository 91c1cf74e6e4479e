import { visibilityRank } from '../../../access/roles.ts'
import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { NoteRow } from '../../../discussions/notes/entity.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import { findAlertById } from '../../../monitoring/alerts/queries.ts'
import { readIssueState } from '../../../planning/issues/issue-state.ts'
import { findIssueById } from '../../../planning/issues/queries.ts'
import { filesOf, snippetUrl } from '../../../publishing/snippets/entity.ts'
import { findSnippetRow } from '../../../publishing/snippets/queries.ts'
import { findById } from '../../../review/merge-requests/queries.ts'
import type { HookPayload } from '../fire.ts'
import { alertAttributes } from './alert-hook.ts'
import { issueAttributes } from './issue-hook.ts'
import { requestAttributes } from './merge-request-hook.ts'
import { plainCommit } from './push-hooks.ts'

/** What a comment or a reaction is on, by its columns. */
export type SubjectRef = Pick<NoteRow, 'noteable_type' | 'noteable_id' | 'commit_id'>

/** The key of a payload, and what stands there. */
export interface HookSubject {
  readonly key: 'issue' | 'merge_request' | 'snippet' | 'commit' | 'alert'
  readonly shown: HookPayload & { readonly url: string }
}

/** The thing that was commented on, as its payloads show it; undefined when it is gone. Reads git. */
export async function readHookSubject(
  ctx: Ctx,
  project: Project,
  ref: SubjectRef,
): Promise<HookSubject | undefined> {
  const id = ref.noteable_id ?? 0
  switch (ref.noteable_type) {
    case 'Issue': {
      const row = await findIssueById(ctx.db, id)
      const state = row && (await readIssueState(ctx, row))
      return state && { key: 'issue', shown: issueAttributes(ctx, state) }
    }
    case 'MergeRequest': {
      const row = await findById(ctx.db, id)
      const shown = row && (await requestAttributes(ctx, row, project))
      return shown && { key: 'merge_request', shown }
    }
    case 'Snippet':
      return await snippetSubject(ctx, project, id)
    case 'Alert': {
      const row = await findAlertById(ctx.db, id)
      return row && { key: 'alert', shown: alertAttributes(ctx, project, row) }
    }
    default: {
      const [commit] = await readCommits(ctx.git.open(project.id), [ref.commit_id ?? ''])
      return commit && { key: 'commit', shown: plainCommit(ctx, project, commit) }
    }
  }
}

async function snippetSubject(
  ctx: Ctx,
  project: Project,
  id: number,
): Promise<HookSubject | undefined> {
  const row = await findSnippetRow(ctx.db, id)
  if (!row) return undefined
  const { title, description, author_id, project_id, visibility, created_at, updated_at } = row
  return {
    key: 'snippet',
    shown: {
      ...{
        id,
        title,
        description,
        author_id,
        project_id,
        created_at,
        updated_at,
      },
      file_name: filesOf(row)[0] ?? '',
      type: 'ProjectSnippet',
      visibility_level: visibilityRank[visibility],
      url: snippetUrl(ctx, { id, project_path: project.full_path }),
    },
  }
}
