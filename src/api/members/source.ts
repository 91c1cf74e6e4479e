import { mayInGroup, mayInProject } from '../../access/decide.ts'
import { type Access, type Group, onGroup, onProject, type Project } from '../../access/subjects.ts'
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

export type SourceKind = 'groups' | 'projects'

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
 * (spec A-resolved §1). What more it takes is asked by the handlers, in the order of §9.
 */
export function onSource(kind: SourceKind): Access<{ source: MemberSource }> {
  const options = { signedIn: true, validateFirst: true } as const
  if (kind === 'groups') {
    const access = onGroup('read_group', options)
    return {
      ...access,
      async find(request) {
        const { group } = await access.find(request)
        return { source: groupSource(request.ctx, group) }
      },
    }
  }
  const access = onProject('read_project', options)
  return {
    ...access,
    async find(request) {
      const { project } = await access.find(request)
      return { source: projectSource(request.ctx, project) }
    },
  }
}
