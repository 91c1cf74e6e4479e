import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readLog } from '../../git/history/log.ts'
import { listTags } from '../../git/refs/tags.ts'
import type { HookPayload } from './fire.ts'
import type { HookEvent } from './hook-events.ts'
import { newestAlertPayload } from './payloads/alert-hook.ts'
import { newestDeploymentPayload } from './payloads/deployment-hook.ts'
import { newestTokenPayload } from './payloads/expiring-tokens.ts'
import { newestFlagPayload } from './payloads/feature-flag-hook.ts'
import { newestIssuePayload } from './payloads/issue-hook.ts'
import { newestRequestPayload } from './payloads/merge-request-hook.ts'
import { newestMilestonePayload } from './payloads/milestone-hook.ts'
import { newestNotePayload } from './payloads/note-hook.ts'
import { newestJobPayload, newestPipelinePayload } from './payloads/pipeline-hooks.ts'
import { pushPayload } from './payloads/push-hooks.ts'
import { newestReactionPayload } from './payloads/reaction-hook.ts'
import { newestReleasePayload } from './payloads/release-hook.ts'
import { exampleWikiPayload } from './payloads/wiki-hook.ts'

type Example = (ctx: Ctx, project: Project) => Promise<HookPayload | undefined>

/** How an example of an event is made of what a project holds; undefined when it holds nothing of the kind. */
export const examples: Readonly<Partial<Record<HookEvent, Example>>> = {
  push: pushExample,
  tag_push: tagExample,
  issue: (ctx, project) => newestIssuePayload(ctx, project, false),
  confidential_issue: (ctx, project) => newestIssuePayload(ctx, project, true),
  note: (ctx, project) => newestNotePayload(ctx, project, false),
  confidential_note: (ctx, project) => newestNotePayload(ctx, project, true),
  merge_request: newestRequestPayload,
  release: newestReleasePayload,
  milestone: newestMilestonePayload,
  wiki_page: exampleWikiPayload,
  deployment: newestDeploymentPayload,
  feature_flag: newestFlagPayload,
  pipeline: newestPipelinePayload,
  job: newestJobPayload,
  emoji: newestReactionPayload,
  access_token: newestTokenPayload,
  alert: newestAlertPayload,
}

/** The newest commits of the default branch, as if they had been pushed just now. */
async function pushExample(ctx: Ctx, project: Project): Promise<HookPayload | undefined> {
  const name = project.default_branch
  if (name === null || project.empty_repo === 1) return undefined
  const ref = `refs/heads/${name}`
  const { commits } = await readLog(ctx.git.open(project.id), { revision: ref, limit: 3 }).catch(
    (error: unknown) => {
      if (error instanceof GitError) return { commits: [] }
      throw error
    },
  )
  const [newest] = commits
  if (!newest) return undefined
  const oldId = commits.at(-1)?.parentIds[0] ?? newest.id
  const news = { ref, kind: 'branch', name, action: 'pushed', oldId, newId: newest.id } as const
  return await pushPayload(ctx, project, { ...news, commits, total: commits.length }, [])
}

async function tagExample(ctx: Ctx, project: Project): Promise<HookPayload | undefined> {
  const repo = ctx.git.open(project.id)
  const { items: tags } = await listTags(repo, { limit: 1 })
  const [tag] = tags
  if (!tag) return undefined
  const ref = `refs/tags/${tag.name}`
  const { commits } = await readLog(repo, { revision: tag.id, limit: 1 })
  const news = { ref, kind: 'tag', name: tag.name, action: 'created', newId: tag.id } as const
  return await pushPayload(ctx, project, { ...news, oldId: '', commits, total: commits.length }, [])
}
