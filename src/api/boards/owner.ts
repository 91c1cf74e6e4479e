import { type Access, type Group, onGroup, onProject, type Project } from '../../access/subjects.ts'

/** Whose board it is: a project with its namespace, or a group. */
export interface BoardOwner {
  readonly project: Project | null
  readonly group: Group | null
  /** Where its labels and milestones are looked for. */
  readonly place: { readonly projectId?: number; readonly namespaceId: number }
}

export type OwnerKind = 'projects' | 'groups'

/** The project or group named by `:id`, for callers who may look at its boards or change them. */
export function onBoardOwner(
  kind: OwnerKind,
  ability: 'read_issues' | 'admin_board',
): Access<{ source: BoardOwner }> {
  if (kind === 'groups') {
    const access = onGroup(ability)
    return {
      ...access,
      async find(request) {
        const { group } = await access.find(request)
        return { source: { project: null, group, place: { namespaceId: group.id } } }
      },
    }
  }
  const access = onProject(ability)
  return {
    ...access,
    async find(request) {
      const { project } = await access.find(request)
      const place = { projectId: project.id, namespaceId: project.namespace_id }
      return { source: { project, group: null, place } }
    },
  }
}
