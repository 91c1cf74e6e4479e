import { mayInGroup, mayInProject } from '../../access/decide.ts'
import { onKindOfSource, type SourceKind } from '../../access/sources.ts'
import type { Access, Group, Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** A project or group whose tokens or service accounts a request is about. */
export interface TokenSource {
  readonly type: 'project' | 'group'
  readonly id: number
  /** The caller's role there. */
  readonly role: number
  readonly mayAdminTokens: boolean
  readonly mayAdminAccounts: boolean
  /** The namespace that the limits of an instance count in. */
  readonly namespaceId: number
}

/**
 * The project or group that a signed-in caller may read: 401, then parameters, then 404 (docs/contract/A-resolved §1). What it
 * takes to see tokens is asked by the handlers, since lacking it is no 403 there (§8.4).
 */
export function onTokenSource(
  kind: SourceKind,
  options: { readonly validateFirst: boolean } = { validateFirst: true },
): Access<{ source: TokenSource }> {
  const make = {
    project: (project: Project, { actor }: Ctx): TokenSource => ({
      type: 'project',
      id: project.id,
      role: project.role,
      mayAdminTokens: mayInProject(actor, project, 'admin_access_tokens'),
      mayAdminAccounts: mayInProject(actor, project, 'admin_service_accounts'),
      namespaceId: project.namespace_id,
    }),
    group: (group: Group, { actor }: Ctx): TokenSource => ({
      type: 'group',
      id: group.id,
      role: group.role,
      mayAdminTokens: mayInGroup(actor, group, 'admin_access_tokens'),
      mayAdminAccounts: mayInGroup(actor, group, 'admin_service_accounts'),
      namespaceId: group.id,
    }),
  }
  const readable = { projects: 'read_project', groups: 'read_group' } as const
  const how = { signedIn: true, validateFirst: options.validateFirst } as const
  return { ...onKindOfSource(kind, readable, make, how), needs: 'admin_access_tokens' }
}
