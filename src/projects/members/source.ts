import { mayInGroup, mayInProject } from '../../access/decide.ts'
import { onKindOfSource, type SourceKind } from '../../access/sources.ts'
import type { Access, Group, Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Source } from './rows.ts'

/** A project or group whose members a request is about, with the caller's role there. */
export interface MemberSource extends Source {
  readonly name: string
  readonly role: number
  /** The namespace where inheritance begins: the group itself, or the project's namespace. */
  readonly namespaceId: number
  readonly subject: Group | Project
  /** Whether the caller may add, change and remove members. */
  readonly mayAdmin: boolean
  readonly requestsEnabled: boolean
}

export function groupSource(ctx: Ctx, group: Group): MemberSource {
  return {
    type: 'group',
    id: group.id,
    name: group.name,
    role: group.role,
    namespaceId: group.id,
    subject: group,
    mayAdmin: mayInGroup(ctx.actor, group, 'admin_members'),
    requestsEnabled: group.request_access_enabled === 1,
  }
}

export function projectSource(ctx: Ctx, project: Project): MemberSource {
  return {
    type: 'project',
    id: project.id,
    name: project.name,
    role: project.role,
    namespaceId: project.namespace_id,
    subject: project,
    mayAdmin: mayInProject(ctx.actor, project, 'admin_members'),
    requestsEnabled: project.settings.request_access_enabled !== false,
  }
}

/**
 * The project or group of a members route, for anybody signed in who may read it: 401, then parameters, then 404
 * (docs/contract/A-resolved §1). What more it takes is asked by the handlers, in the order of §9.
 */
export function onSource(kind: SourceKind): Access<{ source: MemberSource }> {
  const make = {
    project: (project: Project, ctx: Ctx) => projectSource(ctx, project),
    group: (group: Group, ctx: Ctx) => groupSource(ctx, group),
  }
  const readable = { projects: 'read_project', groups: 'read_group' } as const
  return onKindOfSource(kind, readable, make, { signedIn: true, validateFirst: true })
}
