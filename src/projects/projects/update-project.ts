import { type Visibility, visibilityRank } from '../../access/roles.ts'
import { getVisibleProject, type Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { projectNameFaults, projectPathFaults } from '../../base/path-rules.ts'
import { invalid, refuseFaults } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isBranchName } from '../../git/names.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Avatar } from '../../identity/users/avatar/sent-avatar.ts'
import { inTransaction } from '../../store/transaction.ts'
import { sharedRunnersOf } from '../namespaces/shared-runners.ts'
import {
  descriptionFaults,
  type NewProject,
  runnersFaults,
  visibilityFaults,
  whileFree,
} from './create/create-project.ts'
import { findNamespaceSettings } from './create/queries.ts'
import { pointHead } from './pushed.ts'
import { findParentVisibility, type ProjectChange, updateProjectRow } from './queries.ts'
import { auditProject } from './record.ts'
import { changedSettings } from './settings.ts'
import { pointHeadTask } from './tasks.ts'
import { saveTopics } from './topics/queries.ts'
import { topicFaults } from './topics/sent-topics.ts'

/** What an update changes; absent parts stay as they are. */
interface ProjectUpdate
  extends Pick<
    NewProject,
    'name' | 'path' | 'description' | 'visibility' | 'defaultBranch' | 'topics' | 'settings'
  > {
  /** Null removes it. */
  readonly avatar?: Avatar | null | undefined
}

/** Changes a project. A new path leaves a redirect at the old one, by a trigger of the table. */
export async function updateProject(
  ctx: Ctx,
  project: Project,
  update: ProjectUpdate,
): Promise<void> {
  const branch = await checkedBranch(ctx, project, update.defaultBranch)
  await inTransaction(ctx, async (ctx) => {
    // Read inside: two updates at once lose nothing of each other, and the path follows where the project is now.
    const current = await getVisibleProject(ctx, String(project.id))
    await assertValid(ctx, current, update)
    await saveUpdate(ctx, current, update, branch)
    if (update.topics) await saveTopics(ctx.db, project.id, update.topics, ctx.now())
    if (branch === undefined) return
    const payload = { project_id: project.id }
    await ctx.work.enqueue(ctx.db, pointHeadTask, payload, { uniqueKey: String(project.id) })
  })
  // The task does it again, should we not get there.
  if (branch !== undefined) await pointHead(ctx, project.id)
}

async function saveUpdate(
  ctx: Ctx,
  project: Project,
  update: ProjectUpdate,
  branch: string | undefined,
): Promise<void> {
  const name = update.name?.trim() ?? project.name
  const path = update.path ?? project.path
  const fullPath = `${project.namespace_full_path}/${path}`
  const wanted = { namespaceId: project.namespace_id, name, path, fullPath, except: project.id }
  const change: ProjectChange = {
    name,
    path,
    full_path: fullPath,
    updated_at: ctx.now(),
    description: update.description,
    visibility: update.visibility,
    default_branch: branch,
    ...avatarChange(update.avatar),
    ...(update.settings
      ? { settings: JSON.stringify(changedSettings(project.settings, update.settings)) }
      : {}),
  }
  await whileFree(ctx, wanted, () => updateProjectRow(ctx.db, project.id, change))
  await auditChanges(ctx, project, change)
  await announceChange(ctx, project, fullPath)
}

async function announceChange(ctx: Ctx, project: Project, fullPath: string): Promise<void> {
  const { id, full_path: oldPath } = project
  const renamed = fullPath !== oldPath
  await runEffects(
    ctx,
    ctx.effects.projectChanged,
    renamed ? { id, change: 'rename', oldPath } : { id, change: 'update' },
  )
}

/** What others must be able to find again: names, paths, visibility and which settings were set. */
async function auditChanges(ctx: Ctx, project: Project, change: ProjectChange): Promise<void> {
  const details: Record<string, string> = {}
  if (change.full_path !== project.full_path)
    details.path = `${project.full_path} → ${change.full_path}`
  if (change.name !== project.name) details.name = `${project.name} → ${change.name}`
  if (change.visibility !== undefined && change.visibility !== project.visibility) {
    details.visibility = `${project.visibility} → ${change.visibility}`
  }
  if (change.settings !== undefined) details.settings = change.settings
  if (Object.keys(details).length === 0) return
  await auditProject(ctx, project.id, 'project_changed', details)
}

function avatarChange(avatar: ProjectUpdate['avatar']) {
  if (avatar === undefined) return {}
  return avatar ?? { avatar_file: null, avatar_name: null }
}

async function assertValid(ctx: Ctx, project: Project, update: ProjectUpdate): Promise<void> {
  const { visibility } = update
  const changesVisibility = visibility !== undefined && visibility !== project.visibility
  refuseFaults({
    name: update.name === undefined ? [] : projectNameFaults(update.name.trim()),
    path: update.path === undefined ? [] : projectPathFaults(update.path),
    description: descriptionFaults(update.description),
    visibility_level: changesVisibility ? await newVisibilityFaults(ctx, project, visibility) : [],
    topics: topicFaults(update.topics ?? []),
    shared_runners_enabled: await sharedRunnersFaults(ctx, project, update.settings),
  })
}

async function sharedRunnersFaults(
  ctx: Ctx,
  project: Project,
  sent: ProjectUpdate['settings'],
): Promise<string[]> {
  if (sent?.shared_runners_enabled === undefined) return []
  const settings = await findNamespaceSettings(ctx.db, project.namespace_id)
  return runnersFaults(sent, sharedRunnersOf(JSON.parse(settings)))
}

async function newVisibilityFaults(
  ctx: Ctx,
  project: Project,
  visibility: Visibility,
): Promise<string[]> {
  const namespace = { kind: project.namespace_kind, visibility: project.namespace_visibility }
  const faults = visibilityFaults(ctx, visibility, namespace)
  const parent = await findParentVisibility(ctx.db, project.id)
  if (parent && visibilityRank[visibility] > visibilityRank[parent]) {
    faults.push(`${visibility} is not allowed since the fork source project has lower visibility.`)
  }
  return faults
}

/** In an empty project any name will do; elsewhere the branch must be there (docs/contract/D §1.2 Rules). */
async function checkedBranch(
  ctx: Ctx,
  project: Project,
  branch: string | undefined,
): Promise<string | undefined> {
  if (branch === undefined || branch === '' || branch === project.default_branch) return undefined
  const repo = ctx.git.open(project.id)
  const fits =
    isBranchName(branch) &&
    (project.empty_repo === 1 || (await findRef(repo, `refs/heads/${branch}`)) !== undefined)
  if (fits) return branch
  const text = `Could not set the default branch. Do you have a branch named '${branch}' in your repository?`
  throw invalid({ base: [text] })
}
