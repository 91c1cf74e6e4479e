import type { z } from 'zod'
import { dayOf } from '../base/clock.ts'
import {
  existing,
  forbidden,
  methodNotAllowed,
  movedTo,
  notFound,
  type Problem,
  unauthorized,
} from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import type { GroupAbility, ProjectAbility } from './abilities.ts'
import { type ActorUser, type DeployTokenActor, isAdmin, userOf } from './actor.ts'
import { mayJobReach, mayJobReachGroup } from './authentication/job-token.ts'
import { isBelowGroup } from './authentication/sign-in-queries.ts'
import {
  isOpenToAll,
  judgedBy,
  mayInGroup,
  mayInProject,
  mayInSeenGroup,
  maySee,
  type Subject,
} from './decide.ts'
import {
  findDeployKeyLink,
  findGroupById,
  findGroupByPath,
  findGroupRole,
  findMovedProjectId,
  findProjectById,
  findProjectByPath,
  findProjectRole,
  type GroupRow,
  isMemberBelow,
  type ProjectRow,
} from './find-queries.ts'
import { remember } from './remember.ts'
import { Role } from './roles.ts'

/** A project that the caller may see, with the caller's role in it. */
export type Project = Omit<ProjectRow, 'settings' | 'archived'> & Subject

/** A group that the caller may see, with the caller's role in it. */
export type Group = Omit<GroupRow, 'settings' | 'archived'> & Subject

const MAX_ID = 2 ** 53 - 1

function asId(text: string): number | null {
  if (!/^-?\d+$/.test(text)) return null
  const id = Number(text)
  return id > 0 && id <= MAX_ID ? id : 0
}

function readSettings(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text) as Record<string, unknown> // written by us as a JSON object
}

/** The project with the caller's role, whether or not the caller may see it. */
export async function withProjectRole(ctx: Ctx, row: ProjectRow): Promise<Project> {
  return {
    ...row,
    settings: readSettings(row.settings),
    archived: row.archived === 1 || row.namespace_archived === 1,
    role: await projectRole(ctx, row),
  }
}

/** The project of an id that we know, with the caller's role, whether or not the caller may see it. */
export async function findProjectWithRole(
  ctx: Ctx,
  id: number | null,
): Promise<Project | undefined> {
  const row = id === null ? undefined : await findProjectById(ctx.db, id)
  return row && (await withProjectRole(ctx, row))
}

async function projectRole(ctx: Ctx, row: ProjectRow): Promise<number> {
  if (isAdmin(ctx.actor)) return Role.owner
  if (ctx.actor.kind === 'deploy_token') {
    return deployTokenRole(ctx, ctx.actor, { project: row.id, namespace: row.namespace_id })
  }
  if (ctx.actor.kind === 'deploy_key') return await deployKeyRole(ctx, ctx.actor.keyId, row.id)
  if (ctx.actor.kind === 'job' && !(await mayJobReach(ctx.db, ctx.actor, row.id))) return Role.none
  const user = activeUserOf(ctx)
  return user ? await findProjectRole(ctx.db, user.id, row, dayOf(ctx.now())) : Role.none
}

/** What a deploy key counts as in a project that it is linked to (docs/contract/D §3.3). */
async function deployKeyRole(ctx: Ctx, keyId: number, projectId: number): Promise<number> {
  const link = await findDeployKeyLink(ctx.db, keyId, projectId)
  if (!link) return Role.none
  return link.can_push === 1 ? Role.developer : Role.reporter
}

/** The user whose memberships count: who is blocked or deactivated has none (docs/contract/D §2.1). */
function activeUserOf(ctx: Ctx): ActorUser | null {
  const user = userOf(ctx.actor)
  return user?.state === 'active' ? user : null
}

/** What a deploy token counts as where it reaches; its scopes say what it may do there. */
async function deployTokenRole(
  ctx: Ctx,
  token: DeployTokenActor,
  place: { readonly project?: number; readonly namespace: number },
): Promise<number> {
  const reaches =
    token.groupId === null
      ? token.projectId === place.project
      : await isBelowGroup(ctx.db, place.namespace, token.groupId)
  if (!reaches) return Role.none
  // Who publishes packages by a token also deletes them and their tags (docs/contract/C-resolved §0.3).
  if (token.scopes.includes('write_package_registry')) return Role.maintainer
  return token.scopes.some((scope) => scope.startsWith('write_')) ? Role.developer : Role.reporter
}

/** The group with the caller's role, whether or not the caller may see it. */
export async function withGroupRole(ctx: Ctx, row: GroupRow): Promise<Group> {
  const role = await groupRole(ctx, row.id)
  return {
    ...row,
    settings: readSettings(row.settings),
    archived: row.ancestor_archived === 1,
    role,
  }
}

async function groupRole(ctx: Ctx, groupId: number): Promise<number> {
  if (isAdmin(ctx.actor)) return Role.owner
  if (ctx.actor.kind === 'deploy_token') {
    return deployTokenRole(ctx, ctx.actor, { namespace: groupId })
  }
  if (ctx.actor.kind === 'job' && !(await mayJobReachGroup(ctx.db, ctx.actor, groupId)))
    return Role.none
  const user = activeUserOf(ctx)
  return user ? await findGroupRole(ctx.db, user.id, groupId, dayOf(ctx.now())) : Role.none
}

/** The project of an id or full path if the caller may see it, or do this in it all the same; follows no redirect. */
export async function findVisibleProject(
  ctx: Ctx,
  idOrPath: string,
  ability?: ProjectAbility,
): Promise<Project | undefined> {
  const project = await remember(ctx, `project ${idOrPath}`, () => findAnyProject(ctx, idOrPath))
  if (!project) return undefined
  return maySee(ctx.actor, project) || isOpenToAll(project, ability) ? project : undefined
}

async function findAnyProject(ctx: Ctx, idOrPath: string): Promise<Project | undefined> {
  const id = asId(idOrPath)
  if (id === null && !idOrPath.includes('/')) return undefined
  const row =
    id === null ? await findProjectByPath(ctx.db, idOrPath) : await findProjectById(ctx.db, id)
  return row && (await withProjectRole(ctx, row))
}

/** As `findVisibleProject`, or 404 `404 Project Not Found`. */
export async function getVisibleProject(ctx: Ctx, idOrPath: string): Promise<Project> {
  return existing(await findVisibleProject(ctx, idOrPath), 'Project')
}

/** The group of an id or full path if the caller may see it, else undefined (no redirects, docs/contract/A-resolved §1). */
export async function findVisibleGroup(ctx: Ctx, idOrPath: string): Promise<Group | undefined> {
  return await remember(ctx, `group ${idOrPath}`, () => lookUpVisibleGroup(ctx, idOrPath))
}

async function lookUpVisibleGroup(ctx: Ctx, idOrPath: string): Promise<Group | undefined> {
  const id = asId(idOrPath)
  const row =
    id === null ? await findGroupByPath(ctx.db, idOrPath) : await findGroupById(ctx.db, id)
  if (!row) return undefined
  const group = await withGroupRole(ctx, row)
  return (await mayReadGroup(ctx, group)) ? group : undefined
}

/** As `findVisibleGroup`, or 404 `404 Group Not Found`. */
export async function getVisibleGroup(ctx: Ctx, idOrPath: string): Promise<Group> {
  return existing(await findVisibleGroup(ctx, idOrPath), 'Group')
}

/** A group is seen when visible, or by anyone with a membership in it or below it (docs/contract/D §2.4). */
async function mayReadGroup(ctx: Ctx, group: Group): Promise<boolean> {
  if (maySee(ctx.actor, group)) return true
  if (ctx.actor.kind === 'job' && !(await mayJobReachGroup(ctx.db, ctx.actor, group.id)))
    return false
  const user = activeUserOf(ctx)
  return user !== null && (await isMemberBelow(ctx.db, user.id, group.id, dayOf(ctx.now())))
}

/** The refusal of a caller who sees the subject: 401 where signing in could help, else 403. */
export function refusalOf(ctx: Ctx): Problem {
  return ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
}

/** Refuses what the caller may not do in a project they see: 401 where signing in could help, else 403. */
export function assertMayInProject(ctx: Ctx, project: Project, ability: ProjectAbility): void {
  if (!mayInProject(ctx.actor, project, ability)) throw refusalOf(ctx)
}

/** Refuses what the caller may not do in a group they see: 401 where signing in could help, else 403. */
export function assertMayInGroup(ctx: Ctx, group: Group, ability: GroupAbility): void {
  if (!mayInGroup(ctx.actor, group, ability)) throw refusalOf(ctx)
}

/** What a subject look-up knows of the request. */
export interface SubjectRequest {
  readonly ctx: Ctx
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Decoded path parameters. */
  readonly path: Readonly<Record<string, string>>
  /** The request's URL with where a project is now in the given path parameter, for redirects. */
  urlWith(param: string, moved: Pick<Project, 'id' | 'full_path'>): string
  /** The parameters of the query, as they came. */
  readonly query: Readonly<Record<string, unknown>>
  /**
   * The first bytes of a small body that comes unpacked, and nothing of any other: for the few protocols whose key, or
   * whose words of refusal, stand there.
   */
  peek(): Promise<Buffer>
  /** Reads path parameters by their schemas; what is wrong with them is 400. */
  read<P extends Readonly<Record<string, z.ZodType>>>(
    params: P,
  ): { readonly [K in keyof P]: z.infer<P[K]> }
}

/**
 * Who may call an endpoint, and on what. `before` runs ahead of parameter validation, `find` yields what the handler
 * is handed: the subject, and the record below it where the access is made by `access/records`. `subjectFirst` says
 * whether `find` runs ahead of validation (docs/contract/A-resolved §1). `Owned` are the path parameters that it reads itself.
 */
export interface Access<S, Owned extends string = never> {
  readonly kind: 'anyone' | 'signed_in' | 'admin' | 'project' | 'group' | 'custom'
  /** The ability or condition, for the authorisation matrix and the API reference. */
  readonly needs: string
  /** The path parameter that this access owns. */
  readonly param?: string
  /** The path parameters that name a record, with their schemas. */
  readonly params?: Readonly<Record<string, z.ZodType>>
  /** The access of each form of a path that begins with `/:source/:id/` (access/sources). */
  readonly forms?: Readonly<Record<'projects' | 'groups', Access<unknown, string>>>
  /** Only for the compiler: which path parameters a declaration need not describe. */
  readonly owns?: Owned
  readonly subjectFirst: boolean
  before(ctx: Ctx): void
  find(request: SubjectRequest): Promise<S>
}

export interface SubjectOptions {
  /** The path parameter that names the subject. */
  readonly param?: string
  /** Refuse anonymous callers with 401 before anything else, as the routes of document A do. */
  readonly signedIn?: boolean
  /** Validate parameters before the subject is looked up (docs/contract/A-resolved §1). */
  readonly validateFirst?: boolean
  /** What refuses callers without the ability, where it is neither 401 nor 403 as usual (docs/contract/A-resolved §1). */
  readonly refuse?: (type: 'project' | 'group') => Problem
}

function requireSignedIn(ctx: Ctx): void {
  if (ctx.actor.kind === 'anonymous') throw unauthorized()
}

function nothing(): void {}

/** The project named by `:id`, for callers with the ability there; 404 when hidden, 301/405 when moved. */
export function onProject(
  ability: ProjectAbility,
  options: SubjectOptions = {},
): Access<{ project: Project }> {
  const param = options.param ?? 'id'
  return {
    kind: 'project',
    needs: ability,
    param,
    subjectFirst: !options.validateFirst,
    before: options.signedIn ? requireSignedIn : nothing,
    async find(request) {
      const project = await findOrFollow(request, param, ability)
      const judged = judgedBy(request.method, project)
      if (mayInProject(request.ctx.actor, judged, ability)) return { project }
      throw options.refuse?.('project') ?? refusalOf(request.ctx)
    },
  }
}

async function findOrFollow(
  request: SubjectRequest,
  param: string,
  ability: ProjectAbility,
): Promise<Project> {
  const idOrPath = request.path[param] ?? ''
  const project = await findVisibleProject(request.ctx, idOrPath, ability)
  if (project) return project
  const movedId = idOrPath.includes('/')
    ? await findMovedProjectId(request.ctx.db, idOrPath)
    : undefined
  const moved =
    movedId === undefined ? undefined : await findVisibleProject(request.ctx, String(movedId))
  if (!moved) throw notFound('Project')
  if (request.method !== 'GET') {
    throw methodNotAllowed('Non GET methods are not allowed for moved projects')
  }
  throw movedTo(request.urlWith(param, moved))
}

/** The group named by `:id`, for callers with the ability there; 404 when hidden. */
export function onGroup(
  ability: GroupAbility,
  options: SubjectOptions = {},
): Access<{ group: Group }> {
  const param = options.param ?? 'id'
  return {
    kind: 'group',
    needs: ability,
    param,
    subjectFirst: !options.validateFirst,
    before: options.signedIn ? requireSignedIn : nothing,
    async find(request) {
      const group = await getVisibleGroup(request.ctx, request.path[param] ?? '')
      const judged = judgedBy(request.method, group)
      if (mayInSeenGroup(request.ctx.actor, judged, ability)) return { group }
      throw options.refuse?.('group') ?? refusalOf(request.ctx)
    },
  }
}

type Nothing = Record<never, never>

/** Everybody, signed in or not. */
export function anyone(): Access<Nothing> {
  return { kind: 'anyone', needs: '', subjectFirst: true, before: nothing, find: async () => ({}) }
}

/** Any signed-in user; anonymous callers get 401 before parameters are looked at. */
export function signedIn(): Access<Nothing> {
  return {
    kind: 'signed_in',
    needs: '',
    subjectFirst: true,
    before: requireSignedIn,
    find: async () => ({}),
  }
}

function requireAdmin(ctx: Ctx): void {
  requireSignedIn(ctx)
  if (!isAdmin(ctx.actor)) throw forbidden()
}

/** Administrators: 401, then 403. `validateFirst` checks parameters before that (broadcast messages). */
export function onInstance({ validateFirst = false } = {}): Access<Nothing> {
  return {
    kind: 'admin',
    needs: 'admin',
    subjectFirst: !validateFirst,
    before: validateFirst ? nothing : requireAdmin,
    async find({ ctx }) {
      requireAdmin(ctx)
      return {}
    },
  }
}
