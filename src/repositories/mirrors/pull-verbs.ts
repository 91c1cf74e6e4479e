import { actAs } from '../../access/act-as.ts'
import { audit } from '../../access/audit.ts'
import type { ProjectRow } from '../../access/find-queries.ts'
import { getVisibleProject, type Project } from '../../access/subjects.ts'
import { assertPatterns } from '../../base/patterns/check.ts'
import { existing, invalid, invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { mayMirror } from '../../projects/projects/access.ts'
import { assertImportable } from '../../projects/projects/create/import-url.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { updateProject } from '../../projects/projects/update-project.ts'
import { inTransaction } from '../../store/transaction.ts'
import { maskedAddress, openAddress, sealAddress } from './address.ts'
import {
  findPullMirror,
  type PullMirrorRow,
  savePullMirror,
  updatePullMirror,
} from './pull-queries.ts'
import { enqueuePull } from './pull-task.ts'

export interface PullInput {
  readonly url?: string | undefined
  readonly auth_user?: string | null | undefined
  readonly auth_password?: string | null | undefined
  readonly enabled?: boolean | undefined
  readonly mirror_trigger_builds?: boolean | undefined
  readonly only_mirror_protected_branches?: boolean | undefined
  readonly mirror_overwrites_diverged_branches?: boolean | undefined
  readonly mirror_branch_regex?: string | null | undefined
}

/** The project as it is now, with what it follows. */
export interface Following {
  readonly project: Project
  readonly mirror: PullMirrorRow
}

export async function getPullMirror(ctx: Ctx, project: Project): Promise<PullMirrorRow> {
  return existing(await findPullMirror(ctx.db, project.id))
}

/** The address with a name and password that are given by themselves. */
function addressOf(ctx: Ctx, row: PullMirrorRow | undefined, input: PullInput): string {
  const text = input.url ?? (row && openAddress(ctx, 'pull', row))
  if (text === undefined) throw invalid({ url: ["can't be blank"] })
  if (input.auth_user === undefined && input.auth_password === undefined) return text
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (input.auth_user !== undefined) url.username = encodeURIComponent(input.auth_user ?? '')
  if (input.auth_password !== undefined)
    url.password = encodeURIComponent(input.auth_password ?? '')
  return url.href
}

/** Which branches are taken is said in one way: the later word counts. */
function settingsOf(input: PullInput) {
  const given = {
    mirror: input.enabled,
    mirror_trigger_builds: input.mirror_trigger_builds,
    only_mirror_protected_branches: input.mirror_branch_regex
      ? false
      : input.only_mirror_protected_branches,
    mirror_overwrites_diverged_branches: input.mirror_overwrites_diverged_branches,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function patternOf(row: PullMirrorRow | undefined, input: PullInput): string | null {
  if (input.only_mirror_protected_branches) return null
  const { mirror_branch_regex: given = row?.mirror_branch_regex } = input
  return given || null
}

/** Lets a project follow a repository of another server, or changes how it does; it is looked at soon. */
export async function changePullMirror(
  ctx: Ctx,
  project: Project,
  input: PullInput,
): Promise<Following> {
  assertPatterns({ mirror_branch_regex: input.mirror_branch_regex })
  const known = await findPullMirror(ctx.db, project.id)
  const url = addressOf(ctx, known, input)
  await assertImportable(ctx, url, 'url')
  return await inTransaction(ctx, async (ctx) => {
    const now = ctx.now()
    const mirror = await savePullMirror(ctx.db, {
      project_id: project.id,
      user_id: callerId(ctx),
      sealed_url: sealAddress(ctx, 'pull', url),
      mirror_branch_regex: patternOf(known, input),
      failures: 0,
      created_at: now,
      updated_at: now,
    })
    await updateProject(ctx, project, { settings: settingsOf(input) })
    const details = { url: maskedAddress(url) }
    await audit(ctx, {
      entity: { type: 'Project', id: project.id },
      action: 'pull_mirror_changed',
      details,
    })
    const changed = await getVisibleProject(ctx, String(project.id))
    if (projectSetting(changed, 'mirror')) await enqueuePull(ctx, project.id)
    return { project: changed, mirror }
  })
}

/** Looks at the other server now. */
export async function startPull(ctx: Ctx, project: Project): Promise<Following> {
  const mirror = await findPullMirror(ctx.db, project.id)
  if (!mirror || !projectSetting(project, 'mirror'))
    throw invalidText('The project is not mirrored')
  await inTransaction(ctx, async (ctx) => {
    await updatePullMirror(ctx.db, project.id, { failures: 0 })
    await enqueuePull(ctx, project.id)
  })
  return { project, mirror }
}

/** Lets a project that was made as a mirror follow the repository that it was imported from, if its maker may have mirrors. */
export async function followSource(
  ctx: Ctx,
  row: Pick<ProjectRow, 'id' | 'creator_id' | 'settings'>,
  url: string,
): Promise<void> {
  const settings = JSON.parse(row.settings) as Record<string, unknown> // written by us
  if (!projectSetting({ settings }, 'mirror')) return
  if (row.creator_id === null || !mayMirror(await actAs(ctx, row.creator_id))) return
  const now = ctx.now()
  await savePullMirror(ctx.db, {
    project_id: row.id,
    user_id: row.creator_id,
    sealed_url: sealAddress(ctx, 'pull', url),
    update_status: 'finished',
    last_update_at: now,
    last_update_started_at: now,
    last_successful_update_at: now,
    created_at: now,
    updated_at: now,
  })
}
