import { type ActorUser, userOf } from '../../../access/actor.ts'
import { visibilityRank } from '../../../access/roles.ts'
import type { Project } from '../../../access/subjects.ts'
import { sshUrl } from '../../../base/config.ts'
import type { Ctx } from '../../../ctx.ts'
import { avatarUrl, type UserBasicRow } from '../../../identity/users/basic.ts'
import { findHookGroupRow, findHookUserRow } from '../system-queries.ts'

/** The project of a payload (docs/contract/D §1.25). */
export function hookProject(ctx: Pick<Ctx, 'config'>, project: Project) {
  const url = `${ctx.config.externalUrl}/${project.full_path}`
  const ssh = sshUrl(ctx.config, `${project.full_path}.git`)
  const ciFile = project.settings.ci_config_path
  return {
    id: project.id,
    name: project.name,
    description: project.description ?? '',
    web_url: url,
    avatar_url: avatarUrl(ctx, 'project', project.id, project),
    git_ssh_url: ssh,
    git_http_url: `${url}.git`,
    namespace: project.namespace_name,
    visibility_level: visibilityRank[project.visibility],
    path_with_namespace: project.full_path,
    default_branch: project.default_branch,
    ci_config_path: typeof ciFile === 'string' ? ciFile : '',
    homepage: url,
    url: ssh,
    ssh_url: ssh,
    http_url: `${url}.git`,
  }
}

/** What changed, field by field (docs/contract/D §1.25). */
export type HookChanges = Readonly<
  Record<string, { readonly previous: unknown; readonly current: unknown }>
>

/** The fields that differ. */
export function changesBetween(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): HookChanges {
  const changed = Object.keys(after).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  )
  return Object.fromEntries(
    changed.map((key) => [key, { previous: before[key], current: after[key] }]),
  )
}

/** Whether something was saved again as it was: that is no news. */
export function isNoNews(changes: HookChanges): boolean {
  return Object.keys(changes).every((key) => key === 'updated_at')
}

/** The short form that older receivers read. */
export function hookRepository(ctx: Pick<Ctx, 'config'>, project: Project) {
  const whole = hookProject(ctx, project)
  return {
    name: whole.name,
    url: whole.url,
    description: whole.description,
    homepage: whole.homepage,
    git_http_url: whole.git_http_url,
    git_ssh_url: whole.git_ssh_url,
    visibility_level: whole.visibility_level,
  }
}

/** The address of a person that everybody may know; a stand-in where it is not public. */
export function shownEmail(row: { readonly public_email: string | null }): string {
  return row.public_email || '[REDACTED]'
}

type HookUser = Pick<
  UserBasicRow,
  'id' | 'name' | 'username' | 'public_email' | 'avatar_file' | 'avatar_name'
>

/** A person of a payload; addresses are shown when public only. */
export function hookUser(ctx: Pick<Ctx, 'config'>, row: HookUser) {
  return {
    id: row.id,
    name: row.name,
    username: row.username,
    avatar_url: avatarUrl(ctx, 'user', row.id, row),
    email: shownEmail(row),
  }
}

/** Who did it: the caller, or nobody when the server acts by itself. */
export async function hookActor(ctx: Ctx) {
  const user: ActorUser | null = userOf(ctx.actor)
  const row = user && (await findHookUserRow(ctx.db, user.id))
  return row ? hookUser(ctx, row) : null
}

/** A user's part of a payload by id, or null. */
export async function hookUserById(ctx: Ctx, id: number | null) {
  const row = id === null ? undefined : await findHookUserRow(ctx.db, id)
  return row ? hookUser(ctx, row) : null
}

/** The group of a payload. */
export async function findHookGroup(ctx: Pick<Ctx, 'db'>, groupId: number) {
  const group = await findHookGroupRow(ctx.db, groupId)
  return group
    ? {
        group_id: group.id,
        group_name: group.name,
        group_path: group.path,
        full_path: group.full_path,
      }
    : null
}
