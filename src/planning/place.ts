import type { Source } from '../access/sources.ts'
import type { Project } from '../access/subjects.ts'

/** Where labels, milestones and boards are: in a project, whose groups' count too, or in a group. */
export interface Place {
  readonly projectId?: number | undefined
  /** The group itself, or the project's namespace. */
  readonly namespaceId: number
}

/** A project as the place of its labels and milestones. */
export function placeOfProject(project: Pick<Project, 'id' | 'namespace_id'>) {
  return { projectId: project.id, namespaceId: project.namespace_id }
}

/** A project or group as the place of its labels, milestones and boards. */
export function placeOf(source: Source): Place {
  return source.type === 'project' ? placeOfProject(source) : { namespaceId: source.id }
}

/** The columns that say where something new belongs. */
export function ownerIn({ projectId, namespaceId }: Place) {
  return projectId === undefined
    ? { project_id: null, group_id: namespaceId }
    : { project_id: projectId, group_id: null }
}
