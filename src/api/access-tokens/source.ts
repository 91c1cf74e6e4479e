import { mayInGroup, mayInProject } from '../../access/decide.ts'
import { type Access, onGroup, onProject } from '../../access/subjects.ts'

export type SourceKind = 'projects' | 'groups'

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
 * The project or group that a signed-in caller may read: 401, then parameters, then 404 (spec A-resolved §1). What it
 * takes to see tokens is asked by the handlers, since lacking it is no 403 there (§8.4).
 */
export function onTokenSource(
  kind: SourceKind,
  options: { readonly validateFirst: boolean } = { validateFirst: true },
): Access<{ source: TokenSource }> {
  const how = { signedIn: true, validateFirst: options.validateFirst } as const
  if (kind === 'groups') {
    const access = onGroup('read_group', how)
    return {
      ...access,
      needs: 'admin_access_tokens',
      async find(request) {
        const { group } = await access.find(request)
        const { actor } = request.ctx
        const source: TokenSource = {
          type: 'group',
          id: group.id,
          role: group.role,
          mayAdminTokens: mayInGroup(actor, group, 'admin_access_tokens'),
          mayAdminAccounts: mayInGroup(actor, group, 'admin_service_accounts'),
          namespaceId: group.id,
        }
        return { source }
      },
    }
  }
  const access = onProject('read_project', how)
  return {
    ...access,
    needs: 'admin_access_tokens',
    async find(request) {
      const { project } = await access.find(request)
      const { actor } = request.ctx
      const source: TokenSource = {
        type: 'project',
        id: project.id,
        role: project.role,
        mayAdminTokens: mayInProject(actor, project, 'admin_access_tokens'),
        mayAdminAccounts: mayInProject(actor, project, 'admin_service_accounts'),
        namespaceId: project.namespace_id,
      }
      return { source }
    },
  }
}
