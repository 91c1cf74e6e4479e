import type { GroupAbility, ProjectAbility } from '../access/abilities.ts'
import { onKindOfSource, type SourceKind } from '../access/sources.ts'
import type { Access, Group, Project } from '../access/subjects.ts'

/** Where labels, milestones and boards are: in a project, whose groups' count too, or in a group. */
export interface Place {
  readonly projectId?: number | undefined
  /** The group itself, or the project's namespace. */
  readonly namespaceId: number
}

/** A project or group that labels, milestones or boards belong to. */
export interface PlanningSource {
  readonly project: Project | null
  readonly group: Group | null
  readonly place: Place
}

interface Options {
  readonly signedIn?: boolean
}

/** The project or group named by `:id`, for callers with an ability that both know. */
export function onSource(
  kind: SourceKind,
  ability: ProjectAbility & GroupAbility,
  options: Options = {},
): Access<{ source: PlanningSource }> {
  const group = (group: Group) => ({ project: null, group, place: { namespaceId: group.id } })
  return onKindOfSource<PlanningSource>(kind, ability, { project: sourceOf, group }, options)
}

/** A project as the place of its labels and milestones. */
export function sourceOf(project: Project): PlanningSource {
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  return { project, group: null, place }
}
