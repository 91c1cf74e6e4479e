import type { ProjectAbility } from '../../access/abilities.ts'
import { isAdmin, userOf } from '../../access/actor.ts'
import { mayInProject, maySee, type Subject } from '../../access/decide.ts'
import { featureLevel } from '../../access/features.ts'
import { findProjectById, type ProjectRow } from '../../access/find-queries.ts'
import { presentProjectIdentity } from '../../access/project-identity.ts'
import { Role } from '../../access/roles.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { sshUrl } from '../../base/config.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl, presentUserBasic } from '../../identity/users/basic.ts'
import { renderField } from '../../markdown/render.ts'
import { namespaceOf, presentNamespaceBrief } from '../namespaces/entity.ts'
import { visibleRunnersToken } from '../registration-tokens/visible.ts'
import { presentSizes } from '../statistics/sizes.ts'
import type { ProjectBasic, ProjectFull } from './entity.ts'
import { findLicense } from './facts/licenses.ts'
import { imageCleanupOf } from './image-cleanup.ts'
import { listVisibleByIds } from './list/queries.ts'
import { type Extras, type Facts, readExtras, type Wanted } from './present-extras.ts'
import { legacyValues, type ProjectSettingValues, settingsOfRow } from './settings.ts'

async function presentParents(
  ctx: Ctx,
  rows: readonly ProjectRow[],
): Promise<Map<number, ProjectBasic>> {
  const ids = [...new Set(rows.flatMap((row) => row.forked_from_id ?? []))]
  if (ids.length === 0) return new Map()
  const parents = await listVisibleByIds(ctx.db, viewerOf(ctx), ids)
  if (parents.length === 0) return new Map()
  const extras = await readExtras(ctx, parents, { simple: true })
  return new Map(parents.map((row) => [row.id, presentBasic(ctx, view(ctx, row, extras), {})]))
}

const NONE: View['parents'] = new Map()

/** A row with everything that its presentation reads. */
interface View {
  readonly row: ProjectRow
  readonly subject: Subject
  readonly extras: Extras
  /** Those that projects of the page were forked from, as far as the caller sees them. */
  readonly parents: ReadonlyMap<number, ProjectBasic>
  /** As HTML, by the project's id; only for whoever gets all of a project. */
  readonly descriptions: ReadonlyMap<number, string>
}

async function renderDescriptions(
  ctx: Ctx,
  rows: readonly ProjectRow[],
): Promise<Map<number, string>> {
  const html = await Promise.all(rows.map((row) => renderField(ctx, row.description, row)))
  return new Map(rows.map((row, at) => [row.id, html[at] ?? '']))
}

function view(
  ctx: Ctx,
  row: ProjectRow,
  extras: Extras,
  more: Partial<Pick<View, 'parents' | 'descriptions'>> = {},
): View {
  const { parents = NONE, descriptions = new Map() } = more
  const levels = extras.access.get(row.id)
  const role = isAdmin(ctx.actor)
    ? Role.owner
    : Math.max(levels?.project_level ?? 0, levels?.group_level ?? 0)
  const settings = JSON.parse(row.settings) as Record<string, unknown> // written by us
  const archived = row.archived === 1 || row.namespace_archived === 1
  const subject = { visibility: row.visibility, archived, role, settings }
  return { row, extras, parents, descriptions, subject }
}

/** Projects as the caller sees them, in the order given. */
export async function presentProjects(
  ctx: Ctx,
  rows: readonly ProjectRow[],
  wanted: Wanted,
): Promise<(ProjectFull | ProjectBasic)[]> {
  if (rows.length === 0) return []
  const simple = wanted.simple || ctx.actor.kind === 'anonymous'
  const asked = { ...wanted, simple }
  const extras = await readExtras(ctx, rows, asked)
  const more = simple
    ? {}
    : {
        parents: await presentParents(ctx, rows),
        descriptions: await renderDescriptions(ctx, rows),
      }
  return rows.map((row) => {
    const seen = view(ctx, row, extras, more)
    return simple ? presentBasic(ctx, seen, asked) : presentFull(ctx, seen, asked)
  })
}

/** One project in full, as a single read, creation and updates answer it. */
export async function presentProject(
  ctx: Ctx,
  row: ProjectRow,
  wanted: Wanted = {},
): Promise<ProjectFull> {
  const asked = { ...wanted, single: true, simple: false }
  const extras = await readExtras(ctx, [row], asked)
  const parents = await presentParents(ctx, [row])
  const descriptions = await renderDescriptions(ctx, [row])
  const seen = view(ctx, row, extras, { parents, descriptions })
  const mayManage = mayInProject(ctx.actor, seen.subject, 'admin_runners')
  const place = { groupId: null, projectId: row.id }
  const token = await visibleRunnersToken(ctx, place, mayManage)
  return Object.assign(presentFull(ctx, seen, asked), token)
}

/** One project as the caller sees it, read anew. Anonymous callers get the basic block. */
export async function readProject(
  ctx: Ctx,
  id: number,
  wanted: Wanted = {},
): Promise<ProjectFull | ProjectBasic> {
  const row = existing(await findProjectById(ctx.db, id), 'Project')
  if (ctx.actor.kind !== 'anonymous') return await presentProject(ctx, row, wanted)
  const extras = await readExtras(ctx, [row], { ...wanted, simple: true })
  return presentBasic(ctx, view(ctx, row, extras), wanted)
}

function presentBasic(ctx: Ctx, { row, subject, extras }: View, wanted: Wanted): ProjectBasic {
  const { externalUrl } = ctx.config
  const webUrl = `${externalUrl}/${row.full_path}`
  const topics = [...(extras.topics.get(row.id) ?? [])]
  const facts = extras.facts.get(row.id)
  const mayReadCode = mayInProject(ctx.actor, subject, 'read_code')
  const owner = extras.owners.get(row.namespace_owner_id ?? 0)
  return {
    ...presentProjectIdentity(row),
    ...(mayReadCode ? { default_branch: row.default_branch } : {}),
    tag_list: topics,
    topics,
    ssh_url_to_repo: sshUrl(ctx.config, `${row.full_path}.git`),
    http_url_to_repo: `${webUrl}.git`,
    web_url: webUrl,
    ...(mayReadCode ? { readme_url: fileUrl(webUrl, row, facts?.readme_path) } : {}),
    ...(mayReadCode ? { forks_count: row.forks_count } : {}),
    ...(wanted.license && mayReadCode ? presentLicense(webUrl, row, facts) : {}),
    avatar_url: avatarUrl(ctx, 'project', row.id, row),
    star_count: row.star_count,
    last_activity_at: row.last_activity_at,
    visibility: row.visibility,
    namespace: presentNamespaceBrief(ctx, {
      ...namespaceOf(row),
      avatar_file: owner?.avatar_file ?? row.namespace_avatar_file,
      avatar_name: owner?.avatar_name ?? row.namespace_avatar_name,
    }),
    ...(wanted.customAttributes && isAdmin(ctx.actor)
      ? {
          custom_attributes: (extras.attributes.get(row.id) ?? []).map(({ key, value }) => ({
            key,
            value,
          })),
        }
      : {}),
    ...(isAdmin(ctx.actor) ? { repository_storage: 'default' } : {}),
  }
}

function fileUrl(webUrl: string, row: ProjectRow, path: string | null | undefined): string | null {
  if (!path || row.default_branch === null) return null
  const encoded = `${row.default_branch}/${path}`.split('/').map(encodeURIComponent).join('/')
  return `${webUrl}/-/blob/${encoded}`
}

function presentLicense(webUrl: string, row: ProjectRow, facts: Facts | undefined) {
  const found = facts?.license_key ? findLicense(facts.license_key) : undefined
  return { license_url: fileUrl(webUrl, row, facts?.license_path), license: found ?? null }
}

/**
 * An object without a prototype is a table from the start. Spread into one literal, a hundred and fifty fields make V8 try a shape for
 * each of them first: a page of projects took twenty times as long.
 */
function presentFull(ctx: Ctx, seen: View, wanted: Wanted): ProjectFull {
  const settings = settingsOfRow(seen.row.settings)
  return Object.assign(Object.create(null), settings, presentOwn(ctx, seen, wanted))
}

/** Everything but the settings. */
function presentOwn(
  ctx: Ctx,
  seen: View,
  wanted: Wanted,
): Omit<ProjectFull, keyof ProjectSettingValues> {
  const { row, subject, extras, parents } = seen
  const may = (ability: ProjectAbility) => mayInProject(ctx.actor, subject, ability)
  const settings = settingsOfRow(row.settings)
  const owner = extras.owners.get(row.namespace_owner_id ?? 0)
  const sizes = extras.sizes.get(row.id)
  return {
    ...presentBasic(ctx, seen, wanted),
    _links: links(ctx, row, subject),
    marked_for_deletion_at: row.marked_for_deletion_on,
    marked_for_deletion_on: row.marked_for_deletion_on,
    empty_repo: row.empty_repo === 1,
    archived: subject.archived,
    ...(owner ? { owner: presentUserBasic(ctx, owner) } : {}),
    container_expiration_policy: {
      ...imageCleanupOf(subject.settings),
      next_run_at: extras.imageCleanups.get(row.id) ?? null,
    },
    repository_object_format: objectFormat(subject.settings),
    ...legacyValues(subject.settings),
    service_desk_address: null,
    can_create_merge_request_in: may('create_merge_request_in'),
    emails_disabled: !settings.emails_enabled,
    creator_id: row.creator_id,
    ...(row.forked_from_id === null
      ? {}
      : { forked_from_project: parents.get(row.forked_from_id) ?? null }),
    import_url: row.import_url,
    import_type:
      typeof subject.settings.import_type === 'string' ? subject.settings.import_type : null,
    import_status: row.import_status,
    ...(wanted.single ? { import_error: row.import_error } : {}),
    ...(may('read_issues') ? { open_issues_count: extras.openIssues.get(row.id) ?? 0 } : {}),
    description_html: seen.descriptions.get(row.id) ?? '',
    updated_at: row.updated_at,
    shared_with_groups: sharedGroups(ctx, extras, row.id),
    ...(sizes && may('read_statistics')
      ? {
          statistics: {
            commit_count: extras.facts.get(row.id)?.commit_count ?? 0,
            ...presentSizes(sizes),
            container_registry_size: sizes.images,
          },
        }
      : {}),
    ...(userOf(ctx.actor) ? { permissions: permissions(extras, row.id) } : {}),
    mirror_user_id: null,
    compliance_frameworks: [],
  }
}

/** Invited groups that the caller may know of. */
function sharedGroups(ctx: Ctx, extras: Extras, projectId: number) {
  const role =
    (extras.access.get(projectId)?.project_level ?? 0) +
    (extras.access.get(projectId)?.group_level ?? 0)
  return (extras.shared.get(projectId) ?? [])
    .filter((row) => maySee(ctx.actor, { visibility: row.visibility, role }))
    .map(({ group_id, group_name, group_full_path, group_access_level, expires_at }) => ({
      group_id,
      group_name,
      group_full_path,
      group_access_level,
      expires_at,
    }))
}

/** The notification level of somebody who has set none: `global`. */
const NOTIFICATION_GLOBAL = 3

function permissions(extras: Extras, projectId: number) {
  const levels = extras.access.get(projectId)
  const access = (level: number | null | undefined) =>
    level ? { access_level: level, notification_level: NOTIFICATION_GLOBAL } : null
  return {
    project_access: access(levels?.project_level),
    group_access: access(levels?.group_level),
  }
}

function links(ctx: Ctx, row: ProjectRow, subject: Subject): Record<string, string> {
  const self = `${ctx.config.externalUrl}/api/v4/projects/${row.id}`
  const on = (feature: 'issues' | 'merge_requests') =>
    featureLevel(subject.settings, feature) !== 'disabled'
  return {
    self,
    ...(on('issues') ? { issues: `${self}/issues` } : {}),
    ...(on('merge_requests') ? { merge_requests: `${self}/merge_requests` } : {}),
    repo_branches: `${self}/repository/branches`,
    labels: `${self}/labels`,
    events: `${self}/events`,
    members: `${self}/members`,
    cluster_agents: `${self}/cluster_agents`,
  }
}

function objectFormat(settings: Readonly<Record<string, unknown>>): 'sha1' | 'sha256' {
  return settings.repository_object_format === 'sha256' ? 'sha256' : 'sha1'
}
