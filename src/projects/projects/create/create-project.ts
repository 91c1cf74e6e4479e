import { userOf } from '../../../access/actor.ts'
import { findProjectById, type ProjectRow } from '../../../access/find-queries.ts'
import { restrictionFaults } from '../../../access/restricted-visibility.ts'
import { Role, type Visibility, visibilityRank } from '../../../access/roles.ts'
import { later } from '../../../base/clock.ts'
import { runEffects } from '../../../base/effects.ts'
import { pathFromName, projectNameFaults, projectPathFaults } from '../../../base/path-rules.ts'
import { forbidden, invalid, type Problem, refuseFaults } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { isBranchName } from '../../../git/names.ts'
import type { Avatar } from '../../../identity/users/avatar/sent-avatar.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { brokenKey } from '../../../store/unique.ts'
import { addFirstMember } from '../../members/found-source.ts'
import type { SharedRunners } from '../../namespaces/shared-runners.ts'
import { resetRegistrationToken } from '../../registration-tokens/verbs.ts'
import { passOver } from '../../unknown-repositories/pass-over.ts'
import { refreshContent } from '../facts/measure.ts'
import { findTaken, insertProject, showProject } from '../queries.ts'
import { recordProject } from '../record.ts'
import { discardProject, discardRows } from '../removal/remove-project.ts'
import { changedSettings } from '../settings.ts'
import { removeProject } from '../tasks.ts'
import { saveTopics } from '../topics/queries.ts'
import { topicFaults } from '../topics/sent-topics.ts'
import { getTargetNamespace, type TargetNamespace } from './access.ts'
import { findGroupBranch } from './queries.ts'

/** A project to be made. Name or path must be given; the other follows from it. */
export interface NewProject {
  readonly name?: string | undefined
  readonly path?: string | undefined
  /** Id or full path; the caller's own namespace without it. */
  readonly namespace?: number | string | undefined
  readonly visibility?: Visibility | undefined
  readonly description?: string | null | undefined
  readonly defaultBranch?: string | undefined
  /** Begin with one commit that holds a README.md. */
  readonly initializeWithReadme?: boolean | undefined
  /** Begin with one commit that holds the files of this project. */
  readonly templateId?: number | undefined
  readonly objectFormat?: 'sha1' | 'sha256' | undefined
  readonly topics?: readonly string[] | undefined
  /** Deviations from the presets of settings.ts. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly avatar?: Avatar | undefined
  readonly importType?: string | undefined
  readonly importUrl?: string | undefined
  /** For projects whose content comes later, by a task: not shown as finished until it does. */
  readonly importStatus?: 'none' | 'scheduled' | undefined
  /** Nobody but its members sees it until whoever fills it says how visible it is. */
  readonly privateUntilFilled?: boolean | undefined
  /** Begin with the branches, tags and objects of this project. */
  readonly forkedFromId?: number | undefined
  /** Of those only this branch. */
  readonly forkedBranch?: string | undefined
  /** Whether the repository has nothing in it, which a fork's parent shows. */
  readonly empty?: boolean | undefined
  /** Work that belongs to the new row, done in the transaction that shows it. */
  readonly onShown?: ((ctx: Ctx, projectId: number) => Promise<void>) | undefined
  /** Who it is made for, when an administrator makes it for somebody else. */
  readonly creatorId?: number | undefined
}

/** After this long a project that never came to be shown is cleared away. */
const ABANDONED_AFTER_MS = 5 * 60_000
/** All ids that are taken are passed over together; only somebody who copies repositories in meanwhile makes more. */
const MOST_ATTEMPTS = 10

/**
 * Makes a project with its repository. The row comes first, hidden, beside a task that clears it away; then the
 * repository; then the row is shown. A crash in between leaves nothing that anybody sees, and the task removes it.
 */
export async function createProject(ctx: Ctx, input: NewProject): Promise<ProjectRow> {
  const made = await makeProject(ctx, input)
  // What follows from the first commit leaves hidden projects out, so nothing slow may come before it is shown.
  const isFilled = input.initializeWithReadme || input.templateId !== undefined
  if (isFilled) await refreshContent(ctx, made.id)
  return made
}

async function makeProject(ctx: Ctx, input: NewProject): Promise<ProjectRow> {
  const { id, ...draft } = await insertWithRepository(ctx, input)
  try {
    const { templateId } = input
    const withReadme = input.initializeWithReadme === true && templateId === undefined
    const made = { ...draft, projectId: id, withReadme, templateId }
    await runEffects(ctx, ctx.effects.repositoryMade, made)
    return await show(ctx, id, input)
  } catch (error) {
    await discardProject(ctx, id)
    throw error
  }
}

/** A hidden row and its new repository. An id whose place is taken on the disk is passed over. */
async function insertWithRepository(ctx: Ctx, input: NewProject): Promise<HiddenProject> {
  for (let attempt = 1; ; attempt += 1) {
    const hidden = await insertHidden(ctx, input)
    try {
      await makeRepository(ctx, hidden, input)
      return hidden
    } catch (error) {
      await discardRows(ctx, hidden.id)
      const isTaken = error instanceof GitError && error.code === 'exists'
      if (!isTaken || attempt === MOST_ATTEMPTS) throw error
      await passOver(ctx, hidden.id)
    }
  }
}

/** Makes the repository, or throws and has made none: `exists` when there is one, or a wiki, of this id. */
async function makeRepository(
  ctx: Ctx,
  { id, defaultBranch }: HiddenProject,
  { forkedFromId, forkedBranch, objectFormat }: NewProject,
): Promise<void> {
  // The first page of the new project would find the pages of another.
  if (await ctx.git.exists({ kind: 'project_wiki', id })) {
    throw new GitError('exists', `a wiki of the id ${id} exists`)
  }
  if (forkedFromId === undefined) await ctx.git.init(id, { defaultBranch, objectFormat })
  else await ctx.git.fork(forkedFromId, id, forkedBranch)
}

/** The checked facts of a new project. */
export interface Draft {
  readonly name: string
  readonly path: string
  readonly fullPath: string
  readonly description: string | null
  readonly visibility: Visibility
  readonly defaultBranch: string
}

type HiddenProject = Draft & { readonly id: number }

async function readDraft(ctx: Ctx, input: NewProject, namespace: TargetNamespace): Promise<Draft> {
  const name = (input.name ?? input.path ?? '').trim()
  const path = input.path ?? pathFromName(name)
  const visibility = input.visibility ?? presetVisibility(ctx, namespace)
  const defaultBranch = input.defaultBranch || (await presetBranch(ctx, namespace.id))
  refuseFaults({
    name: projectNameFaults(name),
    path: projectPathFaults(path),
    description: descriptionFaults(input.description),
    visibility_level: visibilityFaults(ctx, visibility, namespace),
    default_branch: isBranchName(defaultBranch) ? [] : ['is not a valid branch name'],
    topics: topicFaults(input.topics ?? []),
    shared_runners_enabled: runnersFaults(input.settings, namespace.sharedRunners),
  })
  return {
    name,
    path,
    fullPath: `${namespace.fullPath}/${path}`,
    description: input.description ?? null,
    visibility,
    defaultBranch,
  }
}

export function descriptionFaults(description: string | null | undefined): string[] {
  return (description ?? '').length > 2000 ? ['is too long (maximum is 2000 characters)'] : []
}

async function presetBranch(ctx: Ctx, namespaceId: number): Promise<string> {
  const ofGroup = await findGroupBranch(ctx.db, namespaceId)
  return ofGroup ?? (ctx.settings.get('default_branch_name') || 'main')
}

function presetVisibility(ctx: Ctx, namespace: TargetNamespace): Visibility {
  const wanted = ctx.settings.get('default_project_visibility')
  return visibilityRank[wanted] <= visibilityRank[namespace.visibility] ? wanted : 'private'
}

/** A project is no more visible than its group, and not as the instance forbids (docs/contract/D §1.2 Rules). */
export function visibilityFaults(
  ctx: Ctx,
  visibility: Visibility,
  namespace: Pick<TargetNamespace, 'kind' | 'visibility'>,
): string[] {
  const faults: string[] = []
  if (
    namespace.kind === 'group' &&
    visibilityRank[visibility] > visibilityRank[namespace.visibility]
  ) {
    faults.push(`${visibility} is not allowed in a ${namespace.visibility} group.`)
  }
  return [...faults, ...restrictionFaults(ctx, visibility)]
}

/** What the application settings and the group say of new projects. */
function presetSettings(ctx: Ctx, { sharedRunners }: TargetNamespace): Record<string, unknown> {
  const enabled = ctx.settings.get('shared_runners_enabled') && sharedRunners === 'enabled'
  return { shared_runners_enabled: enabled }
}

/** Below a group that lets nobody override it no project uses the runners of the instance (docs/contract/D §1.3 Fields). */
export function runnersFaults(
  sent: Readonly<Record<string, unknown>> | undefined,
  group: SharedRunners,
): string[] {
  const refused = sent?.shared_runners_enabled === true && group === 'disabled_and_unoverridable'
  return refused ? ['cannot be enabled because parent group does not allow it'] : []
}

async function insertHidden(ctx: Ctx, input: NewProject): Promise<HiddenProject> {
  const now = ctx.now()
  const creatorId = input.creatorId ?? userOf(ctx.actor)?.id ?? null
  return await inTransaction(ctx, async (ctx) => {
    // Read inside: the namespace may have been moved, renamed or deleted a moment ago.
    const namespace = await getTargetNamespace(ctx, input.namespace)
    const draft = await readDraft(ctx, input, namespace)
    const presets = presetSettings(ctx, namespace)
    const settings = changedSettings({}, { ...presets, ...input.settings })
    if (input.objectFormat === 'sha256') settings.repository_object_format = 'sha256'
    if (input.importType) settings.import_type = input.importType
    const row = {
      namespace_id: namespace.id,
      name: draft.name,
      path: draft.path,
      full_path: draft.fullPath,
      description: draft.description,
      visibility: input.privateUntilFilled ? 'private' : draft.visibility,
      default_branch: draft.defaultBranch,
      creator_id: creatorId,
      forked_from_id: input.forkedFromId ?? null,
      settings: JSON.stringify(settings),
      ...input.avatar,
      empty_repo: input.empty ?? true,
      import_url: input.importUrl ?? null,
      import_status: input.importStatus ?? 'none',
      pending_delete: 1,
      last_activity_at: now,
      created_at: now,
      updated_at: now,
    } as const
    const wanted = { ...draft, namespaceId: namespace.id }
    const id = await whileFree(ctx, wanted, () => insertProject(ctx.db, row))
    await saveTopics(ctx.db, id, input.topics ?? [], now)
    await resetRegistrationToken(ctx, { groupId: null, projectId: id })
    if (namespace.ownerId !== null) {
      const owner = { userId: namespace.ownerId, level: Role.owner, createdById: creatorId }
      await addFirstMember(ctx, { type: 'project', id }, owner)
    }
    const runAt = later(now, ABANDONED_AFTER_MS)
    await ctx.work.enqueue(ctx.db, removeProject, { project_id: id }, { runAt })
    return { id, ...draft }
  })
}

/** Does a write that needs a free name and path in a namespace; else 400 that names what is taken. */
export async function whileFree<T>(
  ctx: Ctx,
  wanted: { namespaceId: number; name: string; path: string; fullPath: string; except?: number },
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (brokenKey(error) === undefined) throw error
    throw await takenProblem(ctx, wanted, error)
  }
}

async function takenProblem(
  ctx: Ctx,
  wanted: Parameters<typeof findTaken>[1],
  error: unknown,
): Promise<Problem | unknown> {
  const taken = await findTaken(ctx.db, wanted)
  const text = ['has already been taken']
  // Somebody may have freed it meanwhile: the refusal stands.
  const key = (brokenKey(error) ?? '').split(', ')
  const name = taken.name || key.includes('projects.name')
  const path = taken.path || key.includes('projects.path') || key.includes('routes.path')
  if (!name && !path) return error
  return invalid({
    ...(name ? { 'project_namespace.name': text, name: text } : {}),
    ...(path ? { path: text } : {}),
  })
}

async function show(ctx: Ctx, id: number, input: NewProject): Promise<ProjectRow> {
  const shown = await inTransaction(ctx, async (ctx) => {
    const done = await showProject(ctx.db, id)
    if (done) {
      await input.onShown?.(ctx, id)
      await recordProject(ctx, id, input.creatorId)
    }
    return done
  })
  const row = shown ? await findProjectById(ctx.db, id) : undefined
  if (!row) throw forbidden('The project was removed while it was being made')
  return row
}
